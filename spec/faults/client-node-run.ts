/**
 * Runs one seed over HTTP for the informer of `@kubernetes/client-node`, used as in its examples: started again five
 * seconds after each error. Server, writes, faults, proxy, judge and budget are those of this library's runs, and the
 * times of client-node are scaled in the same way. The judge compares UID and version only, because the lists of
 * client-node contain dates where its watches contain strings.
 */
import { CoreV1Api, KubeConfig, ListWatch, type V1Pod, Watch } from '@kubernetes/client-node';
import type { createFakeApiServer, ScriptedFault } from 'rx-informer/testing';
import { createBesideStage, sleep } from './beside-stage.ts';
import { checkBudget, type Seen } from './budget.ts';
import { compare, Story } from './judge.ts';
import type { Outcome } from './outcome.ts';

const SPEED = 60;
const HEALS_WITHIN_MS = 15_000;
const RESTART_MS = 5_000 / SPEED;
const LIST_TIMEOUT_MS = 300_000 / SPEED;

/** The requests that the server received. */
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
  const stage = await createBesideStage({
    seed,
    without,
    speed: SPEED,
    healsWithinMs: HEALS_WITHIN_MS,
  });
  const { server, truth, history, machine, wrong } = stage;

  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'it', server: stage.url, skipTLSVerify: true }],
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
        // undici would time out after five minutes, which cannot be scaled.
        sleep(LIST_TIMEOUT_MS).then(() => Promise.reject(new Error('the list took too long'))),
      ]),
    false,
    undefined,
    undefined,
    { delayFn: (ms: number) => sleep(ms / SPEED) },
  );
  const all = () => true;
  const story = new Story('client-node', truth, all, wrong);
  const plain = ({ metadata = {} }: V1Pod) => stage.known(metadata);
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

  await stage.play(
    () => void informer.start().catch(restart),
    (when, ends) => {
      compare(`client-node, ${when}`, story.has.values(), truth, all, ends);
      compare(`store, ${when}`, informer.list().map(plain), truth, all, ends);
    },
  );
  const budget = { baseMs: 18, capMs: 450 };
  const load = checkBudget(seenBy(server.requests), budget, wrong);
  ended = true;
  story.leave();
  await informer.stop();
  history.step();
  await sleep(300);
  await stage.close();
  return {
    seed,
    what: 'all namespaces',
    wrong,
    writes: history.writes,
    faults: machine.played.map(({ fault }) => JSON.stringify(fault)),
    requests: server.requests.length,
    notified: story.notified,
    load,
  };
}
