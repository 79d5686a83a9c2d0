/** Lifecycle calls made in callbacks: each call takes effect after the callback, in the order of the calls. */
import { addEventHandler, createSharedInformer, deliver, type InformerPhase } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { firstValueFrom, Subject, type Subscription, takeUntil } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../support/brief.ts';
import {
  added,
  modified,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { logging, settle, slowInformer } from './handler-rig.ts';

function running(options: { lingerMs?: number } = {}) {
  const { source, informer } = scriptedInformer(options);
  source.listed(1, pod('web', 1));
  return { source, informer };
}

/** Calls `act` in the callback for `web` at version 2. */
function within({ source, informer }: ReturnType<typeof running>, act: () => void): Promise<void> {
  let acted = false;
  addEventHandler(informer, {
    onUpdate: () => {
      if (!acted) act();
      acted = true;
    },
  });
  informer.start();
  source.send(modified(pod('web', 2)));
  return settle();
}

describe('stop, start and other calls in one callback', () => {
  it('I8: after stop and start in a callback the informer runs, and its handlers are called', async () => {
    const rig = running();
    const { source, informer } = rig;
    const log: string[] = [];
    const phases: InformerPhase[] = [];
    addEventHandler(informer, logging(log));
    await within(rig, () => {
      void informer.stop();
      informer.start();
      informer.status$.subscribe(({ phase }) => phases.push(phase));
    });
    expect(informer.status).toMatchObject({ phase: 'listing', synced: false, generation: 2 });
    source.listed(3, pod('web', 3), pod('db', 3));
    source.send(added(pod('api', 4)));
    expect(informer.isStopped).toBe(false);
    expect(informer.status).toMatchObject({ phase: 'watching', synced: true, generation: 2 });
    expect(log).toEqual([
      '+web@1* initial',
      '~web@1>2 watch',
      '~web@2>3 initial',
      '+db@3* initial',
      '+api@4 watch',
    ]);
    expect([...new Set(phases)]).toEqual(['watching', 'stopped', 'listing', 'connecting']);
    expect(phases.at(-1)).toBe('watching');
    await informer.stop();
  });

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

  it('I7: after stop, start and stop in a callback the informer is stopped', async () => {
    const rig = running();
    const { source, informer } = rig;
    await within(rig, () => {
      void informer.stop();
      informer.start();
      void informer.stop();
    });
    expect([informer.isStopped, informer.status.phase, source.open]).toEqual([true, 'stopped', 0]);
  });

  it('I2: a subscription made after stop() in a callback belongs to the next run', async () => {
    const rig = running();
    const { source, informer } = rig;
    const seen: string[] = [];
    const early: string[] = [];
    informer.changes$.subscribe({
      next: (set) => early.push(brief(set)),
      complete: () => early.push('complete'),
    });
    await within(rig, () => {
      void informer.stop();
      informer.changes$.subscribe({
        next: (set) => seen.push(brief(set)),
        complete: () => seen.push('complete'),
      });
    });
    source.listed(3, pod('db', 3));
    expect(early).toEqual([
      'snapshot!',
      'initial +web@1',
      'initial*',
      'watch* ~web@1>2',
      'complete',
    ]);
    expect(seen).toEqual(['snapshot*! +web@2', 'initial* -web@2? +db@3']);
    expect(informer.status.phase).toBe('watching');
    await informer.stop();
    expect(seen.at(-1)).toBe('complete');
  });

  it('I17: a handler added after stop() in a callback receives the contents of the store', async () => {
    const rig = running();
    const { informer } = rig;
    const log: string[] = [];
    await within(rig, () => {
      void informer.stop();
      addEventHandler(informer, logging(log));
    });
    expect(log).toEqual(['+web@2* initial']);
  });

  it('I9: a whenSynced() called after stop() and start() in a callback waits for the next run', async () => {
    const rig = running();
    const { source, informer } = rig;
    const outcome: string[] = [];
    await within(rig, () => {
      void informer.stop();
      informer.start();
      informer.whenSynced().then(
        () => outcome.push('synced'),
        () => outcome.push('rejected'),
      );
    });
    expect(outcome).toEqual([]);
    source.listed(3);
    await settle();
    expect(outcome).toEqual(['synced']);
    await informer.stop();
  });
});

describe('a subscriber that unsubscribes in a callback', () => {
  it('I1: a subscriber that joins again with a linger of 0 receives the difference from the next run', async () => {
    const rig = running({ lingerMs: 0 });
    const { source, informer } = rig;
    const seen: string[] = [];
    let first: Subscription | undefined;
    let left = false;
    first = informer.changes$.subscribe((set) => {
      if (left || !set.changes.some(({ object }) => object?.metadata.resourceVersion === '2'))
        return;
      left = true;
      first?.unsubscribe();
      informer.changes$.subscribe((next) => seen.push(brief(next)));
    });
    source.send(modified(pod('web', 2)));
    source.listed(3, pod('db', 3));
    expect(seen).toEqual(['snapshot*! +web@2', 'initial* -web@2? +db@3']);
    expect(informer.status.phase).toBe('watching');
    await informer.stop();
  });

  it('I5: a subscriber that unsubscribes before the run starts holds no run', async () => {
    const { source, informer } = running({ lingerMs: 0 });
    const leave = new Subject<void>();
    addEventHandler(informer, {
      onAdd: () => {
        informer.changes$.pipe(takeUntil(leave)).subscribe();
        leave.next();
      },
    });
    const subscription = informer.changes$.subscribe();
    subscription.unsubscribe();
    expect([source.open, informer.status.phase]).toEqual([0, 'idle']);
  });

  it('I2, I5: if one of two subscribers that joined in a callback leaves in it, the other one holds the same run', async () => {
    const { source, informer } = running({ lingerMs: 0 });
    const seen: string[] = [];
    informer.changes$.subscribe({
      complete: () => {
        const first = informer.changes$.subscribe();
        informer.changes$.subscribe((set) => seen.push(brief(set)));
        first.unsubscribe();
      },
    });
    await informer.stop();
    source.listed(2, pod('web', 2));
    await settle();
    expect(informer.status).toMatchObject({ phase: 'watching', generation: 2 });
    // One list of each run.
    expect(source.asked.filter((each) => each.startsWith('L'))).toHaveLength(2);
    expect(seen).toEqual(['snapshot! +web@1', 'initial* ~web@1>2']);
    await informer.stop();
  });

  it('I3, I1: a subscriber that unsubscribes while its subscription starts the run holds no run', async () => {
    const { source, informer } = scriptedInformer({ lingerMs: 0 });
    const leave = new Subject<void>();
    source.listed(1, pod('web', 1));
    informer.status$.subscribe(({ phase }) => {
      if (phase !== 'idle') leave.next();
    });
    informer.changes$.pipe(takeUntil(leave)).subscribe();
    await settle();
    expect([source.open, informer.status.phase]).toEqual([0, 'idle']);
  });

  it('I3, I1: a subscriber that unsubscribes with the first set starts no run, also under a policy', async () => {
    const { source, informer } = scriptedInformer();
    for (const changes$ of [informer.changes$, deliver(informer, { kind: 'conflate' }).changes$]) {
      expect(brief(await firstValueFrom(changes$))).toBe('snapshot!');
      expect([source.asked, informer.status.phase]).toEqual([[], 'idle']);
    }
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

  it('I2: a commit that the first set causes is delivered after that set was handled', () => {
    const { informer } = running();
    const log: string[] = [];
    informer.changes$.subscribe((set) => {
      log.push(`begin ${brief(set)}`);
      informer.start();
      log.push('end');
    });
    expect(log).toEqual([
      ...['begin snapshot!', 'end', 'begin initial +web@1', 'end'],
      ...['begin initial*', 'end'],
    ]);
    void informer.stop();
  });
});

describe('stop', () => {
  it('I7: a stop right after the start, with a linger of 0, keeps the store and the phase', async () => {
    const { source, informer } = running({ lingerMs: 0 });
    informer.start();
    await informer.stop();
    expect(informer.status.phase).toBe('stopped');
    expect(informer.indexer.size).toBe(1);
    expect(source.open).toBe(0);
  });

  it('I7: no callback begins after stop(), also with a linger of 0', async () => {
    const { informer, slow } = slowInformer(['a', 'b'], {}, { lingerMs: 0 });
    await informer.stop();
    await slow.finish();
    expect(slow.log).toEqual(['+a@1* initial']);
  });

  it('I7: no callback begins after the stop of an idle informer', async () => {
    const { source, informer } = scriptedInformer({ lingerMs: 0 });
    const slow = slowInformer([], {}, {}).slow;
    addEventHandler(informer, slow.handler);
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.changes$.subscribe().unsubscribe();
    expect([slow.log, informer.status.phase]).toEqual([['+a@1* initial'], 'idle']);
    await informer.stop();
    await slow.finish();
    expect(slow.log).toEqual(['+a@1* initial']);
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
    await informer.stop();
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
    await informer.stop();
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
