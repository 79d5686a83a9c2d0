/** Run by work-queue.spec.ts as a separate process. Uses each queue once, and prints the resources that are still open. */
import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  workQueue,
} from 'rx-informer';
import { from, NEVER } from 'rxjs';

const queues = [
  createWorkQueue(),
  createDelayingQueue(),
  createRateLimitingQueue(),
  createPriorityQueue(),
];
for (const queue of queues) queue.metrics$.subscribe();
queues[0]?.add('ready');
const [, delaying, limiting, priority] = queues as ReturnType<typeof createPriorityQueue>[];
delaying?.addAfter('later', 3_600_000);
limiting?.addRateLimited('limited');
priority?.addWithOptions('ranked', { afterMs: 3_600_000, priority: 3 });
const failing = from(['a', 'b']).pipe(
  workQueue((key) =>
    key === 'a' ? { requeueAfterMs: 3_600_000 } : Promise.reject(new Error('no')),
  ),
);
const subscriptions = [
  failing.subscribe(),
  failing.subscribe(),
  NEVER.pipe(workQueue(() => {})).subscribe(),
];
await new Promise((resolve) => setImmediate(resolve));
const held = process.getActiveResourcesInfo();

for (const subscription of subscriptions) subscription.unsubscribe();
for (const queue of queues) {
  const drained = queue.shutDownWithDrain();
  for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) queue.done(key);
  await drained;
}
await new Promise((resolve) => setImmediate(resolve));
process.stdout.write(JSON.stringify({ held, left: process.getActiveResourcesInfo() }));
