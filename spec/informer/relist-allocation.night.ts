/** The memory that a relist of unchanged objects allocates after the decoder. */
import { Session } from 'node:inspector/promises';
import {
  createSharedInformer,
  type ListerWatcher,
  type ListRequest,
  type WatchEvent,
  type WatchSignal,
} from 'rx-informer';
import { EMPTY, Observable, type Subscriber } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';

const COUNT = 20_000;
const BATCH = 200;
const MAX_BYTES = 200;

interface Node {
  readonly selfSize: number;
  readonly children: readonly Node[];
}

function sizeOf({ selfSize, children }: Node): number {
  return children.reduce((size, child) => size + sizeOf(child), selfSize);
}

/** How many bytes `work` allocates, also those that are collected meanwhile. */
async function allocated(work: () => Promise<void> | void): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 2_048,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  return sizeOf(profile.head);
}

describe('a relist of unchanged objects', () => {
  it('S29: allocates at most 200 bytes per object after the decoder, and notifies nobody', async () => {
    const watches: Subscriber<WatchSignal<Pod>>[] = [];
    const listerWatcher: ListerWatcher<Pod> = {
      list: (_request: ListRequest<Pod>) => EMPTY,
      watch: () =>
        new Observable((subscriber) => {
          watches.push(subscriber);
          subscriber.next({ kind: 'opened' });
        }),
    };
    const informer = createSharedInformer(listerWatcher);
    const objects = Array.from({ length: COUNT }, (_, at) => pod(`d/p${at}`, at + 1));
    /** Batches as a decoder emits them, which creates the events and their keys. */
    const batches = () => {
      const events = objects.map(
        (object): WatchEvent<Pod> => ({
          type: 'ADDED',
          key: `d/${object.metadata.name}`,
          object,
        }),
      );
      const parts: WatchSignal<Pod>[] = [];
      for (let at = 0; at < COUNT; at += BATCH) {
        parts.push({ kind: 'events', events: events.slice(at, at + BATCH) });
      }
      const resourceVersion = String(COUNT);
      const end = { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true } as const;
      parts.push({ kind: 'events', events: [end] });
      return parts;
    };
    informer.start();
    for (const part of batches()) watches.at(-1)?.next(part);
    const { rev } = informer.indexer;
    const sets: number[] = [];
    informer.changes$.subscribe((set) => sets.push(set.changes.length));

    const refreshed = informer.refresh();
    const parts = batches();
    const bytes = await allocated(() => {
      for (const part of parts) watches.at(-1)?.next(part);
    });
    await refreshed;
    expect(watches.length).toBe(2);
    expect(bytes / COUNT).toBeLessThanOrEqual(MAX_BYTES);
    expect([sets, informer.indexer.rev]).toEqual([[COUNT], rev]);
    await informer.stop();
  });
});
