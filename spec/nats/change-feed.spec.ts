/** Tests when a publisher may compare its informer with the bucket. */
import type { InformerStatus, SharedInformer } from 'rx-informer';
import { NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ChangeFeed } from '../../lib/nats/publish/change-feed.ts';

function feedOf(status: Partial<InformerStatus>) {
  const status$ = new Subject<unknown>();
  let woken = 0;
  const informer = { status, status$, synced$: NEVER, changes$: NEVER, start: () => undefined };
  const feed = new ChangeFeed(informer as unknown as SharedInformer<object>, () => woken++);
  return { feed, status$, woken: () => woken };
}

describe('the informer of a publisher', () => {
  it.each([
    ['is live', true, { live: true }],
    ['is behind a proxy that holds events back', true, { live: false, heldBack: {} }],
    ['cannot reach the API server', false, { live: false }],
  ])('J8: %s, and its publisher may compare it: %s', (_, mayCompare, status) => {
    expect(feedOf(status as Partial<InformerStatus>).feed.isFollowing).toBe(mayCompare);
  });

  it('J8: wakes its publisher when it is live again, although nothing has changed', () => {
    const { feed, status$, woken } = feedOf({ live: false });
    const work = feed.start();
    const before = woken();
    status$.next({ live: true });
    expect(woken()).toBe(before + 1);
    work.unsubscribe();
    expect(status$.observed).toBe(false);
  });
});
