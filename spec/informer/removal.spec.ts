/** Handlers that go: what still reaches them, and when it is over. */
import {
  createSharedInformer,
  type EventHandlerRegistration,
  type EventNotification,
} from 'rx-informer';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { added, modified, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';
import { logging, settle, slowInformer, slowly } from './handler-rig.ts';

/** Whether a promise is over by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await settle();
  return over;
}

describe('removal', () => {
  it('I22: drops what waits, and is over when the callback under way is (RemoveEventHandler_SynchronousShutdown)', async () => {
    const { source, informer, slow, registration } = slowInformer(['a', 'b']);
    const removed = informer.removeEventHandler(registration);
    source.send(added(pod('c', 2)));
    expect(registration.lag).toBe(0);
    expect(await isOver(removed)).toBe(false);
    await slow.finish();
    expect(await isOver(removed)).toBe(true);
    expect(slow.log).toEqual(['+a@1* initial']);
    await informer.stop();
  });

  it('I22: drains what waits by then, and nothing that comes after', async () => {
    const { source, informer, slow, registration } = slowInformer(['a', 'b']);
    source.send(modified(pod('a', 2)));
    const removed = informer.removeEventHandler(registration, { pending: 'drain' });
    source.send(added(pod('c', 3)), modified(pod('a', 4)));
    await slow.finish(2);
    expect(await isOver(removed)).toBe(false);
    await slow.finish();
    expect(await isOver(removed)).toBe(true);
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial', '~a@1>2 watch']);
    await informer.stop();
  });

  it('I22: may drain after a stop, and a drop cuts a drain short', async () => {
    const { informer, slow, registration } = slowInformer(['a', 'b', 'c']);
    await informer.stop();
    const removed = informer.removeEventHandler(registration, { pending: 'drain' });
    await slow.finish();
    expect(slow.log.at(-1)).toBe('+b@1* initial');
    void informer.removeEventHandler(registration);
    expect(await isOver(removed)).toBe(false);
    await slow.finish();
    expect(await isOver(removed)).toBe(true);
    expect(slow.log).toHaveLength(2);
  });

  it('I22: a drain that a drop cuts short ends while a policy is awaited', async () => {
    const { source, informer, slow, registration } = slowInformer(['a', 'b'], {
      delivery: { kind: 'conflate', ready: () => NEVER },
    });
    await slow.finish(2);
    source.send(modified(pod('a', 2)));
    const drained = informer.removeEventHandler(registration, { pending: 'drain' });
    expect(await isOver(drained)).toBe(false);
    await informer.removeEventHandler(registration);
    expect(await isOver(drained)).toBe(true);
    await informer.stop();
  });

  it('I22: a drain asks no policy, and waits for none, once all is told', async () => {
    for (const told of [1, 2]) {
      let asked = 0;
      const ready = () => {
        asked++;
        return NEVER;
      };
      const { informer, slow, registration } = slowInformer(['a', 'b'], {
        delivery: { kind: 'conflate', ready },
      });
      await slow.finish(told);
      const drained = informer.removeEventHandler(registration, { pending: 'drain' });
      await slow.finish(2 - told);
      expect([await isOver(drained), asked]).toEqual([true, told - 1]);
      await informer.stop();
    }
  });

  it('I7, I22: a handler that goes as the run begins leaves no timer', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const informer = createSharedInformer(source, { scheduler: time });
    const slow = slowly();
    const { onAdd } = slow.handler;
    const registration: EventHandlerRegistration = informer.addEventHandler(
      {
        onAdd: (object, notification) => {
          if (slow.log.length > 0) void informer.removeEventHandler(registration);
          return onAdd(object, notification);
        },
      },
      { resyncPeriodMs: 2_000 },
    );
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    await informer.stop();
    await slow.finish();
    expect(slow.log).toEqual(['+a@1* initial']);
    informer.start();
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial']);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('I18, I22: the resync timer of a handler that is removed is gone', async () => {
    const scheduler = new VirtualTime();
    const source = scriptedListWatch();
    const informer = createSharedInformer(source, { scheduler });
    source.listed(1, pod('web', 1));
    informer.start();
    const before = scheduler.pending;
    const registration = informer.addEventHandler({}, { resyncPeriodMs: 10_000 });
    expect(scheduler.pending).toBe(before + 1);
    await informer.removeEventHandler(registration);
    expect(scheduler.pending).toBe(before);
    await informer.stop();
    expect(scheduler.pending).toBe(0);
  });

  it('I22: does not wait for the callback that asks', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const log: string[] = [];
    const atOnce = informer.addEventHandler({
      onAdd: async ({ metadata }) => {
        await informer.removeEventHandler(atOnce);
        log.push(`at once ${metadata.name}`);
      },
    });
    const later = informer.addEventHandler({
      onAdd: async ({ metadata }, notification: EventNotification) => {
        await settle();
        await informer.removeEventHandler(later, { within: notification });
        log.push(`later ${metadata.name}`);
      },
    });
    const draining = informer.addEventHandler({
      onAdd: async ({ metadata }, within: EventNotification) => {
        await settle();
        await informer.removeEventHandler(draining, { pending: 'drain', within });
        log.push(`draining ${metadata.name}`);
      },
    });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    for (let turn = 0; turn < 5; turn++) await settle();
    expect(log.sort()).toEqual(['at once a', 'draining a', 'draining b', 'later a']);
    await informer.stop();
  });

  it('I22: another one who asks waits, whatever notification it holds', async () => {
    const { informer, slow, registration } = slowInformer(['a', 'b']);
    const removed = informer.removeEventHandler(registration, {
      within: { key: 'shop/a', cause: 'initial', isInInitialList: true },
    });
    expect(await isOver(removed)).toBe(false);
    await slow.finish();
    expect(await isOver(removed)).toBe(true);
    await informer.stop();
  });

  it('I22: before the start, and of a handler that waits for its policy, is over at once (TestShutDownEventHandler_Lifecycles)', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const early = informer.addEventHandler({});
    expect(await isOver(informer.removeEventHandler(early))).toBe(true);
    const stuck = informer.addEventHandler(
      {},
      { delivery: { kind: 'conflate', ready: () => NEVER } },
    );
    source.listed(1, pod('a', 1));
    informer.start();
    source.send(modified(pod('a', 2)));
    expect(stuck.lag).toBe(1);
    expect(await isOver(informer.removeEventHandler(stuck))).toBe(true);
    await informer.stop();
  });

  it('I22: a rejection after it is still reported (RemoveEventHandler_AsynchronousPanic)', async () => {
    const { informer, slow, registration, errors } = slowInformer(['a', 'b']);
    const removed = informer.removeEventHandler(registration);
    await slow.finish(1, new Error('late'));
    expect(await isOver(removed)).toBe(true);
    expect(errors).toEqual([['Error: late', 'handler 1 shop/a']]);
    await informer.stop();
  });

  it('I17, I22: twice is once, and a foreign one does nothing (TestRemovingRemovedSharedInformer, TestSharedInformerRemoveForeignHandler)', async () => {
    const { source, informer, slow, registration } = slowInformer(['a']);
    const other = createSharedInformer(scriptedListWatch());
    const foreign = other.addEventHandler({});
    expect(await isOver(informer.removeEventHandler(foreign))).toBe(true);
    const first = informer.removeEventHandler(registration);
    const second = informer.removeEventHandler(registration);
    expect(await isOver(second)).toBe(false);
    await slow.finish();
    expect([await isOver(first), await isOver(second)]).toEqual([true, true]);
    source.send(added(pod('b', 2)));
    expect(slow.log).toHaveLength(1);
    await informer.stop();
  });

  it('I17: each of many registrations goes by itself (TestSharedInformerRemoveHandler, TestSharedInformerMultipleRegistration, TestRemoveWhileActive)', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const log: string[] = [];
    const handler = logging(log);
    const registrations = [1, 2, 3].map(() => informer.addEventHandler(handler));
    source.listed(1);
    informer.start();
    for (const [at, registration] of registrations.entries()) {
      source.send(added(pod(`p${at}`, at + 2)));
      void informer.removeEventHandler(registration);
    }
    source.send(added(pod('last', 9)));
    const told = log.map((line) => line.slice(1, 3));
    expect(told).toEqual(['p0', 'p0', 'p0', 'p1', 'p1', 'p2']);
    await informer.stop();
  });

  it('I17: after a stop a handler may go, and come: it hears the store (TestRemoveOnStoppedSharedInformer, TestAddOnStoppedSharedInformer)', async () => {
    const { informer, slow, registration } = slowInformer(['a']);
    await slow.finish();
    await informer.stop();
    expect(await isOver(informer.removeEventHandler(registration))).toBe(true);
    const late = slowly();
    informer.addEventHandler(late.handler);
    expect(late.log).toEqual(['+a@1* initial']);
    await late.finish();
  });

  it.each(['drop', 'drain'] as const)(
    'I3, I22: one that goes while it is told the store hears nothing of what follows: %s',
    async (pending) => {
      const { source, informer } = slowInformer(['a']);
      const log: string[] = [];
      informer.changes$.subscribe(({ cause }) => {
        if (cause !== 'watch' || log.length > 0) return;
        // Added within a notification: it hears the store after it.
        const registration = informer.addEventHandler({
          onAdd: ({ metadata }) => {
            log.push(metadata.name);
            void informer.removeEventHandler(registration, { pending });
          },
        });
      });
      source.send(modified(pod('a', 2)));
      source.send(added(pod('c', 3)));
      expect(log).toEqual(['a']);
      await informer.stop();
    },
  );
});
