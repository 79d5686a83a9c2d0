/**
 * Informers behind a proxy that holds the events of a watch back until the watch ends, or until its buffer is full.
 */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  describeStatus,
  type Fetch,
  type InitialList,
  type TransportEvent,
} from 'rx-informer';
import { type ConfigMap, clusterRoles, configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer, type Fault } from 'rx-informer/testing';
import { concat, EMPTY, of, Subject, Subscriber, timer } from 'rxjs';
import { map, takeUntil } from 'rxjs/operators';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acceptHeader } from '../../lib/list-watch/managed-fields.ts';
import { stopwatch } from '../../lib/rx/stopwatch.ts';
import { judgedProbe } from '../../lib/transport/guards/buffering-probe.ts';
import { createPassage } from '../../lib/transport/guards/buffering-proxy.ts';
import { word } from '../reflector/rig.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

interface Options {
  readonly initialList?: InitialList;
  /** How many objects exist before the informers start. */
  readonly objects?: number;
  readonly seed?: number;
  /** @defaultValue Infinity, so that only buffering proxies are probed for */
  readonly livenessMs?: number;
  /** The `content-encoding` of the answers to watches, which `fetch` decompresses. */
  encoding?(): string;
}

/** The answers to watches name an encoding, as behind a proxy that compresses what a browser requests. */
function encoded(fetch: Fetch, encoding: () => string): Fetch {
  return async (input, init) => {
    const { status, type, headers, body } = await fetch(input, init);
    if (!input.includes('watch=true')) return { status, type, headers, body };
    const get = (name: string) => (name === 'content-encoding' ? encoding() : headers.get(name));
    return { status, type, headers: { get }, body };
  };
}

function setUp({
  initialList = 'auto',
  objects = 3,
  seed = 0.5,
  livenessMs = Number.POSITIVE_INFINITY,
  encoding,
}: Options = {}) {
  const time = new VirtualTime();
  const resources = [clusterRoles, configMaps, pods];
  const server = createFakeApiServer({ scheduler: time, random: () => seed, resources });
  const create = (name: string) =>
    server.objects.create(configMaps, {
      metadata: { namespace: 'shop', name },
      data: { text: 'x'.repeat(200) },
    } as ConfigMap);
  for (let at = 0; at < objects; at++) create(`first-${at}`);
  const client = createClient({
    baseUrl: 'http://fake',
    fetch: encoding === undefined ? server.fetch : encoded(server.fetch, encoding),
    scheduler: time,
    livenessMs,
  });
  const timing = { scheduler: time, random: () => seed };
  const open = <T extends object>(resource: Parameters<typeof createListWatch<T>>[1]) => {
    const source = createListWatch<T>(client, resource, { scheduler: time });
    const informer = createSharedInformer<T>(source, { ...timing, initialList });
    onTestFinished(() => informer.stop());
    informer.start();
    return informer;
  };
  return {
    client,
    time,
    server,
    create,
    open,
    asked: () => server.requests.map(word).join(' '),
    probes: () =>
      server.requests.filter((request) => word(request) === 'P').map(({ atMs }) => atMs),
    /** Advances the time until the condition is met, and returns how many milliseconds that took. */
    until: async (met: () => boolean, mostMs: number) => {
      let passedMs = 0;
      for (; !met() && passedMs < mostMs; passedMs += 100) await time.advance(100);
      expect(met(), `within ${mostMs} ms`).toBe(true);
      return passedMs;
    },
  };
}

describe('a server whose events arrive promptly', () => {
  it.each(['auto', 'stream'] as const)(
    'W21: a streaming list proves promptness, and no other request is sent in ten minutes (%s)',
    async (initialList) => {
      const { time, open, asked } = setUp({ initialList });
      const informer = open(configMaps);
      await time.advance(600_000);
      // The second request is the next watch.
      expect(asked()).toMatch(/^S W\d+$/);
      expect(informer.status.heldBack).toBeUndefined();
      await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W21: an event proves promptness', async () => {
    const { time, open, asked, create } = setUp({ initialList: 'pages' });
    open(configMaps);
    await time.advance(15_000);
    create('late');
    await time.advance(300_000);
    expect(asked()).toMatch(/^L0 W\d+$/);
  });

  it.each([0, 3])(
    'W21: if nothing changes, one short probe proves promptness for all informers (%i objects)',
    async (objects) => {
      const { time, open, asked } = setUp({ initialList: 'pages', objects });
      const informers = [open(configMaps), open(pods)];
      await time.advance(340_000);
      expect(asked().replaceAll(/\d/g, '')).toBe('L L W W P');
      await time.advance(600_000);
      expect(asked()).not.toMatch(/P.*P/);
      for (const informer of informers) await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W25: a probe whose query cannot be made proves nothing and harms no watch', async () => {
    const { time, client } = setUp({ initialList: 'pages' });
    let tries = 0;
    const source = createListWatch(client, configMaps, {
      scheduler: time,
      tweak: ({ timeoutSeconds }) => {
        if (timeoutSeconds !== '5') return;
        tries++;
        throw new Error('no short watches');
      },
    });
    const informer = createSharedInformer(source, {
      ...{ scheduler: time, random: () => 0.5 },
      initialList: 'pages',
    });
    informer.start();
    await time.advance(300_000);
    expect(tries).toBe(1);
    expect([informer.status.live, informer.status.error]).toEqual([true, undefined]);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('W21, W22: a probe finds an object whose name has characters of field selectors', async () => {
    const { time, server, open } = setUp({ initialList: 'pages' });
    const name = 'system:a,b=c\\d';
    server.objects.create(clusterRoles, { metadata: { name }, rules: [] });
    open(clusterRoles);
    await time.advance(21_000);
    expect(server.requests.at(-1)?.query['fieldSelector']).toBe(
      'metadata.name=system:a\\,b\\=c\\\\d',
    );
  });

  it('W21: a probe requests one object, and is aborted when the object arrives', async () => {
    const { time, server, open } = setUp({ initialList: 'pages' });
    open(configMaps);
    await time.advance(21_000);
    expect(server.requests.at(-1)?.query).toMatchObject({
      fieldSelector: 'metadata.name=first-0',
      resourceVersion: '0',
      timeoutSeconds: '5',
    });
    expect(server.openWatches.length).toBe(1);
  });
});

const proxies = [
  ['also the response head', { head: true }],
  ['less than 1 KiB', { head: false, bytes: 1024 }],
  ['less than 64 KiB', { head: false, bytes: 65_536 }],
] as const;
const starts = [
  ['auto', 0],
  ['auto', 3],
  ['auto', 300],
  ['pages', 0],
  ['pages', 3],
  ['pages', 300],
  ['stream', 3],
] as const;

describe.each(proxies)('a proxy that holds back %s', (_, holding) => {
  it.each(starts)(
    'W20, W22, W23: the proxy is detected within a minute, and changes arrive at most 20 s late (%s, %i objects)',
    async (initialList, objects) => {
      const { client, time, server, open, create, until, probes } = setUp({ initialList, objects });
      server.faults.holdBack(holding);
      const informer = open(configMaps);
      const { status$ } = informer;
      const messages: (string | undefined)[] = [];
      status$.subscribe(({ heldBack }) => messages.push(heldBack?.message));
      await until(() => informer.status.heldBack !== undefined, 60_000);
      await until(() => informer.status.synced, 5_000);
      // The silence of a streaming list is conspicuous. That of a quiet watch is not.
      expect(time.now()).toBeLessThanOrEqual(initialList === 'pages' ? 27_000 : 13_000);
      expect(messages.at(-1)).toContain('holds events back');
      expect(createListWatch(client, pods)).toMatchObject({ watchList: false, mayOverlap: false });
      const before = server.requests.length;
      const beganMs = time.now();
      for (let change = 0; change < 12; change++) {
        await time.advance(700 * change);
        const { metadata } = create(`late-${change}`);
        const held = () => informer.indexer.get(`shop/late-${change}`)?.metadata?.resourceVersion;
        await until(() => held() === metadata.resourceVersion, 20_500);
        server.objects.delete(configMaps, { namespace: 'shop', name: `late-${change}` });
        await until(() => held() === undefined, 20_500);
      }
      expect(informer.status).toMatchObject({ phase: 'watching', synced: true, live: false });
      expect(informer.status.error).toBeUndefined();
      const minutes = (time.now() - beganMs) / 60_000;
      expect(server.requests.length - before).toBeLessThanOrEqual(4 * minutes + 2);
      expect(probes().length).toBe(1);
      await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W23: after the proxy is corrected, watches become long again and the status no longer mentions it', async () => {
    const { time, server, open, create, until, asked } = setUp();
    const proxy: Fault = server.faults.holdBack(holding);
    const informer = open(configMaps);
    await until(() => informer.status.heldBack !== undefined, 60_000);
    await time.advance(120_000);
    expect(informer.status.heldBack).toBeDefined();
    proxy.heal();
    await until(() => informer.status.heldBack === undefined, 90_000);
    await time.advance(30_000);
    const before = asked();
    create('late');
    await time.advance(500);
    expect(informer.indexer.get('shop/late')).toBeDefined();
    await time.advance(250_000);
    expect(asked()).toBe(before);
  });

  it('W23: the correction of the proxy is detected while events are frequent', async () => {
    const { time, server, open, until, create } = setUp({ initialList: 'pages' });
    const proxy = server.faults.holdBack(holding);
    const informer = open(configMaps);
    await until(() => informer.status.heldBack !== undefined, 60_000);
    proxy.heal();
    for (let at = 0; at < 300; at++) {
      create(`busy-${at}`);
      await time.advance(200);
    }
    expect(informer.status.heldBack).toBeUndefined();
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('W22: a proxy that starts to hold events back later is detected', async () => {
    const { time, server, open, until } = setUp();
    const informer = open(configMaps);
    await time.advance(250_000);
    server.faults.holdBack(holding);
    server.faults.closeWatches();
    await until(() => informer.status.heldBack !== undefined, 90_000);
  });

  it('W22, W23: the detection takes effect for all informers of the client immediately', async () => {
    const { server, open, until, probes } = setUp();
    server.faults.holdBack(holding);
    const informers = [open(configMaps), open(pods)];
    await until(() => informers[0]?.status.heldBack !== undefined, 60_000);
    expect(informers[1]?.status.heldBack).toBe(informers[0]?.status.heldBack);
    expect(probes().length).toBe(1);
    for (const informer of informers) await informer.stop();
  });
});

describe('a proxy whose full buffer ends at the end of a line', () => {
  it('W21, W23: the pause inside a streaming list proves nothing: synced within 13 s, changes within 21 s', async () => {
    const { time, server, open, create, until } = setUp({ objects: 300 });
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const url = `http://fake/api/v1/configmaps?allowWatchBookmarks=true&${query}`;
    const list = await server.fetch(url, {
      headers: { accept: acceptHeader({ keepManagedFields: false }) ?? '' },
    });
    const reader = list.body?.getReader();
    let text = '';
    while (text.split('\n').length < 300) {
      text += new TextDecoder().decode((await reader?.read())?.value);
    }
    await reader?.cancel();
    const bytes = text.split('\n').slice(0, 299).join('\n').length + 1;
    server.faults.holdBack({ head: false, bytes });
    const informer = open(configMaps);
    await until(() => informer.status.loaded === 299, 1_000);
    await until(() => informer.status.synced, 13_000);
    const made = create('late');
    const held = () => informer.indexer.get('shop/late')?.metadata?.resourceVersion;
    await until(() => held() === made.metadata.resourceVersion, 21_000);
    await informer.stop();
    expect(time.pending).toBe(0);
  });
});

describe('a proxy that compresses watches', () => {
  it.each(['auto', 'pages'] as const)(
    'W33: a compressor that does not flush is detected 6 s after the first response, and named in words and errors (%s)',
    async (initialList) => {
      const { time, server, open, create, until, probes, asked } = setUp({
        initialList,
        encoding: () => 'gzip',
      });
      server.faults.holdBack({ head: false, bytes: 65_536 });
      const informer = open(configMaps);
      const second = open(pods);
      const errors: string[] = [];
      informer.status$.subscribe(({ error }) => error && errors.push(error.message));
      await until(() => informer.status.live, 1_000);
      await until(() => informer.status.heldBack !== undefined, 6_000);
      expect(informer.status.heldBack?.message).toContain('compresses responses and holds');
      expect(second.status.heldBack).toBe(informer.status.heldBack);
      expect(describeStatus(informer.status).text).toMatch(/^Late: a proxy .* compresses/);
      expect(errors.at(-1)).toContain('Let it forward responses uncompressed');
      create('late');
      await until(() => informer.indexer.get('shop/late') !== undefined, 20_500);
      await time.advance(300_000);
      expect(probes().length).toBe(1);
      // Compressed streaming lists are refused, and compressed watches are not.
      // Compressed streaming lists are refused, and compressed watches are not.
      const lists = initialList === 'pages' ? 'L0 L0' : 'S S L0 L0';
      expect(asked()).toMatch(new RegExp(`^${lists} W4 W4 P( W\\d)+$`));
      await informer.stop();
      await second.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W33: one probe at the first response proves that a compressor flushes', async () => {
    const { time, open, probes } = setUp({ encoding: () => 'br' });
    const informers = [open(configMaps), open(pods)];
    await time.advance(1_000);
    expect(probes().length).toBe(1);
    await time.advance(900_000);
    expect(probes().length).toBe(1);
    for (const informer of informers) {
      expect(informer.status.live).toBe(true);
      await informer.stop();
    }
    expect(time.pending).toBe(0);
  });

  it('W33: what arrived uncompressed does not prove that a compressor flushes', async () => {
    let encoding = 'identity';
    const { time, server, open, until, probes } = setUp({ encoding: () => encoding });
    const informer = open(configMaps);
    await time.advance(10_000);
    expect(probes()).toEqual([]);
    encoding = 'gzip';
    server.faults.holdBack({ head: false, bytes: 65_536 });
    server.faults.closeWatches();
    await until(() => informer.status.heldBack !== undefined, 8_000);
    expect(informer.status.heldBack?.message).toContain('compresses responses');
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('W33: a compressor that keeps the head is named by the head of the probe', async () => {
    const { time, server, open, until } = setUp({ encoding: () => 'gzip', initialList: 'pages' });
    server.faults.holdBack({ head: true });
    const informer = open(configMaps);
    await until(() => informer.status.heldBack !== undefined, 13_000);
    expect(informer.status.heldBack?.message).toContain('compresses responses');
    await informer.stop();
    expect(time.pending).toBe(0);
  });
});

describe('servers that are not mistaken for a buffering proxy', () => {
  it.each([1_000, 4_000, 20_000, 28_000, 50_000])(
    'W25: a server that responds after %i ms is not mistaken for a proxy',
    async (delayMs) => {
      const { time, server, open } = setUp();
      server.faults.delay(delayMs);
      const informer = open(configMaps);
      const held: unknown[] = [];
      informer.status$.subscribe(({ heldBack }) => heldBack && held.push(heldBack));
      await time.advance(600_000);
      expect(held).toEqual([]);
      await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it.each(['silence', 'neverAnswer', 'refuse', 'withoutBookmarks', 'halfOpen'] as const)(
    'W25, W26: a server with the fault "%s" receives few probes, at growing intervals',
    async (fault) => {
      const { time, server, open, probes } = setUp({ initialList: 'pages', objects: 0 });
      const informer = open(configMaps);
      await time.advance(1_000);
      server.faults[fault]({ use: 'watch' });
      const held: unknown[] = [];
      informer.status$.subscribe(({ heldBack }) => heldBack && held.push(heldBack));
      await time.advance(3_600_000);
      expect(held).toEqual([]);
      const gaps = probes().map(
        (atMs, at) => atMs - (probes()[at - 1] ?? Number.NEGATIVE_INFINITY),
      );
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000);
      expect(gaps.length).toBeLessThanOrEqual(12);
      await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W25: a probe during which the process was suspended proves nothing', async () => {
    const { time, server, open } = setUp({ initialList: 'pages' });
    const informer = open(configMaps);
    await time.advance(1_000);
    const proxy = server.faults.holdBack();
    await time.advance(19_500);
    proxy.heal();
    // The process is suspended for this time.
    time.jump(6_000);
    await time.advance(100);
    expect(informer.status.heldBack).toBeUndefined();
  });

  it.each([
    ['consists of frequent complete lines', 0, '{}\n', 'prompt'],
    ['is received up to its end in incomplete lines', 800, '{', 'none'],
    ['arrives only with its end', 4_900, '{}\n{', 'held'],
  ])('W25: the verdict of a probe whose response %s', async (_what, fromMs, text, verdict) => {
    const time = new VirtualTime();
    const head: TransportEvent = { kind: 'head', status: 200, header: () => null };
    const chunk: TransportEvent = { kind: 'chunk', bytes: new TextEncoder().encode(text) };
    const chunks = timer(fromMs, 200, time).pipe(map(() => chunk));
    const probe = concat(of(head), chunks).pipe(takeUntil(timer(5_000, time)));
    const verdicts: string[] = [];
    judgedProbe(probe, time, stopwatch(time)).subscribe((each) => verdicts.push(each));
    await time.advance(6_000);
    expect([verdicts, time.pending]).toEqual([[verdict], 0]);
  });

  it('W25: a line that goes on within 300 ms is no pause at the end of a line', async () => {
    const time = new VirtualTime();
    const chunk = (text: string): TransportEvent => ({
      kind: 'chunk',
      bytes: new TextEncoder().encode(text),
    });
    const events = new Subject<TransportEvent>();
    const verdicts: string[] = [];
    judgedProbe(events, time, stopwatch(time)).subscribe((each) => verdicts.push(each));
    events.next({ kind: 'head', status: 200, header: () => null });
    events.next(chunk('{}\n'));
    await time.advance(200);
    events.next(chunk('{'));
    await time.advance(1_000);
    expect(verdicts).toEqual([]);
    events.next(chunk('}\n'));
    await time.advance(300);
    expect([verdicts, time.pending]).toEqual([['prompt'], 0]);
  });

  it('W25: a watch that waits for its turn is not probed for', async () => {
    const time = new VirtualTime();
    let probes = 0;
    const probe = () => {
      probes++;
      return EMPTY;
    };
    const watch = { scheduler: time, isInList: () => false, probe };
    const subscriber = new Subscriber<unknown>();
    const notice = createPassage(stopwatch(time)).observed(watch, subscriber, () => undefined);
    notice({ kind: 'queued' });
    await time.advance(600_000);
    expect(probes).toBe(0);
    notice({ kind: 'sending' });
    await time.advance(10_000);
    expect(probes).toBe(1);
    subscriber.unsubscribe();
    expect(time.pending).toBe(0);
  });
});
