/** Lifecycle calls made in callbacks: each call takes effect after the callback, in the order of the calls. */
import { addEventHandler, createSharedInformer, type InformerPhase } from 'rx-informer';
import { marbles } from 'rx-informer/testing';

import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../support/brief.ts';
import {
  modified,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

function running(options: { lingerMs?: number } = {}) {
  const { source, informer } = scriptedInformer(options);
  source.listed(1, pod('web', 1));
  return { source, informer };
}

describe('stop, start and other calls in one callback', () => {
  it('I16: a failure of the old run does not appear in the status of the new one', async () => {
    const [a, b] = [scriptedListWatch('a'), scriptedListWatch('b')];
    const informer = createSharedInformer([a, b]);
    a.listed(1, pod('web', 1, 'web', 'a'));
    b.listed(1);
    const phases: InformerPhase[] = [];
    addEventHandler(informer, {
      onUpdate: () => {
        void informer.stop();
        informer.start();
        informer.status$.subscribe(({ phase }) => phases.push(phase));
        // The old run has not ended yet, because the stop waits for its turn in the drain.
        b.fail(new Error('the connection was lost'));
      },
    });
    informer.start();
    a.send(modified(pod('web', 2, 'web', 'a')));
    expect([...new Set(phases)]).toEqual(['watching', 'stopped', 'listing']);
    await informer.stop();
  });
});

describe('the first value of a stream', () => {
  it('I16: status$ emits a transition that its first value caused', () => {
    const { informer } = running();
    const phases: InformerPhase[] = [];
    informer.status$.subscribe(({ phase }) => {
      phases.push(phase);
      if (phase === 'idle') informer.start();
    });
    expect([...new Set(phases)]).toEqual(['idle', 'listing', 'connecting', 'watching']);
    void informer.stop();
  });
});

describe('an informer that does not run', () => {
  it('I5: a stopped informer is not synced', async () => {
    const { source, informer } = running();
    informer.start();
    const states: boolean[] = [];
    informer.synced$.subscribe((synced) => states.push(synced));
    await informer.stop();
    expect([informer.hasSynced, informer.status.synced, states]).toEqual([
      false,
      false,
      [true, false],
    ]);
    const seen: string[] = [];
    source.listed(3, pod('db', 3));
    informer.changes$.subscribe((set) => seen.push(brief(set)));
    expect(seen).toEqual(['snapshot! +web@1', 'initial* -web@1? +db@3']);
  });

  it('I9: whenSynced rejects when the informer goes idle or is stopped, and while it is stopped', async () => {
    const scheduler = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler, lingerMs: 10, name: 'pods' });
    const reasons: string[] = [];
    const wait = () => informer.whenSynced().catch(({ message }) => reasons.push(message));
    informer.changes$.subscribe().unsubscribe();
    void wait();
    await scheduler.advance(10);
    expect(reasons.splice(0)).toEqual(['pods became idle, because it had no subscriber for 10 ms']);
    void wait();
    await scheduler.advance(10);
    expect(reasons).toEqual([]);
    void informer.stop();
    await wait();
    expect(reasons.splice(0)).toEqual(['pods was stopped', 'pods was stopped']);
    informer.start();
    const synced = informer.whenSynced();
    // The first response is for the list of the run that went idle.
    source.listed(1);
    source.listed(1);
    await synced;
  });

  it('I5, I8: removing the last handler of an idle informer empties the store', async () => {
    const { informer } = running({ lingerMs: 0 });
    const registration = addEventHandler(informer, {});
    informer.changes$.subscribe().unsubscribe();
    expect([informer.status.phase, informer.indexer.size]).toEqual(['idle', 1]);
    await registration.remove();
    expect(informer.indexer.size).toBe(0);
  });

  it('X5: a linger over 2^31 ms is kept, an infinite linger sets no timer, and an invalid linger is refused', () =>
    marbles(({ scheduler }) => {
      const timers = () => (scheduler as TestScheduler).actions.length;
      for (const lingerMs of [2 ** 31, 3e9, Number.POSITIVE_INFINITY]) {
        const source = scriptedListWatch();
        source.listed(1, pod('web', 1));
        const informer = createSharedInformer(source, { scheduler, lingerMs });
        const subscription = informer.changes$.subscribe();
        const before = timers();
        subscription.unsubscribe();
        expect(timers() - before).toBe(lingerMs === Number.POSITIVE_INFINITY ? 0 : 1);
        expect([source.open, informer.indexer.size]).toEqual([1, 1]);
        void informer.stop();
      }
      for (const [lingerMs, shown] of [
        [-1, '-1'],
        [Number.NaN, 'NaN'],
        ['5' as unknown as number, '"5"'],
      ] as const) {
        expect(() => createSharedInformer(scriptedListWatch(), { lingerMs })).toThrow(
          `createSharedInformer: lingerMs is ${shown}; it must be 0 or more milliseconds`,
        );
      }
    }));
});
