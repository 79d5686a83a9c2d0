/**
 * The keyboard navigation of the table: arrows, Page Up and Down, Home and End move the active row, Enter opens it.
 */
import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useState } from 'react';
import type { PodRow } from '../pods/pod-row.ts';

interface RowKeysOptions {
  readonly rows: readonly PodRow[];
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
  readonly onSelect: (uid: string) => void;
}

/** The active row, and the handler of the keys that move it. */
export interface RowKeys {
  readonly activeIndex: number;
  readonly activeId: string | undefined;
  readonly onKeyDown: (event: KeyboardEvent<HTMLDivElement>) => void;
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Follows the active pod by its UID, so that it stays active while rows move around it. */
export function useRowKeys({ rows, virtualizer, onSelect }: RowKeysOptions): RowKeys {
  const [active, setActive] = useState<{ uid: string; index: number }>();
  let index = -1;
  if (active !== undefined) {
    const isHere = rows[active.index]?.uid === active.uid;
    index = isHere ? active.index : rows.findIndex(({ uid }) => uid === active.uid);
  }
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const row = rows[index];
    if (event.key === 'Enter' && row !== undefined) {
      event.preventDefault();
      onSelect(row.uid);
      return;
    }
    const step = steps[event.key];
    if (step === undefined || rows.length === 0) return;
    event.preventDefault();
    const to = Math.min(rows.length - 1, Math.max(0, index + step));
    const target = rows[to];
    if (target === undefined) return;
    setActive({ uid: target.uid, index: to });
    virtualizer.scrollToIndex(to);
  };
  return {
    activeIndex: index,
    activeId: index === -1 ? undefined : `pod-${rows[index]?.uid}`,
    onKeyDown,
  };
}
