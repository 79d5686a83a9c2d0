/**
 * The stage for the other informers that are compared: per seed a server behind a proxy, its history, its faults, and
 * the wait until the informer is right again.
 */
import {
  createFakeApiServer,
  createFaultMachine,
  createTcpProxy,
  type FakeApiServer,
  type FaultMachine,
  type ScriptedFault,
  seededRandom,
} from 'rx-informer/testing';
import { createHistory, type History } from './history.ts';
import { type Thing, Truth } from './judge.ts';

export interface BesideOptions {
  readonly seed: number;
  readonly without: readonly ScriptedFault['kind'][];
  /** The factor by which faults and writes are faster. */
  readonly speed: number;
  readonly healsWithinMs: number;
  /** A front in front of the server, behind the proxy. */
  readonly front?: (target: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
}

export interface BesideStage {
  readonly server: FakeApiServer;
  readonly truth: Truth;
  readonly history: History;
  readonly machine: FaultMachine;
  readonly wrong: string[];
  /** The URL of the server, through the proxy. */
  readonly url: string;
  /** When the last fault ended. */
  readonly healedAtMs: number;
  /** The recorded state with this UID and version, or a placeholder if the server never had it. */
  known(
    metadata: {
      readonly [Name in 'name' | 'namespace' | 'uid' | 'resourceVersion']?: string | undefined;
    },
  ): Thing;
  /**
   * Starts the informer, writes and injects faults, then heals, and compares until nothing is wrong or the time has
   * passed; then once more after one more write. Records what is wrong in the end, and resolves to whether anything
   * was.
   */
  play(start: () => void, compareAll: CompareAll): Promise<boolean>;
  /** Cuts all connections, and resolves to whether everything was right in time. Records nothing. */
  cut(compareAll: CompareAll, withinMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Adds to `ends` each difference between a copy and the truth. */
export type CompareAll = (when: string, ends: string[]) => void | Promise<void>;

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export async function createBesideStage(options: BesideOptions): Promise<BesideStage> {
  const { seed, without, speed, healsWithinMs } = options;
  const chance = (salt: number) => seededRandom(seed * 101 + salt);
  const random = chance(1);
  const of = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const wrong: string[] = [];
  const server = createFakeApiServer({
    random: chance(2),
    bookmarkIntervalMs: 60_000 / speed,
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
  const front = await options.front?.(served.url);
  const target = front?.url ?? served.url;
  const proxy = await createTcpProxy({ target });
  const machine = createFaultMachine(server, {
    seed,
    proxy,
    depths: ['http', 'stream', 'tcp'],
    without: ['swap', ...without],
    meanMs: of([3_000, 10_000, 30_000]) / speed,
    maxForMs: of([5_000, 120_000]) / speed,
  });

  /** Returns what is still wrong when the time has passed. */
  const settle = async (compareAll: CompareAll, when: string, withinMs: number) => {
    for (const endMs = Date.now() + withinMs; ; await sleep(3_000 / speed)) {
      const late = Date.now() > endMs;
      const ends: string[] = [];
      await compareAll(when, ends);
      if (ends.length === 0 || late) return ends;
    }
  };

  let healedAtMs = 0;
  return {
    server,
    truth,
    history,
    machine,
    wrong,
    url: `${new URL(target).protocol}//127.0.0.1:${proxy.port}`,
    get healedAtMs() {
      return healedAtMs;
    },
    known({ name = '', namespace = '', uid = '', resourceVersion }) {
      const version = resourceVersion || '0';
      const state = truth.state(uid, BigInt(version));
      return state ?? { metadata: { name, namespace, uid, resourceVersion: version } };
    },
    async play(start, compareAll) {
      const dice = chance(6);
      const meanMs = ((10 + random() * 60) * 60) / speed;
      let stopped = false;
      const write = () => {
        if (stopped) return;
        history.step();
        setTimeout(write, -Math.log(1 - dice()) * meanMs);
      };
      write();
      start();
      machine.start();
      await sleep(((4_000 + random() * 4_000) * 60) / speed);
      machine.heal();
      healedAtMs = Date.now();
      stopped = true;
      const ends = await settle(compareAll, 'healed', healsWithinMs);
      if (ends.length === 0) {
        history.step();
        ends.push(...(await settle(compareAll, 'alive', healsWithinMs)));
      }
      wrong.push(...ends);
      return ends.length > 0;
    },
    async cut(compareAll, withinMs) {
      proxy.drop();
      return (await settle(compareAll, 'cut', withinMs)).length === 0;
    },
    async close() {
      await proxy.close();
      await front?.close();
      await served.close();
    },
  };
}
