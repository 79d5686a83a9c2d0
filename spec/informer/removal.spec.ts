/** Removal of handlers: which changes they still receive, and when the promise resolves. */
import {
  addEventHandler,
  createSharedInformer,
  type EventHandlerRegistration,
  type EventNotification,
} from 'rx-informer';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  added,
  modified,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { settle, slowInformer, slowly } from './handler-rig.ts';

/** Whether a promise has resolved by now. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => {
    resolved = true;
  });
  await settle();
  return resolved;
}

describe('removal', () => {
  it('I22: drops the waiting changes, and resolves when the callback in progress has ended (RemoveEventHandler_SynchronousShutdown)', async () => {
    const { source, slow, registration } = slowInformer(['a', 'b']);
    const removed = registration.remove();
    source.send(added(pod('c', 2)));
    expect(registration.lag).toBe(0);
    expect(await isResolved(removed)).toBe(false);
    await slow.finish();
    expect(await isResolved(removed)).toBe(true);
    expect(slow.log).toEqual(['+a@1* initial']);
  });

  it('I22: a drain delivers the changes that wait at the call, and no later ones', async () => {
    const { source, slow, registration } = slowInformer(['a', 'b']);
    source.send(modified(pod('a', 2)));
    const removed = registration.remove({ pending: 'drain' });
    source.send(added(pod('c', 3)), modified(pod('a', 4)));
    await slow.finish(2);
    expect(await isResolved(removed)).toBe(false);
    await slow.finish();
    expect(await isResolved(removed)).toBe(true);
    expect(slow.log).toEqual(['+a@1* initial', '+b@1* initial', '~a@1>2 watch']);
  });

  it('I22: a drain is possible after a stop, and a drop ends a drain early', async () => {
    const { informer, slow, registration } = slowInformer(['a', 'b', 'c']);
    await informer.stop();
    const removed = registration.remove({ pending: 'drain' });
    await slow.finish();
    expect(slow.log.at(-1)).toBe('+b@1* initial');
    void registration.remove();
    expect(await isResolved(removed)).toBe(false);
    await slow.finish();
    expect(await isResolved(removed)).toBe(true);
    expect(slow.log).toHaveLength(2);
  });

  it('I22: a drain does not ask the policy, nor wait for it, once every change has been delivered', async () => {
    for (const delivered of [1, 2]) {
      let calls = 0;
      const ready = () => {
        calls++;
        return NEVER;
      };
      const { informer, slow, registration } = slowInformer(['a', 'b'], {
        delivery: { kind: 'conflate', ready },
      });
      await slow.finish(delivered);
      const drained = registration.remove({ pending: 'drain' });
      await slow.finish(2 - delivered);
      expect([await isResolved(drained), calls]).toEqual([true, delivered - 1]);
      await informer.stop();
    }
  });

  it('I7, I22: a handler that is removed when the run begins leaves no timer', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    const slow = slowly();
    const { onAdd } = slow.handler;
    const registration: EventHandlerRegistration = addEventHandler(
      informer,
      {
        onAdd: (object, notification) => {
          if (slow.log.length > 0) void registration.remove();
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

  it('I18, I22: removing a handler ends its resync timer', async () => {
    const scheduler = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler });
    source.listed(1, pod('web', 1));
    informer.start();
    const before = scheduler.pending;
    const registration = addEventHandler(informer, {}, { resyncPeriodMs: 10_000 });
    expect(scheduler.pending).toBe(before + 1);
    await registration.remove();
    expect(scheduler.pending).toBe(before);
    await informer.stop();
    expect(scheduler.pending).toBe(0);
  });

  it('I22: a removal does not wait for the callback that makes the call', async () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    const immediate = addEventHandler(informer, {
      onAdd: async ({ metadata }) => {
        await immediate.remove();
        log.push(`immediate ${metadata.name}`);
      },
    });
    const later = addEventHandler(informer, {
      onAdd: async ({ metadata }, notification: EventNotification) => {
        await settle();
        await later.remove({ within: notification });
        log.push(`later ${metadata.name}`);
      },
    });
    const draining = addEventHandler(informer, {
      onAdd: async ({ metadata }, within: EventNotification) => {
        await settle();
        await draining.remove({ pending: 'drain', within });
        log.push(`draining ${metadata.name}`);
      },
    });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    for (let turn = 0; turn < 5; turn++) await settle();
    expect(log.sort()).toEqual(['draining a', 'draining b', 'immediate a', 'later a']);
  });

  it('I22: a removal with the notification of another callback waits', async () => {
    const { slow, registration } = slowInformer(['a', 'b']);
    const removed = registration.remove({
      within: { key: 'shop/a', cause: 'initial', isInInitialList: true },
    });
    expect(await isResolved(removed)).toBe(false);
    await slow.finish();
    expect(await isResolved(removed)).toBe(true);
  });

  it('I22: a removal before the start, or of a handler that waits for its policy, resolves immediately (TestShutDownEventHandler_Lifecycles)', async () => {
    const { source, informer } = scriptedInformer();
    const early = addEventHandler(informer, {});
    expect(await isResolved(early.remove())).toBe(true);
    const stuck = addEventHandler(
      informer,
      {},
      { delivery: { kind: 'conflate', ready: () => NEVER } },
    );
    source.listed(1, pod('a', 1));
    informer.start();
    source.send(modified(pod('a', 2)));
    expect(stuck.lag).toBe(1);
    expect(await isResolved(stuck.remove())).toBe(true);
  });

  it('I22: a rejection after the removal is still reported (RemoveEventHandler_AsynchronousPanic)', async () => {
    const { slow, registration, errors } = slowInformer(['a', 'b']);
    const removed = registration.remove();
    await slow.finish(1, new Error('late'));
    expect(await isResolved(removed)).toBe(true);
    expect(errors).toEqual([['Error: late', 'handler 1 shop/a']]);
  });

  it('I17, I22: removing a registration twice, or one of another informer, does nothing (TestRemovingRemovedSharedInformer, TestSharedInformerRemoveForeignHandler, TestSharedInformerRemoveHandler)', async () => {
    const { source, informer, slow, registration } = slowInformer(['a']);
    const other = createSharedInformer(scriptedListWatch());
    const foreign = addEventHandler(other, {});
    expect(await isResolved(foreign.remove())).toBe(true);
    const first = registration.remove();
    const second = registration.remove();
    expect(await isResolved(second)).toBe(false);
    await slow.finish();
    expect([await isResolved(first), await isResolved(second)]).toEqual([true, true]);
    source.send(added(pod('b', 2)));
    expect(slow.log).toHaveLength(1);
    await informer.stop();
  });

  it.each(['drop', 'drain'] as const)(
    'I3, I22: a handler that is removed while it receives the snapshot receives no later change: %s',
    async (pending) => {
      const { source, informer } = slowInformer(['a']);
      const log: string[] = [];
      informer.changes$.subscribe(({ cause }) => {
        if (cause !== 'watch' || log.length > 0) return;
        // The handler is added within a notification, so it receives the snapshot after that notification.
        const registration = addEventHandler(informer, {
          onAdd: ({ metadata }) => {
            log.push(metadata.name);
            void registration.remove({ pending });
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
