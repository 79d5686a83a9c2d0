/** `refresh()`, from the call to the commit. */
import { ApiError, createSharedInformer, type SharedInformerOptions } from 'rx-informer';
import { config, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../store/sets.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

const lost = (retryAfterMs?: number) =>
  ApiError.fromStatus(
    { code: 503, reason: 'ServiceUnavailable', message: 'not yet' },
    503,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );

function started(options: SharedInformerOptions<Pod> = {}) {
  const time = new VirtualTime();
  const { source, informer } = scriptedInformer({ scheduler: time, random: () => 0, ...options });
  const sets: string[] = [];
  informer.changes$.subscribe((set) => sets.push(brief(set)));
  source.listed(5, pod('a', 1));
  sets.length = 0;
  /** The outcome of each refresh, with its time. */
  const outcomes: string[] = [];
  const refresh = () => {
    const promise = informer.refresh();
    promise.then(
      () => outcomes.push(`${time.now()} done`),
      (error: ApiError) => outcomes.push(`${time.now()} ${error.reason}`),
    );
    return promise;
  };
  return { time, source, informer, sets, outcomes, refresh };
}

describe('refresh', () => {
  it('I81: while watching, lists the newest version, reports the difference and watches from there', async () => {
    const { time, source, informer, sets, outcomes, refresh } = started();
    await time.advance(2_000);
    void refresh();
    expect(source.asked).toEqual(['L0', 'W5', 'L']);
    expect(informer.status).toMatchObject({ phase: 'listing', live: false, staleSinceMs: 2_000 });
    await time.advance(100);
    expect(outcomes).toEqual([]);
    source.listed(9, pod('b', 8));
    await time.advance(0);
    expect(outcomes).toEqual(['2100 done']);
    expect(sets).toEqual(['relist* -shop/a@1? +shop/b@8']);
    expect(source.asked).toEqual(['L0', 'W5', 'L', 'W9']);
    expect(informer.status).toMatchObject({ phase: 'watching', live: true, relists: 1 });
  });

  it('I81: resolves when the list is in the store, not before', async () => {
    const door = new Subject<void>();
    let open = true;
    const { time, source, informer, outcomes, refresh } = started({
      demand: () => (open ? null : door),
    });
    open = false;
    void refresh();
    source.listed(9, pod('b', 8));
    await time.advance(1_000);
    expect([outcomes, informer.indexer.listKeys()]).toEqual([[], ['shop/a']]);
    open = true;
    door.next();
    await time.advance(0);
    expect([outcomes, informer.indexer.listKeys()]).toEqual([['1000 done'], ['shop/b']]);
  });

  it('I81, I119: in backoff makes the due request immediately, and lists after a watch', async () => {
    const { time, source, informer, outcomes, refresh } = started();
    source.fail(lost());
    await time.advance(100);
    expect(informer.status.phase).toBe('backoff');
    void refresh();
    expect(source.asked).toEqual(['L0', 'W5', 'W5', 'L']);
    source.listed(9, pod('b', 8));
    await time.advance(0);
    expect(outcomes).toEqual(['100 done']);
    expect(informer.status).toMatchObject({ phase: 'watching', live: true });
    await time.advance(5_000);
    expect(source.asked).toEqual(['L0', 'W5', 'W5', 'L', 'W9']);
  });

  it('I81, I119: in backoff sends no request before the Retry-After', async () => {
    const { time, source, informer, outcomes, refresh } = started();
    source.fail(lost(20_000));
    await time.advance(5_000);
    void refresh();
    await time.advance(14_999);
    expect(source.asked).toEqual(['L0', 'W5']);
    expect(informer.status).toMatchObject({ phase: 'backoff', nextRetryAtMs: 20_000 });
    await time.advance(1);
    expect(source.asked).toEqual(['L0', 'W5', 'W5', 'L']);
    source.listed(9);
    await time.advance(0);
    expect(outcomes).toEqual(['20000 done']);
  });

  it('I81, I119: rejects when the try fails, and the informer retries by itself', async () => {
    const { time, source, informer, outcomes, refresh } = started();
    void refresh();
    source.failList(lost());
    await time.advance(0);
    expect(outcomes).toEqual(['0 ServiceUnavailable']);
    source.listed(9, pod('b', 8));
    await time.advance(800);
    expect(informer.indexer.listKeys()).toEqual(['shop/b']);
  });

  it('I81: is shared by calls that are made while it is in progress', async () => {
    const { time, source, outcomes, refresh } = started();
    void refresh();
    await time.advance(300);
    void refresh();
    source.listed(9);
    await time.advance(0);
    expect(outcomes).toEqual(['300 done', '300 done']);
    expect(source.asked).toEqual(['L0', 'W5', 'L', 'W9']);
  });

  it('I81: begins at the earliest a second after the beginning of the previous one', async () => {
    const { time, source, outcomes, refresh } = started();
    void refresh();
    source.listed(6);
    await time.advance(400);
    void refresh();
    void refresh();
    await time.advance(599);
    expect(source.asked).toEqual(['L0', 'W5', 'L', 'W6']);
    source.listed(7);
    await time.advance(1);
    expect(source.asked).toEqual(['L0', 'W5', 'L', 'W6', 'L', 'W7']);
    expect(outcomes).toEqual(['0 done', '1000 done', '1000 done']);
  });

  it('I81, I119: rejects when the informer is stopped, or is not running', async () => {
    const { time, informer, outcomes, refresh } = started();
    void refresh();
    await informer.stop();
    await time.advance(0);
    expect(outcomes).toEqual(['0 Stopped']);
    await expect(informer.refresh()).rejects.toMatchObject({ reason: 'Stopped' });
    const idle = createSharedInformer(scriptedListWatch());
    await expect(idle.refresh()).rejects.toThrow('not running');
    expect(time.pending).toBe(0);
  });

  it('I81: resolves once all of several scopes have listed', async () => {
    const time = new VirtualTime();
    const shop = scriptedListWatch('shop');
    const bank = scriptedListWatch('bank');
    const informer = createSharedInformer([shop, bank], { scheduler: time });
    informer.start();
    shop.listed(1);
    bank.listed(1);
    let done = false;
    void informer.refresh().then(() => {
      done = true;
    });
    shop.listed(4, pod('a', 4));
    await time.advance(0);
    expect(done).toBe(false);
    bank.listed(5);
    await time.advance(0);
    expect([done, shop.asked, bank.asked]).toEqual([
      true,
      ['L0', 'W1', 'L', 'W4'],
      ['L0', 'W1', 'L', 'W5'],
    ]);
    await informer.stop();
  });

  it('I81, I119: rejects when onError has ended one of several scopes, and still lists the others', async () => {
    const time = new VirtualTime();
    const shop = scriptedListWatch('shop');
    const bank = scriptedListWatch('bank');
    const onError = ({ code }: ApiError) => (code === 500 ? ('stop' as const) : undefined);
    const informer = createSharedInformer([shop, bank], { scheduler: time, onError });
    informer.start();
    shop.listed(1);
    bank.listed(1);
    const outcomes: string[] = [];
    const refresh = () =>
      informer.refresh().then(
        () => outcomes.push('done'),
        ({ reason }: ApiError) => outcomes.push(reason),
      );
    void refresh();
    bank.failList(ApiError.fromStatus({ code: 500, reason: 'InternalError', message: 'no' }, 500));
    shop.listed(4, pod('a', 4));
    await time.advance(2_000);
    expect([outcomes, informer.indexer.size]).toEqual([['InternalError'], 1]);
    void refresh();
    await time.advance(2_000);
    expect(outcomes).toEqual(['InternalError', 'Stopped']);
    expect(shop.asked).toEqual(['L0', 'W1', 'L', 'W4', 'L']);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('I81, R29: resolves also after an error of awake$', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const awake$ = throwError(() => new Error('no events'));
    const errors: string[] = [];
    const silence = config.onUnhandledError;
    config.onUnhandledError = (error) => errors.push(String(error));
    try {
      const informer = createSharedInformer({ ...source, awake$ }, { scheduler: time });
      informer.start();
      source.listed(1);
      const refreshed = informer.refresh();
      await time.advance(1_000);
      source.listed(4, pod('a', 4));
      await time.advance(1_000);
      await refreshed;
      expect(informer.indexer.size).toBe(1);
      await informer.stop();
      await eventually(() => expect(errors).toEqual(['Error: no events']));
    } finally {
      config.onUnhandledError = silence;
    }
  });

  it('I81: the first list, which is in progress, serves the refresh', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    informer.start();
    const done: unknown[] = [];
    void informer.refresh().then(() => done.push(informer.indexer.size));
    source.listed(4, pod('a', 4));
    await time.advance(0);
    expect([done, source.asked]).toEqual([[1], ['L0', 'W4']]);
  });

  it('I81, I2: called in a callback after stop() and start(), belongs to the new run', async () => {
    const { time, source, informer, outcomes, refresh } = started();
    let called = false;
    informer.added$.subscribe(({ metadata }) => {
      if (called || metadata.name !== 'b') return;
      called = true;
      void informer.stop();
      informer.start();
      void refresh();
    });
    source.listed(7, pod('a', 1), pod('b', 6));
    source.listed(8, pod('b', 6));
    source.send(added(pod('b', 6)));
    await time.advance(0);
    expect(outcomes).toEqual(['0 done']);
    expect(informer.status).toMatchObject({ generation: 2, relists: 1, resourceVersion: '8' });
  });
});
