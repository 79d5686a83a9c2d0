/**
 * The keyboard navigation of the table: arrows, Page Up and Down, Home and End move the active row, Enter opens it.
 */
import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useState } from 'react';
import { podQueries } from '../cluster/live-pods.ts';
import type { PodRow } from '../pods/pod-row.ts';

interface RowKeysOptions {
  /** The rendered rows. */
  readonly rows: readonly PodRow[];
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
  readonly onSelect: (uid: string) => void;
}

/** The active row, and the handler of the keys that move it. */
export interface RowKeys {
  /** The UID of the active row. */
  readonly active: string | undefined;
  /** The id of its element; `undefined` while it is not rendered. */
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
  const [active, setActive] = useState<string>();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const order = podQueries.order$.value;
    if (event.target !== event.currentTarget || order === undefined) return;
    const index = active === undefined ? -1 : order.indexOf(active);
    if (event.key === 'Enter' && active !== undefined && index !== -1) {
      event.preventDefault();
      onSelect(active);
      return;
    }
    const step = steps[event.key];
    if (step === undefined || order.size === 0) return;
    event.preventDefault();
    const to = Math.min(order.size - 1, Math.max(0, index + step));
    setActive(order.idAt(to));
    virtualizer.scrollToIndex(to);
  };
  const isRendered = rows.some(({ uid }) => uid === active);
  return { active, activeId: isRendered ? `pod-${active}` : undefined, onKeyDown };
}
