/** Holds the order of the rows while the pointer is over them or the keyboard moves over them. */
import { type PointerEvent, type RefObject, useEffect, useMemo, useRef } from 'react';
import { useTableQueries } from './use-table.tsx';

/** After this time without a movement, in milliseconds, nobody is about to click, and the rows take their places. */
const REST_MS = 30_000;

export function useHold(grid: RefObject<HTMLElement | null>, activeRow: string | undefined) {
  const { queries } = useTableQueries();
  const isOver = useRef(false);
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  const hasActiveRow = useRef(false);
  hasActiveRow.current = activeRow !== undefined;
  useEffect(() => () => clearTimeout(rest.current), []);
  const handlers = useMemo(() => {
    const hasFocus = () => hasActiveRow.current && document.activeElement === grid.current;
    const release = () => {
      clearTimeout(rest.current);
      queries.release();
    };
    const hold = () => {
      queries.hold();
      clearTimeout(rest.current);
      rest.current = setTimeout(release, REST_MS);
    };
    return {
      onPointerMove({ pointerType }: PointerEvent) {
        // A finger does not point at a row before it touches it.
        if (pointerType === 'touch') return;
        isOver.current = true;
        hold();
      },
      onPointerLeave() {
        isOver.current = false;
        if (!hasFocus()) release();
      },
      onFocus() {
        if (hasFocus()) hold();
      },
      onBlur() {
        if (!isOver.current) release();
      },
    };
  }, [queries, grid]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another active row is a movement of the keyboard
  useEffect(() => handlers.onFocus(), [handlers, activeRow]);
  return handlers;
}
