/** Subscribers that are late, unsubscribe, throw, or are re-entrant. */

import { config, take, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { reportSubscriberErrors } from '../../lib/informer/handlers/report-subscriber-errors.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../support/brief.ts';
import { eventually } from '../support/patience.ts';
import { added, deleted, modified, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

function synced(...objects: ReturnType<typeof pod>[]) {
  const errors: unknown[] = [];
  const contexts: unknown[] = [];
  const { source, informer } = scriptedInformer({
    name: 'pods',
    onUnhandledError: (error, context) => {
      errors.push(error);
      contexts.push(context);
    },
  });
  source.listed(1, ...objects);
  informer.start();
  return { source, informer, errors, contexts };
}

describe('isolation', () => {
  it.each([
    ['random', { random: () => Number.NaN }, /^what random returned is NaN; it must be a number/],
    ['backoff', { backoff: () => -1 }, /^what the backoff returned is -1; it must be 0 or more/],
  ])(
    'X4: onUnhandledError of an informer receives what is wrong with its %s',
    async (name, options, expected) => {
      const time = new VirtualTime();
      const elsewhere: unknown[] = [];
      config.onUnhandledError = (error) => elsewhere.push(error);
      const reported: [string, string, string][] = [];
      const { source, informer } = scriptedInformer({
        ...{ name: 'pods', scheduler: time, ...options },
        onUnhandledError: (error, context) =>
          reported.push([context.informer, context.subscriber, (error as Error).message]),
      });
      informer.start();
      source.failList(new Error('down'));
      await time.advance(10_000);
      config.onUnhandledError = null;
      expect(reported[0]).toEqual(['pods', name, expect.stringMatching(expected)]);
      // The default wait is used.
      expect(source.asked).toEqual(['L0', 'L0']);
      expect(elsewhere).toEqual([]);
      await informer.stop();
    },
  );

  it('I3: an error of the stream is reported by rxjs if a subscriber has no error callback', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const failing = reportSubscriberErrors<number>(
      throwError(() => new Error('a defect')),
      () => undefined,
    );
    failing.subscribe({ next: () => undefined });
    failing.subscribe({ next: () => undefined, complete: () => undefined });
    const received: unknown[] = [];
    failing.subscribe({ next: () => undefined, error: (error) => received.push(error) });
    await eventually(() => expect([reported.length, received.length]).toEqual([2, 1]));
    config.onUnhandledError = null;
  });
});

describe('subscribers', () => {
  it('I1: a late subscriber receives the state as one reset set, then all later changes', () => {
    const { source, informer } = synced(pod('web', 1));
    source.send(modified(pod('web', 2)));
    const seen: string[] = [];
    informer.changes$.subscribe((set) => seen.push(brief(set)));
    source.send(added(pod('db', 3)));
    expect(seen).toEqual(['snapshot*! +web@2', 'watch* +db@3']);
  });

  it('I3, I1: a subscriber that takes only the snapshot starts no run', () => {
    const { source, informer } = scriptedInformer({ lingerMs: 0 });
    informer.changes$.pipe(take(1)).subscribe();
    expect(informer.status.phase).toBe('idle');
    expect(source.open).toBe(0);
  });

  it('I3: a subscriber may pass its callbacks one by one', async () => {
    const { informer } = synced(pod('a', 1));
    const received: unknown[] = [];
    const next = () => received.push('next');
    const complete = () => received.push('complete');
    // rxjs deprecates this form and still supports it.
    informer.status$.subscribe(next);
    informer.changes$.subscribe(undefined, undefined, complete);
    informer.snapshot$.subscribe(null, null, complete);
    await informer.stop();
    expect(received).toEqual(['next', 'next', 'complete', 'complete']);
    const failing = reportSubscriberErrors<number>(
      throwError(() => 'a defect'),
      () => undefined,
    );
    failing.subscribe(undefined, (error) => received.push(error));
    expect(received.at(-1)).toBe('a defect');
  });

  it('I3: a subscriber that throws is reported with its name and the key, and the others continue', () => {
    const { source, informer, errors, contexts } = synced();
    const seen: string[] = [];
    informer.changes$.subscribe(function paintTable(set) {
      if (set.cause === 'watch') throw new Error('boom');
    });
    informer.changes$.subscribe((set) => seen.push(brief(set)));
    source.send(added(pod('web', 2)));
    source.send(modified(pod('web', 3)));
    expect(seen).toEqual(['snapshot*!', 'watch* +web@2', 'watch* ~web@2>3']);
    expect(errors).toHaveLength(2);
    expect(contexts[0]).toEqual({ informer: 'pods', subscriber: 'paintTable', key: 'shop/web' });
  });

  it('I3: an onUnhandledError that throws does not stop the delivery', async () => {
    const { config } = await import('rxjs');
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const { source, informer } = scriptedInformer({
      onUnhandledError: () => {
        throw new Error('worse');
      },
    });
    source.listed(1);
    const names: string[] = [];
    informer.added$.subscribe(() => {
      throw new Error('boom');
    });
    informer.added$.subscribe((object) => names.push(object.metadata.name));
    source.send(added(pod('web', 2)));
    expect(names).toEqual(['web']);
    await informer.stop();
    await eventually(() => expect(reported.map(String)).toEqual(['Error: worse']));
    config.onUnhandledError = null;
  });

  it('I1: added$ replays the store, updated$ and deleted$ do not', () => {
    const { source, informer } = synced(pod('web', 1), pod('db', 1));
    source.send(modified(pod('web', 2)), deleted(pod('db', 3)));
    const names: string[] = [];
    const updates: string[] = [];
    const deletions: string[] = [];
    informer.added$.subscribe((object) => names.push(object.metadata.name));
    informer.updated$.subscribe(({ previous, object }) =>
      updates.push(`${previous.metadata.resourceVersion}>${object.metadata.resourceVersion}`),
    );
    informer.deleted$.subscribe((deletion) => deletions.push(deletion.key));
    source.send(modified(pod('web', 4)), deleted(pod('web', 5)));
    expect(names).toEqual(['web']);
    expect(updates).toEqual(['2>4']);
    expect(deletions).toEqual(['shop/web']);
  });

  it('I1: snapshot$ emits on subscription, and then once per commit', () => {
    const { source, informer } = synced(pod('web', 1));
    const sizes: number[] = [];
    informer.snapshot$.subscribe((snapshot) => sizes.push(snapshot.size));
    source.send(added(pod('db', 2)));
    source.send(deleted(pod('db', 3)));
    expect(sizes).toEqual([1, 2, 1]);
  });
});
