/** An informer in a page that is hidden, left and shown again, with a fake document and a fake API server. */
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { FakePage } from '../transport/page-rig.ts';

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
