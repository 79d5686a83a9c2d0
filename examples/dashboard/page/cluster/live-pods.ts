/**
 * The one informer of the page. Everything that is shown comes from here: it lists and watches all pods over
 * `fetch`, and hands on what changed, folded per pod, a few times a second.
 */

import {
  conflateByKey,
  createClient,
  createListWatch,
  createSharedInformer,
  type Demand,
  toView,
  type View,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { timer } from 'rxjs';
import { PodList } from '../pods/pod-list.ts';

/** How often the screen changes at most: often enough to feel live, seldom enough to leave time for input. */
const PAINT_EVERY_MS = 200;

/** Room once every `periodMs`; what comes in between is folded per key. */
function atMostEvery(periodMs: number): Demand {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const left = last + periodMs - performance.now();
    if (left > 0) return timer(left);
    last = performance.now();
    return null;
  };
}

const client = createClient({ baseUrl: window.location.origin });

/** The embedded cluster sends a bookmark every two seconds; a real one every minute. */
const isEmbedded = document.querySelector('meta[name="cluster"][content="embedded"]') !== null;

/** Compares what is shown with the server: an event that was lost without an error is found within this time. */
const AUDIT_PERIOD_MS = 600_000;

/** Lists and watches all pods while somebody looks. */
export const informer = createSharedInformer(createListWatch(client, pods), {
  audit: { periodMs: AUDIT_PERIOD_MS },
  ...(isEmbedded ? { idleTimeoutMs: 6000, requestTimeoutMs: 6000 } : {}),
});

/** What the table shows. */
export const podList = new PodList({ key: 'name', descending: false });

/** Whole pods by UID, for the details of one. */
export const podsByUid: View<Pod> = informer.changes$.pipe(
  conflateByKey({ ready: atMostEvery(PAINT_EVERY_MS) }),
  toView(),
);

/** Begins to watch; the answer ends it. */
export function startLivePods(): () => void {
  const subscription = informer.changes$
    .pipe(conflateByKey({ ready: atMostEvery(PAINT_EVERY_MS) }))
    .subscribe((set) => podList.apply(set));
  // Held all the time, so that details open with the pod at hand.
  subscription.add(podsByUid.subscribe(() => undefined));
  return () => subscription.unsubscribe();
}
