/**
 * Creates a controller, which fills its caches, waits for the lead, and then reconciles keys from a priority queue.
 * controller-runtime: pkg/builder; client-go: sample-controller.
 */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { ReconcilingController } from './reconciling-controller.ts';

/**
 * Creates a controller: it watches objects and calls `reconcile` with the key of each object whose state may differ from the
 * desired state.
 *
 * Nothing happens before `start()`. The first reconcile runs when the caches of all sources are complete and, with an election,
 * this process leads. A key waits once however often it is queued, is never processed twice at the same time, and is retried with
 * increasing waits after a failure. Keys from the initial list and from resyncs wait behind keys from later changes. A reconcile
 * that throws is an outcome and ends nothing. The informers stay with their owner: the controller subscribes to them while it runs.
 *
 * ```text
 * for      ──a──b──────a──────      a, b: keys
 * owns     ─────────b─────────
 * reconcile  [a ] [b ][b][a]        b was queued twice, the second time while it was processed
 * outcomes$  ───ok──ok─ok─ok
 * ```
 *
 * Throws a `TypeError` if `concurrency` is under 1, `maxRetries` is under 0, or the periods of the election contradict each
 * other.
 *
 * controller-runtime: builder.ControllerManagedBy; not client-go's `cache.Controller`, which is the reflector here
 *
 * @example
 * ```ts
 * import { createClient, createController, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const seen: string[] = [];
 * const controller = createController({
 *   name: 'pods',
 *   for: informer,
 *   reconcile: (_key, { object, reasons }) => {
 *     seen.push(`${object?.metadata?.name} because of ${reasons.join()}`);
 *   },
 * });
 * controller.start();
 * await controller.whenReady({ timeoutMs: 5_000 });
 * await controller.stop();
 * await informer.stop();
 * seen; // => ['web-0 because of for:added']
 * ```
 */
export function createController<
  T extends KubernetesObject,
  O extends readonly KubernetesObject[] = readonly KubernetesObject[],
  W extends readonly KubernetesObject[] = readonly KubernetesObject[],
>(options: ControllerOptions<T, O, W>): Controller {
  return new ReconcilingController<T>(options as ControllerOptions<T>);
}
