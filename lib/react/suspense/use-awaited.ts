/** `useAwaited`, the common part of the hooks that suspend until an answer is complete. */
import * as React from 'react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ListResult } from '../row-result.ts';
import type { RowSource, ViewSource } from '../row-source.ts';
import { useRows } from '../use-rows.ts';
import { hasRenderLease, type Lingering, leaseForRender, takeOver } from './render-lease.ts';

/** Of React 19; not a named import, because bundlers refuse one that React 18 does not have. */
const use: ((waiting: PromiseLike<void>) => void) | undefined = /* @__PURE__ */ Reflect.get(
  React,
  'use',
);

/** What `use` reads once there is an answer: React 19 expects it in each render of a component that it has suspended. */
const ANSWERED = /* @__PURE__ */ Object.assign(/* @__PURE__ */ Promise.resolve(), {
  status: 'fulfilled',
});

const never = () => () => undefined;
const onPage = () => false;
const onServer = () => true;

/** What a hook awaits. */
export interface AwaitedRows<Row> {
  /** Equal elements: the same question, with the same source. The last one names the question. */
  readonly identity: readonly unknown[];
  source(): ViewSource<Row>;
  /** Absent: a worker answers. */
  readonly informers?: Lingering;
  /** Called in each render that waits. */
  onWait?(): void;
}

/** The source, whose first listener takes over the lease of the render. */
function leased<Row>(source: ViewSource<Row>): RowSource<Row> {
  const subscribe = (listener: () => void): (() => void) => {
    const leave = source.subscribe(listener);
    takeOver(source);
    return leave;
  };
  return { subscribe, getSnapshot: source.getSnapshot };
}

/** Why a worker has no first answer: it refuses the query, or nobody is signed in. */
function refusalOf({ rows, status, error }: ListResult<unknown>): Error | undefined {
  return rows.length === 0 && status.phase === 'stopped' ? error : undefined;
}

/** The rows of what is awaited, once they are there. */
export function useAwaited<Row>(awaited: AwaitedRows<Row>): ListResult<Row> {
  const { identity, informers } = awaited;
  const isServer = useSyncExternalStore(never, onPage, onServer);
  const question = identity.at(-1);
  const [shown] = useState<{ question?: unknown }>({});
  useEffect(() => {
    shown.question = question;
  }, [shown, question]);
  const source = () => leased(awaited.source());
  // The rows of a former query never stand: React shows them until the next answer, if the change is a transition.
  const asked = { identity, kept: identity.length, source };
  const result = useRows(isServer ? undefined : asked);
  const refusal =
    informers === undefined && shown.question !== question ? refusalOf(result) : undefined;
  // A stopped informer is not requested again by a component that shows its rows.
  if (isServer || result.synced || (result.stale && refusal === undefined)) {
    use?.(ANSWERED);
    return result;
  }
  const error = result.error ?? refusal;
  const waiting = awaited.source();
  if (error !== undefined && hasRenderLease(waiting)) throw error;
  awaited.onWait?.();
  const lease = leaseForRender(waiting, informers);
  // Of several components that throw promises, React 19 renders one after the other until an answer comes, without a pause.
  use?.(lease);
  throw lease;
}
