/** The lifecycle of an informer: start, stop, linger, what remains after the end of a run, and a page that is hidden, left and shown again. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  ApiError,
  addEventHandler,
  createClient,
  createInformer,
  createListWatch,
  createSharedInformer,
  type ListPart,
  metricsOf,
  type WatchRequest,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, marbles } from 'rx-informer/testing';
import { config, finalize, NEVER, type Observable, type Subscription } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { portOf } from '../../lib/informer/part.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../support/brief.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { FakePage } from '../transport/page-rig.ts';

describe('lifecycle', () => {
  it('I5: the first subscriber starts one run, which lingers after the last subscriber leaves', () =>
    marbles(({ scheduler }) => {
      const { source, informer } = scriptedInformer({ lingerMs: 30, scheduler });
      const at = (frame: number, act: () => void) => scheduler.schedule(act, frame);
      const held: Subscription[] = [];
      source.listed(1, pod('web', 1));
      at(0, () => {
        held.push(informer.changes$.subscribe(), informer.added$.subscribe());
        expect(source.asked).toEqual(['L0', 'W1']);
      });
      at(10, () => {
        for (const subscription of held) subscription.unsubscribe();
        expect(source.open).toBe(1);
      });
      at(30, () => {
        held.push(informer.changes$.subscribe());
        expect(source.asked).toEqual(['L0', 'W1']);
      });
      at(40, () => held[2]?.unsubscribe());
      at(69, () => expect([source.open, informer.indexer.size]).toEqual([1, 1]));
      at(71, () => {
        expect([source.open, informer.indexer.size]).toEqual([0, 0]);
        expect(informer.status.phase).toBe('idle');
      });
      at(72, () => expect((scheduler as TestScheduler).actions).toHaveLength(0));
    }));

  it('I7: stop() completes the streams of data and leaves the store readable', async () => {
    const { source, informer } = scriptedInformer();
    const completed: string[] = [];
    const streams = ['changes$', 'added$', 'updated$', 'deleted$', 'snapshot$'] as const;
    const all = { ...informer, ...metricsOf(informer) };
    for (const name of [...streams, 'status$', 'synced$', 'metrics$'] as const) {
      const stream: Observable<unknown> = all[name];
      stream.subscribe({ complete: () => completed.push(name) });
    }
    source.listed(1, pod('web', 1));
    await informer.stop();
    expect(completed.sort()).toEqual([...streams].sort());
    expect(informer.isStopped).toBe(true);
    expect(informer.status.phase).toBe('stopped');
    expect(informer.indexer.getByKey('shop/web')).toBeDefined();
    expect(source.open).toBe(0);
  });

  it('I7: status$, synced$ and metrics$ show the next run, and complete with the removal of the informer', async () => {
    const { source, informer } = scriptedInformer();
    const phases: string[] = [];
    const synced: boolean[] = [];
    const objects: number[] = [];
    const completed: string[] = [];
    const complete = (name: string) => () => completed.push(name);
    informer.status$.subscribe({
      next: ({ phase }) => phases.push(phase),
      complete: complete('status$'),
    });
    informer.synced$.subscribe({ next: (is) => synced.push(is), complete: complete('synced$') });
    metricsOf(informer).metrics$.subscribe({
      next: (metrics) => objects.push(metrics.objects),
      complete: complete('metrics$'),
    });
    for (let run = 1; run <= 2; run++) {
      source.listed(run, ...Array.from({ length: run }, (_, at) => pod(`web-${at}`, run)));
      informer.start();
      await informer.whenSynced();
      await informer.stop();
    }
    const ran = ['watching', 'stopped'];
    expect(phases.filter((phase) => ran.includes(phase))).toEqual([...ran, ...ran]);
    expect(synced).toEqual([false, true, false, true, false]);
    expect(objects.at(-1)).toBe(2);
    expect(completed).toEqual([]);
    await portOf(informer, 'test').remove();
    expect(completed.sort()).toEqual(['metrics$', 'status$', 'synced$']);
    let isOver = false;
    informer.status$.subscribe({ complete: () => (isOver = true) });
    expect([isOver, source.open]).toEqual([false, 0]);
  });

  it('I7: a list response of a stopped run is ignored', () =>
    marbles(({ scheduler, cold }) => {
      const lists: Observable<ListPart<Pod>>[] = [
        cold('-----(o|)', { o: { items: [pod('old', 1)], metadata: { resourceVersion: '1' } } }),
        cold('----------(n|)', {
          n: { items: [pod('new', 2)], metadata: { resourceVersion: '2' } },
        }),
      ];
      const informer = createSharedInformer(
        { watchList: false, list: () => lists.shift() ?? NEVER, watch: () => NEVER },
        { scheduler },
      );
      informer.start();
      scheduler.schedule(() => {
        void informer.stop();
        informer.start();
      }, 2);
      scheduler.schedule(() => expect(informer.indexer.size).toBe(0), 8);
      scheduler.schedule(() => {
        expect(informer.indexer.list().map(({ metadata }) => metadata.name)).toEqual(['new']);
        void informer.stop();
      }, 14);
    }));

  it('I7: twenty runs leave no timer, socket or listener (TestShutdown)', () => {
    const script = fileURLToPath(new URL('./leaves-nothing.ts', import.meta.url));
    const printed = execFileSync(process.execPath, ['--conditions=rx-informer-source', script], {
      encoding: 'utf8',
    });
    const { left, watches } = JSON.parse(printed) as { left: string[]; watches: number };
    // The pipe of the child process to this test is still open while it prints.
    expect(left.filter((name) => name !== 'PipeWrap')).toEqual([]);
    expect(watches).toBe(0);
  });

  it('I70: a cleanup that throws is reported, and the stop is still complete', async () => {
    const reported: string[] = [];
    config.onUnhandledError = (error) => reported.push(String(error));
    const cleanup = () => {
      throw new Error('cleanup');
    };
    for (const shared of [true, false]) {
      const inner = scriptedListWatch();
      const source = {
        ...inner,
        watch: (request: WatchRequest<Pod>) => inner.watch(request).pipe(finalize(cleanup)),
      };
      const informer = shared ? createSharedInformer(source) : createInformer(source, {});
      inner.listed(1, pod('web', 1));
      const log: string[] = [];
      const complete = () => log.push('complete');
      const streams = 'changes$' in informer ? [informer.changes$] : [];
      for (const stream of [informer.status$, metricsOf(informer).metrics$, ...streams]) {
        (stream as Observable<unknown>).pipe(finalize(cleanup)).subscribe();
        (stream as Observable<unknown>).subscribe({ complete });
      }
      informer.start();
      await informer.whenSynced();
      await (shared ? portOf(informer, 'test').remove() : informer.stop());
      expect(log).toHaveLength(shared ? 3 : 0);
      expect([informer.status.phase, informer.hasSynced, inner.open]).toEqual([
        'stopped',
        false,
        0,
      ]);
    }
    await eventually(() => expect(reported).toHaveLength(5));
    config.onUnhandledError = null;
  });

  it('I8: a start after a stop begins a new generation, which reports only the difference', async () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    addEventHandler(informer, {
      onAdd: (object) => log.push(`+${object.metadata.name}`),
      onUpdate: (_previous, object) => log.push(`~${object.metadata.name}`),
      onDelete: ({ key, finalStateUnknown }) => log.push(`-${key}${finalStateUnknown ? '?' : ''}`),
    });
    source.listed(1, pod('web', 1), pod('db', 1));
    informer.start();
    await informer.stop();
    source.listed(9, pod('web', 1), pod('api', 8));
    const web = informer.indexer.getByKey('shop/web');
    informer.start();
    expect(log).toEqual(['+web', '+db', '-shop/db?', '+api']);
    expect(informer.indexer.getByKey('shop/web')).toBe(web);
    expect(informer.status.generation).toBe(2);
    const seen: string[] = [];
    informer.changes$.subscribe((set) => seen.push(brief(set)));
    source.send(added(pod('new', 10)));
    expect(seen).toEqual(['snapshot*! +web@1 +api@8', 'watch* +new@10']);
  });
});

describe('an informer whose onError returns stop', () => {
  it('R13, I7: the informer is stopped when onError returns stop, and can be started again', () => {
    const { source, informer } = scriptedInformer({
      onError: (error) => (error.code === 403 ? 'stop' : 'retry'),
    });
    let completed = false;
    informer.changes$.subscribe({ complete: () => (completed = true) });
    source.listed(1, pod('web', 1));
    informer.start();
    source.fail(ApiError.fromStatus({ code: 403, reason: 'Forbidden' }, 403));
    expect([completed, informer.isStopped, source.open]).toEqual([true, true, 0]);
    expect(informer.status).toMatchObject({ phase: 'stopped', error: { code: 403 } });
    source.listed(2, pod('web', 2));
    informer.start();
    expect(informer.indexer.getByKey('shop/web')?.metadata.resourceVersion).toBe('2');
  });
});

afterEach(() => vi.unstubAllGlobals());

async function started() {
  const time = new VirtualTime();
  const page = new FakePage();
  page.install('http://fake');
  const server = createFakeApiServer({ scheduler: time, historyLimit: 5 });
  const create = (name: string) =>
    server.objects.create(pods, { metadata: { namespace: 'shop', name } });
  create('first');
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  const source = createListWatch(client, pods, { scheduler: time });
  const informer = createSharedInformer(source, { scheduler: time, random: () => 0.5 });
  const sets: string[] = [];
  informer.changes$.subscribe(({ cause, added }) =>
    sets.push(`${cause} ${added.map(({ metadata }) => metadata.name).join(' ')}`),
  );
  await time.advance(2_000);
  server.clearRequests();
  sets.length = 0;
  const requested = () =>
    server.requests.map(({ use, query }) => (query['sendInitialEvents'] ? 'stream' : use));
  return { time, page, server, create, informer, sets, requested };
}

describe('an informer in a page', () => {
  it.each([
    ['hidden', (page: FakePage) => page.show(false), (page: FakePage) => page.show(true)],
    ['left', (page: FakePage) => page.emit('pagehide'), (page: FakePage) => page.emit('pageshow')],
    [
      'frozen',
      (page: FakePage) => page.emitOnDocument('freeze'),
      (page: FakePage) => page.emitOnDocument('resume'),
    ],
  ])('I104: resumes without a list after the page was %s', async (_how, leave, back) => {
    const { time, page, server, create, informer, sets, requested } = await started();
    leave(page);
    await time.advance(60_000);
    expect(server.openWatches).toEqual([]);
    expect(informer.status).toMatchObject({ phase: 'queued', live: false });
    expect(informer.status.error).toBeUndefined();
    expect(informer.status.waitingFor).toContain('The tab is hidden');
    create('meanwhile');
    await time.advance(3_600_000);
    expect(requested()).toEqual([]);
    back(page);
    await time.advance(1_000);
    expect(requested()).toEqual(['watch']);
    expect(sets).toEqual(['watch meanwhile']);
    expect(informer.status).toMatchObject({ phase: 'watching', live: true, reconnects: 0 });
    await informer.stop();
    await time.advance(200);
  });

  it('I104: delivers one difference if the server has forgotten the events since then', async () => {
    const { time, page, create, informer, sets, requested } = await started();
    page.show(false);
    await time.advance(60_000);
    for (let at = 0; at < 20; at++) create(`p${String(at).padStart(2, '0')}`);
    page.show(true);
    await time.advance(3_000);
    expect(requested()).toEqual(['watch', 'stream']);
    expect(sets).toHaveLength(1);
    expect(sets[0]).toMatch(/^relist p00 .* p19$/);
    expect(informer.status).toMatchObject({ phase: 'watching', live: true });
    await informer.stop();
    await time.advance(200);
    expect(time.pending).toBe(0);
  });

  it('I104: a page that is hidden while it lists finishes the list, and watches when it is shown', async () => {
    const time = new VirtualTime();
    const page = new FakePage();
    page.install('http://fake');
    const server = createFakeApiServer({ scheduler: time, latencyMs: 25_000, pageSizeMax: 1 });
    for (const name of ['a', 'b', 'c'])
      server.objects.create(pods, { metadata: { namespace: 'shop', name } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const source = createListWatch(client, pods, { scheduler: time, watchList: false });
    const informer = createSharedInformer(source, { scheduler: time });
    informer.start();
    page.show(false);
    // The second page arrives before the watches are closed, the third one after that.
    await time.advance(300_000);
    expect(informer.indexer.size).toBe(3);
    expect(informer.status).toMatchObject({ phase: 'queued', synced: true });
    page.show(true);
    await time.advance(26_000);
    expect(informer.status).toMatchObject({ phase: 'watching', relists: 0 });
    await informer.stop();
    await time.advance(200);
  });
});
