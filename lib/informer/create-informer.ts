/**
 * An informer with one handler: the same stages as a shared informer, without subscribers that join or leave.
 * client-go: tools/cache/controller.go, NewIndexerInformer and NewInformerWithOptions.
 */
import type { Observable } from 'rxjs';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { IndexerReader } from '../store/indexer.ts';
import { sharedInformerOf } from './create-shared-informer.ts';
import { registerHandler } from './handlers/add-event-handler.ts';
import type { DeliveryPolicy } from './handlers/deliver.ts';
import type { ResourceEventHandler } from './handlers/event-handler.ts';
import { InformerLifecycle } from './lifecycle.ts';
import type { InformerOptions } from './options.ts';
import { withPort } from './part.ts';
import type { InformerStatus } from './status/status.ts';
import type { SyncWaitOptions } from './waits.ts';

/** The options of {@link createInformer}. */
export interface UnsharedInformerOptions<T> extends InformerOptions<T> {
  /** How changes are queued, and how many, while the handler is busy. @defaultValue { kind: 'conflate' } */
  readonly delivery?: DeliveryPolicy<T> | undefined;
}

/** A live, indexed copy of a collection with one handler. Create it with {@link createInformer}. */
export interface Informer<T extends KubernetesObject> {
  readonly name: string;
  /** The store, read-only. */
  readonly indexer: IndexerReader<T>;
  /** Emits the status on subscription, then each transition, also of later runs. Never errors. */
  readonly status$: Observable<InformerStatus>;
  /** The current status. */
  readonly status: InformerStatus;
  /** Whether the store is synced, and the handler has returned (its promises have settled) for the first list. */
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** How many changes wait for the handler. */
  readonly lag: number;
  /**
   * Begins a run, unless one is in progress. After a stop, the first list of the new run reports the difference to the
   * handler.
   */
  start(): void;
  /** Ends the run like `SharedInformer.stop`. */
  stop(): Promise<void>;
  /** Lists again like `SharedInformer.refresh`. */
  refresh(): Promise<void>;
  /**
   * Resolves when `hasSynced` is true. Rejects with the last cause when `timeoutMs` has passed, and with reason
   * `Stopped` when the informer is stopped or was stopped before. Rejects immediately with the cause while the server
   * refuses the first list (`status.blocked`), unless `whileBlocked` is `'wait'`.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
}

/**
 * Creates an informer over one ListerWatcher with one handler: `reflect`, `deltaFifo`, `applyDeltas`, and the handler.
 *
 * No request is sent before `start()`. The handler is called like a handler of `addEventHandler`: a
 * promise that it returns is awaited, and an error that it throws is reported. Throws a `TypeError` if a period or a
 * limit is not a valid number. client-go: NewIndexerInformer, whose informers can run only once.
 *
 * @example
 * ```ts
 * import { createClient, createInformer, createListWatch } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const keys: string[] = [];
 * const informer = createInformer(createListWatch(client, pods), {
 *   onAdd: (_pod, { key }) => keys.push(key),
 * });
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * keys; // => ['shop/web-0']
 * await informer.stop();
 * ```
 */
export function createInformer<T extends KubernetesObject>(
  listerWatcher: ListerWatcher<T>,
  handler: ResourceEventHandler<T>,
  { delivery, ...options }: UnsharedInformerOptions<T> = {},
): Informer<T> {
  // Only `start()` holds the run, so it never lingers.
  const core = new InformerLifecycle<T>(
    { listerWatchers: [listerWatcher], caller: 'createInformer' },
    { ...options, lingerMs: Number.POSITIVE_INFINITY },
  );
  const shared = sharedInformerOf(core);
  const registration = registerHandler(core, handler, { name: 'handler', delivery }, core.name);
  const { name, indexer, status$, start, refresh, stop } = shared;
  const informer: Informer<T> = {
    ...{ name, indexer, status$, start, refresh, stop },
    get status() {
      return shared.status;
    },
    get hasSynced() {
      return registration.hasSynced;
    },
    get lastSyncResourceVersion() {
      return shared.lastSyncResourceVersion;
    },
    get isStopped() {
      return shared.isStopped;
    },
    get lag() {
      return registration.lag;
    },
    whenSynced: (wait) => registration.whenSynced(wait),
  };
  return withPort(informer, core);
}
