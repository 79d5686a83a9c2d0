/**
 * One seed over HTTP for the informer of `@kubernetes/client-node`, used as its examples show: started anew five seconds
 * after each error. The same server, writes, faults, proxy, judge and budget as for ours; its own times are divided as
 * ours are. Where the judge looks at content it looks here at UID and version only, because its lists hold dates where its
 * watches hold strings.
 */
import { CoreV1Api, KubeConfig, ListWatch, type V1Pod, Watch } from '@kubernetes/client-node';
import {
  createFakeApiServer,
  createFaultMachine,
  createTcpProxy,
  type ScriptedFault,
  seededRandom,
} from 'rx-informer/testing';
import { checkBudget, type Seen } from './budget.ts';
import { createHistory } from './history.ts';
import { compare, Story, type Thing, Truth } from './judge.ts';
import type { Outcome } from './outcome.ts';

const SPEED = 60;
const HEALS_WITHIN_MS = 15_000;
const RESTART_MS = 5_000 / SPEED;
const LIST_TIMEOUT_MS = 300_000 / SPEED;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** As the server saw them. */
function seenBy(requests: ReturnType<typeof createFakeApiServer>['requests']): Seen[] {
  return requests
    .filter(({ use }) => use !== 'call')
    .map(({ atMs, path, use }) => ({
      atMs,
      who: path,
      generation: 1,
      kind: use === 'watch' ? 'watch' : 'list',
    }));
}

export async function runClientNode(
  seed: number,
  without: readonly ScriptedFault['kind'][] = [],
): Promise<Outcome> {
  const chance = (salt: number) => seededRandom(seed * 101 + salt);
  const random = chance(1);
  const of = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const wrong: string[] = [];
  const server = createFakeApiServer({
    random: chance(2),
    bookmarkIntervalMs: 60_000 / SPEED,
    historyLimit: of([10_000, 20]),
  });
  const truth = new Truth();
  const history = createHistory({
    server,
    truth,
    random: chance(3),
    restores: random() < 0.2,
    huge: false,
  });
  for (let step = 0; step < 6; step++) history.step();
  const served = await server.serve();
  const proxy = await createTcpProxy({ target: served.url });
  const machine = createFaultMachine(server, {
    seed,
    proxy,
    depths: ['http', 'stream', 'tcp'],
    without: ['swap', ...without],
    meanMs: of([3_000, 10_000, 30_000]) / SPEED,
    maxForMs: of([5_000, 120_000]) / SPEED,
  });

  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'it', server: `http://127.0.0.1:${proxy.port}`, skipTLSVerify: true }],
    users: [{ name: 'it' }],
    contexts: [{ name: 'it', cluster: 'it', user: 'it' }],
    currentContext: 'it',
  });
  const api = config.makeApiClient(CoreV1Api);
  const watch = new Watch(config);
  Object.assign(watch, { requestTimeoutMs: 30_000 / SPEED });
  const informer = new ListWatch<V1Pod>(
    '/api/v1/pods',
    watch,
    () =>
      Promise.race([
        api.listPodForAllNamespaces(),
        // What undici would do after five minutes, which are not divided.
        sleep(LIST_TIMEOUT_MS).then(() => Promise.reject(new Error('the list took too long'))),
      ]),
    false,
    undefined,
    undefined,
    { delayFn: (ms: number) => sleep(ms / SPEED) },
  );
  const all = () => true;
  const story = new Story('client-node', truth, all, wrong);
  const plain = ({ metadata }: V1Pod): Thing => {
    const { name = '', namespace = '', uid = '', resourceVersion = '0' } = metadata ?? {};
    const state = truth.state(uid, BigInt(resourceVersion || '0'));
    return state ?? { metadata: { name, namespace, uid, resourceVersion: resourceVersion || '0' } };
  };
  let ended = false;
  informer.on('add', (pod) => story.add(plain(pod)));
  informer.on('update', (pod) => {
    const thing = plain(pod);
    story.update(story.has.get(thing.metadata.uid) ?? thing, thing);
  });
  informer.on('delete', (pod) => {
    const thing = plain(pod);
    const { uid } = thing.metadata;
    story.delete(uid, story.has.get(uid) ?? thing, thing);
  });
  const restart = () => {
    setTimeout(() => {
      if (!ended) informer.start().catch(restart);
    }, RESTART_MS);
  };
  informer.on('error', restart);

  const dice = chance(6);
  const meanMs = 10 + random() * 60;
  let stopped = false;
  const write = () => {
    if (stopped) return;
    history.step();
    setTimeout(write, -Math.log(1 - dice()) * meanMs);
  };
  write();
  informer.start().catch(restart);
  machine.start();
  await sleep(4_000 + random() * 4_000);
  machine.heal();
  stopped = true;

  const compareAll = (when: string) => {
    story.finish(when);
    compare(`store, ${when}`, informer.list().map(plain), truth, all, wrong);
  };
  const settle = async (when: string) => {
    const before = wrong.length;
    for (const endMs = Date.now() + HEALS_WITHIN_MS; ; await sleep(50)) {
      wrong.length = before;
      compareAll(when);
      if (wrong.length === before || Date.now() > endMs) return;
    }
  };
  const before = wrong.length;
  await settle('healed');
  if (wrong.length === before) {
    history.step();
    await settle('alive');
  }
  const budget = { baseMs: 18, capMs: 450 };
  const load = checkBudget(seenBy(server.requests), budget, wrong);
  ended = true;
  story.leave();
  await informer.stop();
  history.step();
  await sleep(300);
  await proxy.close();
  await served.close();
  return {
    seed,
    what: 'all namespaces',
    wrong,
    writes: history.writes,
    faults: machine.played.map(({ fault }) => JSON.stringify(fault)),
    requests: server.requests.length,
    told: story.told,
    load,
  };
}
