/**
 * The informer of the page. It lists and watches all pods over `fetch`; changes are folded per pod and shown five
 * times per second.
 */

import {
  atMostEvery,
  conflateByKey,
  createClient,
  createListWatch,
  createSharedInformer,
  toView,
  type View,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { PodList } from '../pods/pod-list.ts';

/** The shortest time between two renderings, in milliseconds, so that time is left for input. */
const PAINT_EVERY_MS = 200;

const client = createClient({ baseUrl: window.location.origin });

/** The embedded cluster sends a bookmark every two seconds, a real one every minute. */
const isEmbedded = document.querySelector('meta[name="cluster"][content="embedded"]') !== null;

/** The period of the audit, in milliseconds: an event that was lost without an error is found within this time. */
const AUDIT_PERIOD_MS = 600_000;

/** Lists and watches all pods while it has subscribers. */
export const informer = createSharedInformer(createListWatch(client, pods), {
  audit: { periodMs: AUDIT_PERIOD_MS },
  ...(isEmbedded ? { idleTimeoutMs: 6000, requestTimeoutMs: 6000 } : {}),
});

/** The list behind the table. */
export const podList = new PodList({ key: 'name', descending: false });

/** Complete pods by UID, for the details of one pod. */
export const podsByUid: View<Pod> = informer.changes$.pipe(
  conflateByKey({ ready: atMostEvery(PAINT_EVERY_MS) }),
  toView(),
);

/** Starts to watch. The returned function stops it. */
export function startLivePods(): () => void {
  const subscription = informer.changes$
    .pipe(conflateByKey({ ready: atMostEvery(PAINT_EVERY_MS) }))
    .subscribe((set) => podList.apply(set));
  // Always subscribed, so that the details of a pod open with its data.
  subscription.add(podsByUid.subscribe(() => undefined));
  return () => subscription.unsubscribe();
}
