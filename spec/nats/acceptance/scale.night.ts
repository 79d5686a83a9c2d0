/**
 * Many readers behind one watch, while the publisher and then the NATS server are killed. `npm run test:nats-scale` runs the
 * long form.
 */
import { loadavg } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { NatsServer } from '../nats-server.ts';
import { PublishProcess } from '../publish-process.ts';
import { Crowd } from './crowd.ts';

const isLong = process.env['NATS_SCALE'] === 'long';
/** `rate`: changes a second. `watchers`: readers of one namespace each. `windowMs`: how long requests are counted. */
const size = isLong
  ? { pods: 50_000, namespaces: 100, rate: 1_000, watchers: 200, windowMs: 10_000 }
  : { pods: 2_000, namespaces: 20, rate: 100, watchers: 40, windowMs: 2_000 };
/** A deletion is kept for this time, and the sleeping readers sleep for longer. */
const KEEP_DELETIONS_S = isLong ? 40 : 8;
/** The short form also runs beside other work, so its limit is no statement on speed. */
const RECOVERED_MS = isLong ? 10_000 : 60_000;
/** Lists of all readers at the same time; the acceptance does not limit them. */
const LISTED_MS = 300_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (text: string) => process.stderr.write(`${text}; load ${loadavg()[0]?.toFixed(1)}\n`);

let nats: NatsServer;
let crowd: Crowd;
let api: string;

beforeEach(async () => {
  publishers.length = 0;
  nats = await NatsServer.start();
  crowd = new Crowd(isLong ? 1_000 : 5_000);
  api = (await crowd.api.call('start', size.pods, size.namespaces)) as string;
});
afterEach(async () => {
  await crowd.end();
  await nats.stop();
});

/** What the publishers said last, for the message of a failed wait. */
const publishers: PublishProcess[] = [];
const said = () =>
  publishers.map(({ isRunning, text }) => {
    const last = text.trim().split('\n').slice(-4).join('\n  ');
    return `a publisher that ${isRunning ? 'runs' : 'ended'}:\n  ${last}`;
  });

/** The time until all readers are equal after a kill. */
async function recovered(names: readonly string[], sinceMs: number): Promise<number> {
  try {
    return await crowd.recovered(names, sinceMs, 120_000);
  } catch (error) {
    throw new Error([(error as Error).message, ...said()].join('\n'));
  }
}

function publisher(...args: readonly string[]): PublishProcess {
  const keep = ['--keep-deletions', String(KEEP_DELETIONS_S)];
  const started = new PublishProcess({
    ...{ api, nats: nats.url },
    args: ['--kind', 'pods', ...keep, ...args],
  });
  publishers.push(started);
  onTestFinished(async () => {
    await started.end('SIGKILL');
  });
  return started;
}

/** The requests that the API server receives while its objects change. */
async function upstream(): Promise<unknown> {
  await crowd.api.call('churn', size.rate);
  await crowd.api.call('requests');
  await pause(size.windowMs);
  const counted = await crowd.api.call('requests');
  await crowd.api.call('rest');
  return counted;
}

function watchers(count: number, prefix: string) {
  return Array.from({ length: count }, (_, at) => ({
    name: `${prefix}-${at}`,
    namespace: `team-${at % size.namespaces}`,
  }));
}

describe('many readers', () => {
  it('J63: all readers equal the API server 10 s after the publisher or the NATS server was killed, and none of them is seen upstream', async () => {
    const lease = ['--lease', 'default/publisher', '--lease-seconds', '4'];
    const first = publisher(...lease);
    await first.says('pods: publishing');
    const second = publisher(...lease);
    await second.says('pods: standby');
    const ofMetadata = () => publisher('--as', 'metadata', '--bucket', 'meta');
    const metadata = ofMetadata();
    await metadata.says('pods: publishing');

    const all = Array.from({ length: 5 }, (_, at) => ({ name: `all-${at}`, namespace: '' }));
    await crowd.add(nats.url, 'k8s', all);
    say(`5 readers listed after ${await crowd.settled(crowd.names(), LISTED_MS)} ms`);
    // One streaming list of each publisher.
    expect(await crowd.api.call('requests')).toMatchObject({ watch: 3 });
    const few = await upstream();
    const half = size.watchers / 2;
    for (const name of ['one', 'two']) await crowd.add(nats.url, 'k8s', watchers(half, name));
    const asleep = await crowd.add(nats.url, 'k8s', watchers(4, 'asleep'));
    await crowd.openPage(nats.webSocketUrl, 'meta');
    const count = crowd.names().length;
    say(`${count} readers listed after ${await crowd.settled(crowd.names(), LISTED_MS)} ms`);
    expect(await upstream()).toEqual(few);
    say(`requests upstream in ${size.windowMs} ms: ${JSON.stringify(few)}`);

    await crowd.api.call('churn', size.rate);
    await pause(2_000);
    asleep.freeze();
    const asleepMs = Date.now();
    const awake = crowd.names(asleep);
    let startMs = Date.now();
    await Promise.all([first.end('SIGKILL'), metadata.end('SIGKILL')]);
    ofMetadata();
    const afterPublisher = await recovered(awake, startMs);
    say(`the publisher was killed: all equal after ${afterPublisher} ms`);

    startMs = Date.now();
    await nats.kill();
    await nats.run();
    const afterServer = await recovered(awake, startMs);
    say(`the NATS server was killed: all equal after ${afterServer} ms`);

    await pause(Math.max(0, asleepMs + KEEP_DELETIONS_S * 1_500 - Date.now()));
    startMs = Date.now();
    asleep.thaw();
    const afterSleep = await recovered(crowd.names(), startMs);
    say(`readers slept past the horizon: equal after ${afterSleep} ms`);

    await crowd.api.call('rest');
    say(`at rest: all equal after ${await crowd.settled(crowd.names(), 30_000)} ms`);
    say(`${crowd.judged} states of readers were compared with the API server`);
    expect(await crowd.differing()).toEqual([]);
    expect(crowd.wrong.slice(0, 5)).toEqual([]);
    expect(crowd.samples.filter(({ oddities }) => oddities > 0)).toEqual([]);
    const limit = { afterPublisher, afterServer, afterSleep };
    for (const [name, ms] of Object.entries(limit)) {
      expect(ms, `${name} in ${JSON.stringify(limit)}`).toBeLessThan(RECOVERED_MS);
    }
  }, 1_200_000);
});
