/**
 * From informers to reconciles: caches first, then the lead, then keys through a queue in which news overtakes
 * lists. controller-runtime: pkg/builder; client-go: the sample controller.
 */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { ReconcilingController } from './reconciling-controller.ts';

/**
 * A controller: it watches, and calls `reconcile` with the key of each object that may not be as it should be.
 *
 * Nothing happens before `start()`. The first reconcile comes when the caches of all sources are whole and, with
 * an election, when it leads. A key waits once however often it is woken, is never worked on twice at once, and
 * after a failure comes again, later each time. What the first list and resyncs bring waits behind what is news.
 * A reconcile that throws is an outcome and ends nothing. The informers belong to who made them: the controller
 * holds them while it runs.
 *
 * ```text
 * for      ──a──b──────a──────      a, b: keys
 * owns     ─────────b─────────
 * reconcile  [a ] [b ][b][a]        b was woken twice, of which once while it was worked on
 * outcomes$  ───ok──ok─ok─ok
 * ```
 *
 * Throws a `TypeError` when `concurrency` is under 1 or `maxRetries` under 0, and on periods of the election that
 * contradict each other.
 *
 * controller-runtime: builder.ControllerManagedBy; not client-go's `cache.Controller`, which is our reflector
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
  return new ReconcilingController<T>(options as unknown as ControllerOptions<T>);
}
