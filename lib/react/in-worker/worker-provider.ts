/** `WorkerProvider`, which gives the queries of a worker to the hooks below it. */
import { createElement, type ReactElement, type ReactNode, useState } from 'react';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { carryQuery, type WorkerQuery } from '../../worker/carried-query.ts';
import { identityOf } from '../../worker/page/connect-peer.ts';
import type { WorkerCluster } from '../../worker/page/worker-cluster.ts';
import { ProvidedContext, useProviderState } from '../provider.ts';
import { ProviderState } from '../provider-state.ts';
import { ViewSource } from '../row-source.ts';
import type { AwaitedRows } from '../suspense/use-awaited.ts';
import type { Asked } from '../use-rows.ts';

/** What can be asked of a worker. */
export type AskedQuery = LiveQuery | WorkerQuery;

export class WorkerState extends ProviderState {
  readonly cluster: WorkerCluster;
  readonly #sources = new WeakMap<object, ViewSource<unknown>>();

  constructor(cluster: WorkerCluster) {
    super();
    this.cluster = cluster;
  }

  override readonly answered = (query: LiveQuery): ViewSource<unknown> => this.source(query);

  /** The source of a query: the same one for equal queries while they are used. */
  source(query: AskedQuery): ViewSource<unknown> {
    const view = this.cluster.view<unknown>(query);
    const known = this.#sources.get(view);
    if (known !== undefined) return known;
    const source: ViewSource<unknown> = new ViewSource<unknown>(view, {
      used: () => this.use(source, () => view),
      changed: () => this.changed(),
      // The view itself says how old its rows are.
      lingers: () => true,
    });
    this.#sources.set(view, source);
    return source;
  }

  /** The question that a query asks. Throws if it cannot be sent to a worker. */
  asked(hook: string, given: AskedQuery): Asked<unknown> & AwaitedRows<unknown> {
    const { query, key } = carryQuery(hook, given);
    const { from, as, select, named } = query;
    // Rows of another type do not stand in for those of the query.
    const type = JSON.stringify([from, as, select, named]);
    // Nor do rows of a user who has signed out.
    const user = identityOf(this.cluster);
    return { identity: [this, user, type, key], kept: 3, source: () => this.source(given) };
  }
}

/** The properties of {@link WorkerProvider}. */
export interface WorkerProviderProps {
  /** What `connectWorker` of `rx-informer/worker` returned. Connect outside of components, or once with `useState`. */
  readonly cluster: WorkerCluster;
  readonly children?: ReactNode;
}

/**
 * Gives the queries of a worker to the hooks of the components below. Nothing is asked before a hook asks for something.
 * Another `cluster` begins with new rows.
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react';
 * import { useList, WorkerProvider } from 'rx-informer/react/worker';
 * import { pods } from 'rx-informer/resources';
 * import { connectWorker } from 'rx-informer/worker';
 *
 * const cluster = connectWorker({
 *   identity: 'user-7',
 *   shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
 * });
 * const Count = () => `${useList(pods, { select: { name: 'metadata.name' } }).total} Pods`;
 * createElement(WorkerProvider, { cluster }, createElement(Count));
 * ```
 */
export function WorkerProvider({ cluster, children }: WorkerProviderProps): ReactElement {
  const [held, setHeld] = useState(() => new WorkerState(cluster));
  let value = held;
  if (held.cluster !== cluster) {
    value = new WorkerState(cluster);
    setHeld(value);
  }
  return createElement(ProvidedContext.Provider, { value }, children);
}

/** The nearest provider of a worker. Throws an `Error` that names the hook if there is none. */
export function useWorkerState(hook: string): WorkerState {
  const state = useProviderState(hook);
  if ('cluster' in state) return state as WorkerState;
  throw new Error(
    `${hook}: this hook of rx-informer/react/worker needs a <WorkerProvider>; below an <InformerProvider>, import the hook from rx-informer/react`,
  );
}
