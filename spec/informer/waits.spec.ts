/** The waits of an informer: `whenSynced`, `whenObserved` and `whenAtLeast`. */
import { ApiError, addEventHandler, createSharedInformer } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  added,
  bookmark,
  deleted,
  modified,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

function synced(...objects: ReturnType<typeof pod>[]) {
  const { source, informer } = scriptedInformer();
  source.listed(10, ...objects);
  informer.start();
  return { source, informer };
}

/** The current outcome of a promise. */
async function settled<T>(promise: Promise<T>): Promise<T | 'pending' | string> {
  const caught = promise.catch((error: Error) => error.message);
  return Promise.race([
    caught,
    new Promise<'pending'>((resolve) => setImmediate(resolve, 'pending')),
  ]);
}

describe('whenSynced', () => {
  it('I9: resolves once the first list is in the store', async () => {
    const { source, informer } = scriptedInformer();
    const wait = informer.whenSynced();
    informer.start();
    expect(await settled(wait)).toBe('pending');
    source.listed(1);
    expect(await settled(wait)).toBeUndefined();
  });

  it('I9: rejects with the last cause when its timeout has passed', async () => {
    const refusals: unknown[] = [];
    marbles(({ scheduler, cold }) => {
      const forbidden = ApiError.fromStatus(
        { code: 403, reason: 'Forbidden', message: 'pods is forbidden' },
        403,
      );
      const informer = createSharedInformer(
        {
          watchList: false,
          list: () => cold<never>('#', {}, forbidden),
          watch: () => cold<never>('-'),
        },
        { scheduler, name: 'pods' },
      );
      const wait = { timeoutMs: 5_000, whileBlocked: 'wait' } as const;
      informer.whenSynced(wait).catch((error) => refusals.push(error));
      informer.start();
      scheduler.schedule(() => {
        expect(informer.status.blocked).toBe('forbidden');
        void informer.stop();
      }, 5_001);
    });
    await Promise.resolve();
    expect(refusals.map(String)).toEqual([
      'ApiError: pods is not synced after 5000 ms: pods is forbidden',
    ]);
  });

  it('I9: the timeout error says that the informer was not started, or which error blocks it', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ name: 'pods', scheduler: time });
    await expect(time.until(informer.whenSynced({ timeoutMs: 5 }))).rejects.toThrow(
      'pods is not synced after 5 ms: it was not started',
    );
    const failing = createSharedInformer(
      {
        ...source,
        list: () => {
          throw ApiError.fromStatus({ code: 403, reason: 'Forbidden', message: 'no' }, 403);
        },
      },
      { name: 'secrets', scheduler: time },
    );
    failing.start();
    const error = await time
      .until(failing.whenSynced({ timeoutMs: 5, whileBlocked: 'wait' }))
      .catch((caught: ApiError) => caught);
    expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect((error as ApiError).message).toBe('secrets is not synced after 5 ms: no');
    await failing.stop();
  });

  it('I9: rejects when the informer is stopped', async () => {
    const informer = createSharedInformer(scriptedListWatch());
    const wait = informer.whenSynced();
    informer.start();
    const rejection = expect(wait).rejects.toMatchObject({ reason: 'Stopped' });
    await informer.stop();
    await rejection;
  });
});

describe('whenObserved', () => {
  it('I10: resolves with the object once the object, or the store, has reached the version', async () => {
    const { source, informer } = synced(pod('web', 1));
    const own = informer.whenObserved('shop/web', '12');
    const others = informer.whenObserved('shop/web', '14');
    expect(await settled(own)).toBe('pending');
    source.send(modified(pod('web', 12)));
    expect(await settled(own)).toMatchObject({ metadata: { resourceVersion: '12' } });
    expect(await settled(others)).toBe('pending');
    source.send(added(pod('db', 14)));
    expect(await settled(others)).toMatchObject({ metadata: { name: 'web' } });
  });

  it('I10: a bookmark is enough in a quiet collection', async () => {
    const { source, informer } = synced();
    const wait = informer.whenObserved('shop/web', '20');
    source.send(bookmark(19));
    expect(await settled(wait)).toBe('pending');
    source.send(bookmark(20));
    expect(await settled(wait)).toBeUndefined();
  });

  it('I10: resolves immediately if the version was reached before', async () => {
    const { informer } = synced(pod('web', 1));
    expect(await settled(informer.whenObserved('shop/web', '10'))).toMatchObject({
      metadata: { name: 'web' },
    });
    expect(await settled(informer.whenObserved('shop/gone', '10'))).toBeUndefined();
  });

  it('I10: a deletion is observed if another object has the name', async () => {
    const { source, informer } = synced(pod('web', 1, 'second'));
    const target = { uid: 'first', deleted: true } as const;
    expect(await settled(informer.whenObserved('shop/web', target))).toMatchObject({
      metadata: { uid: 'second' },
    });
    const gone = informer.whenObserved('shop/web', { uid: 'second', deleted: true });
    expect(await settled(gone)).toBe('pending');
    source.listed(20, pod('web', 15, 'third'));
    void informer.refresh();
    await expect(gone).resolves.toMatchObject({ metadata: { uid: 'third' } });
  });

  it('I10: a deletion is that of the object with the UID, not of another object with the same name', async () => {
    const { source, informer } = synced(pod('web', 1, 'first'));
    const gone = informer.whenObserved('shop/web', { uid: 'first', deleted: true });
    expect(await settled(gone)).toBe('pending');
    source.send(deleted(pod('web', 11, 'first')), added(pod('web', 12, 'second')));
    expect(await settled(gone)).toBeUndefined();
    const second = informer.whenObserved('shop/web', { uid: 'second', deleted: true });
    expect(await settled(second)).toBe('pending');
    source.send(deleted(pod('web', 13, 'second')));
    expect(await settled(second)).toBeUndefined();
  });

  it('I10, I62: a deletion cannot be observed before the first list', async () => {
    const { source, informer } = scriptedInformer();
    const wait = informer.whenObserved('shop/web', { uid: 'web', deleted: true });
    informer.start();
    expect(await settled(wait)).toBe('pending');
    source.listed(10, pod('web', 8));
    expect(await settled(wait)).toBe('pending');
    source.send(deleted(pod('web', 11)));
    expect(await settled(wait)).toBeUndefined();
  });

  it('I10: with the version of the deletion, an object that was not received yet does not count as deleted', async () => {
    const { source, informer } = synced();
    const target = { uid: 'web', deleted: true, resourceVersion: '12' } as const;
    const wait = informer.whenObserved('shop/web', target);
    expect(await settled(wait)).toBe('pending');
    source.send(added(pod('web', 11)));
    expect(await settled(wait)).toBe('pending');
    source.send(deleted(pod('web', 12)));
    expect(await settled(wait)).toBeUndefined();
    const invalid = { ...target, resourceVersion: '0' };
    expect(await settled(informer.whenObserved('shop/web', invalid))).toMatch(
      /whenObserved: the version is "0"; it must be a resourceVersion/,
    );
  });

  it('I125: a version that has no order is observed when the object or the store shows it', async () => {
    const { source, informer } = synced(pod('web', 1));
    const [own, others] = ['346124217/1876', '346124218/1877'];
    const waits = [own, others].map((version) => informer.whenObserved('shop/web', version));
    const all = informer.whenAtLeast(others);
    const states = () => Promise.all([...waits, all].map((wait) => settled<unknown>(wait)));
    expect(await states()).toEqual(['pending', 'pending', 'pending']);
    source.send(modified(pod('web', own)));
    const web = expect.objectContaining({
      metadata: expect.objectContaining({ resourceVersion: own }),
    });
    expect(await states()).toEqual([web, 'pending', 'pending']);
    source.send(added(pod('db', others)));
    expect(await states()).toEqual([web, web, undefined]);
  });

  it('I125: a deletion is observed although its version has no order', async () => {
    const { source, informer } = synced(pod('web', 1));
    const target = { uid: 'web', deleted: true, resourceVersion: '7/1' } as const;
    const wait = informer.whenObserved('shop/web', target);
    expect(await settled(wait)).toBe('pending');
    source.send(deleted(pod('web', '7/1')), added(pod('db', '8/1')));
    expect(await settled(wait)).toBeUndefined();
  });

  it('I10: whenAtLeast resolves with a list or a bookmark that is not older than the version', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ name: 'pods', scheduler: time });
    const first = informer.whenAtLeast('5');
    expect(await settled(informer.whenAtLeast('0'))).toMatch(
      /whenAtLeast: the version is "0"; it must be/,
    );
    // The answer to a write may have no version.
    expect(await settled(informer.whenAtLeast(undefined as never))).toMatch(
      /whenAtLeast: the version is ""; it must be/,
    );
    informer.start();
    source.listed(10, pod('web', 8));
    expect(await settled(first)).toBeUndefined();
    const wait = informer.whenAtLeast('12');
    source.send(modified(pod('web', 11)));
    expect(await settled(wait)).toBe('pending');
    expect(await time.until(informer.whenAtLeast('99', { timeoutMs: 0 }).catch(String))).toMatch(
      /pods has not observed version 99 within 0 ms; it is at 11/,
    );
    source.send(bookmark(12));
    expect(await settled(wait)).toBeUndefined();
    const late = informer.whenAtLeast('99').catch(String);
    await informer.stop();
    expect(await late).toMatch(/pods was stopped/);
  });

  it('I10: the timeout error says which version the store has', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    source.listed(10);
    informer.start();
    const wait = informer.whenObserved('shop/web', '99', { timeoutMs: 5 });
    await expect(time.until(wait)).rejects.toThrow(
      'informer has not observed shop/web within 5 ms; it is at 10',
    );
    for (const none of ['', '0']) {
      await expect(informer.whenObserved('shop/web', none)).rejects.toThrow(
        `whenObserved: the version is "${none}"; it must be a resourceVersion that a server returned`,
      );
    }
    // The object is there, so its deletion has not been observed.
    for (const [shown, target] of [
      ['undefined', undefined],
      ['{}', {}],
      ['{uid,deleted}', { uid: '', deleted: true }],
      ['{deleted}', { deleted: true }],
      ['{uid}', { uid: 'web' }],
    ] as const) {
      await expect(informer.whenObserved('shop/web', target as never)).rejects.toThrow(
        `whenObserved: the target is ${shown}; it must be a resourceVersion, or { uid, deleted: true } with the UID of the deleted object`,
      );
    }
  });
});

describe('a wait that is over', () => {
  it('I129: leaves no timer, whether it was met or its informer has stopped', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    const limited = { timeoutMs: 3_600_000 };
    const registration = addEventHandler(informer, {});
    const waits = [
      informer.whenSynced(limited),
      registration.whenSynced(limited),
      informer.whenAtLeast('11', limited),
      informer.whenObserved('shop/a', '11', limited),
    ];
    source.listed(10, pod('a', 10));
    informer.start();
    source.send(modified(pod('a', 11)));
    await Promise.all(waits);
    const late = informer.whenAtLeast('12', limited);
    const refused = expect(late).rejects.toMatchObject({ reason: 'Stopped' });
    await informer.stop();
    await refused;
    expect(time.pending).toBe(0);
  });
});
