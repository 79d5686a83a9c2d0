/** `useRows`, the common part of the hooks that return rows. */
import { useState, useSyncExternalStore } from 'react';
import { type ListResult, NO_RESULT } from './row-result.ts';
import { type RowSource, SKIPPED, SucceedingSource } from './row-source.ts';

const noResult = () => NO_RESULT;

interface Held<Row> {
  readonly identity: readonly unknown[];
  readonly source: RowSource<Row>;
}

/** What a hook asks for. */
export interface Asked<Row> {
  /** Equal elements: the same question, with the same source. */
  readonly identity: readonly unknown[];
  /** The first `kept` elements of the identity must be equal so that the former rows may stand. */
  readonly kept: number;
  source(): RowSource<Row>;
}

function agree(one: readonly unknown[], other: readonly unknown[], count: number): boolean {
  for (let at = 0; at < count; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** A former answer must be read before its source is left. */
function succeed<Row>(held: Held<Row>, asked: Asked<Row>): Held<Row> {
  const { identity, kept } = asked;
  const source = asked.source();
  const former = agree(held.identity, identity, kept) ? held.source.getSnapshot() : NO_RESULT;
  const stands = former.synced || former.stale || former.rows.length > 0;
  return { identity, source: stands ? new SucceedingSource<Row>(source, former) : source };
}

/** The rows of what is asked for; `undefined` asks for nothing. */
export function useRows<Row>(asked: Asked<Row> | undefined): ListResult<Row> {
  const identity = asked?.identity ?? [];
  const begin = (): Held<Row> => ({ identity, source: asked?.source() ?? SKIPPED });
  const [held, setHeld] = useState(begin);
  let now = held;
  const isSame =
    held.identity.length === identity.length && agree(held.identity, identity, identity.length);
  if (!isSame) {
    now = asked === undefined ? begin() : succeed(held, asked);
    // During the render, so that no render shows the former question.
    setHeld(now);
  }
  const { subscribe, getSnapshot } = now.source;
  return useSyncExternalStore(subscribe, getSnapshot, noResult);
}
