import type { SharedInformer } from 'rx-informer';
import { asyncScheduler, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { catchUp } from '../../lib/nats/publish/catch-up.ts';
import type { Contents } from '../../lib/nats/publish/contents.ts';

const empty: Contents = {
  objects: [],
  tombstones: [],
  records: new Map(),
  meta: undefined,
  last: 0,
};
const meta = {
  ...{ epoch: 'e1', terms: [{ writer: 'w1', after: 0 }], resourceVersion: '20', count: 0 },
  ...{ digest: '', horizon: 0, heartbeatMs: 1_000, apiVersion: 'v1', kind: 'Pod' },
};

/** An informer whose lists bring it to a version, or fail. */
function informerAt(version: string, lists: readonly (string | Error)[]) {
  const left = [...lists];
  const informer = {
    lastSyncResourceVersion: version,
    asked: 0,
    async refresh() {
      informer.asked++;
      const next = left.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error('no more lists');
      informer.lastSyncResourceVersion = next;
    },
  };
  return informer;
}

async function waited(
  informer: object,
  contents: Contents,
  isOver = () => false,
  woken$ = new Subject<void>(),
) {
  let isDone = false;
  const done = catchUp(informer as SharedInformer<object>, contents, {
    ...{ scheduler: asyncScheduler, isOver, woken$, onWait: () => undefined },
  }).then(() => {
    isDone = true;
  });
  for (let ms = 0; ms <= 20_000; ms += 100) {
    await vi.advanceTimersByTimeAsync(0);
    if (isDone) return ms;
    await vi.advanceTimersByTimeAsync(100);
  }
  void done;
  return 'for ever';
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a publisher that begins', () => {
  it('J5: does not wait for an informer that has what the bucket has', async () => {
    const informer = informerAt('20', []);
    expect(await waited(informer, { ...empty, meta })).toBe(0);
    expect(informer.asked).toBe(0);
  });

  it('J5: lists once if a used bucket has no record, because it was purged and does not say how far it was', async () => {
    const informer = informerAt('30', ['31']);
    expect(await waited(informer, empty)).toBe(0);
    expect(informer.asked).toBe(0);
    expect(await waited(informer, { ...empty, last: 7 })).toBe(0);
    expect(informer.asked).toBe(1);
  });

  it('J5: takes a version that is behind even after a list for another history, and waits while no list succeeds', async () => {
    const away = new Error('the API server does not answer');
    const informer = informerAt('10', [away, away, '11']);
    expect(await waited(informer, { ...empty, meta })).toBe(2_000);
    expect(informer.asked).toBe(3);
    expect(await waited(informerAt('10', []), { ...empty, meta })).toBe('for ever');
  });

  it('J5: ends the wait when it is stopped', async () => {
    expect(await waited(informerAt('10', []), { ...empty, meta }, () => true)).toBe(0);
  });

  it('J5: ends the wait when it is stopped while the API server hangs, and not when it is woken', async () => {
    const hanging = { lastSyncResourceVersion: '10', refresh: () => new Promise(() => undefined) };
    const woken$ = new Subject<void>();
    let isStopped = false;
    setTimeout(() => woken$.next(), 3_000);
    setTimeout(() => {
      isStopped = true;
      woken$.next();
    }, 5_000);
    expect(await waited(hanging, { ...empty, meta }, () => isStopped, woken$)).toBe(5_000);
  });
});
