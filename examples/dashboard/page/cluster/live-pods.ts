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
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { PodQueries } from '../pods/pod-queries.ts';

/** The shortest time between two renderings of changed pods, in milliseconds, so that time is left for input. */
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

/**
 * The queries of the page. They are paced before them and not in their views, so that all views show the same moment,
 * and a filter, a sort order or a scroll position takes effect immediately.
 */
export const podQueries = new PodQueries(
  informer.changes$.pipe(conflateByKey({ ready: atMostEvery(PAINT_EVERY_MS) })),
);
