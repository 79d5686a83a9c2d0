/**
 * The keyboard navigation of the table: arrows, Page Up and Down, Home and End move the active row, Enter opens it, and in
 * a tree Right and Left show and hide its children.
 */
import type { Virtualizer } from '@tanstack/react-virtual';
import {
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Row } from '../kinds/kind.ts';
import { toggle } from '../kinds/tree.ts';
import { idOf, type ShownOrder } from './held-order.ts';

interface RowKeysOptions {
  readonly order: ShownOrder | undefined;
  readonly rows: readonly Row[];
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly open: (row: Row) => void;
  /** Marks a row, if rows can be marked. */
  readonly mark: ((row: Row) => void) | undefined;
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Follows the active row by its id, so that it stays active, and on screen, while rows move around it. */
export function useRowKeys(options: RowKeysOptions) {
  const { order, rows, virtualizer, scroller, open, mark } = options;
  const [activeRow, setActive] = useState<string>();
  const index = activeRow === undefined ? -1 : (order?.indexOf(activeRow) ?? -1);
  const latest = useRef(open);
  latest.current = open;

  // If the active row is on screen and rows before it come or go, the view moves with it.
  const before = useRef(index);
  useLayoutEffect(() => {
    const moved = index - before.current;
    const { scrollElement, options } = virtualizer;
    const height = options.estimateSize(0);
    const top = before.current * height - (scrollElement?.scrollTop ?? 0);
    const wasVisible = top >= 0 && top < (scrollElement?.clientHeight ?? 0);
    if (before.current !== -1 && index !== -1 && moved !== 0 && wasVisible && !isMoving.current) {
      scroller.current?.scrollBy({ top: moved * height });
    }
    isMoving.current = false;
    before.current = index;
  }, [index, virtualizer, scroller]);
  /** Whether the user has moved the active row, rather than the cluster. */
  const isMoving = useRef(false);

  const [hasKeyboard, setKeyboard] = useState(false);
  const onFocus = ({ target, currentTarget }: FocusEvent<HTMLDivElement>) =>
    setKeyboard(target === currentTarget && target.matches(':focus-visible'));
  // The rows may come later than the keyboard, and the next key at once.
  const firstRow = hasKeyboard && activeRow === undefined ? order?.idAt(0) : undefined;
  useLayoutEffect(() => {
    if (firstRow !== undefined) setActive(firstRow);
  }, [firstRow]);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget || order === undefined) return;
    const row = order.at(index);
    const step = steps[event.key];
    if (event.key === 'Enter' && row !== undefined) open(row);
    else if (event.key === ' ' && row !== undefined && mark !== undefined) mark(row);
    else if (event.key === 'ArrowRight' && row?.['branch'] === 'closed') toggle(row.uid, true);
    else if (event.key === 'ArrowLeft' && row?.['branch'] === 'open') toggle(row.uid, false);
    else if (step !== undefined && order.size > 0) {
      const to = Math.min(order.size - 1, Math.max(0, index + step));
      isMoving.current = true;
      setActive(order.idAt(to));
      virtualizer.scrollToIndex(to);
    } else return;
    event.preventDefault();
  };
  const onSelect = useCallback((row: Row) => {
    isMoving.current = true;
    setActive(idOf(row));
    latest.current(row);
  }, []);
  const active = order?.at(index)?.uid;
  // The active row is named only while it is rendered.
  const isRendered = rows.some(({ uid }) => uid === active);
  const activeId = isRendered ? `row-${active}` : undefined;
  return { active, activeId, onFocus, onKeyDown, onSelect };
}
