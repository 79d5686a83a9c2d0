/** Servers of users that are killed at random under load: how soon their users are right on another one, and whether a row was wrong. */
import { seededRandom } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NatsServer } from './nats-server.ts';
import { UserServers } from './user-servers.ts';

const { USER_SERVER_KILLS = '20', USER_SERVER_SEED = '1' } = process.env;
const USERS = 40;
const WARM_MS = 5_000;
const COLD_MS = 30_000;

let nats: NatsServer;
beforeAll(async () => {
  nats = await NatsServer.start();
});
afterAll(async () => {
  await nats.stop();
});

/** The least wait that is not exceeded by this share. */
const at = (waits: readonly number[], share: number) =>
  waits.toSorted((one, other) => one - other)[Math.ceil(waits.length * share) - 1] ?? Number.NaN;
const tell = (what: string, waits: readonly number[]) => {
  const [half, most] = [at(waits, 0.5), at(waits, 0.99)].map((ms) => ms.toFixed(0));
  process.stdout.write(`figures: ${what}: p50 ${half} ms, p99 ${most} ms, of ${waits.length}\n`);
};

describe('servers of users that read NATS', () => {
  it('E17: users of killed servers are right on the other within 5 s, and after a cold start within 30 s', async () => {
    const seed = Number(USER_SERVER_SEED);
    const random = seededRandom(seed);
    const scene = new UserServers(nats, { seed, lagMs: 0 });
    onTestFinished(() => scene.stop());
    await scene.start(USERS);
    const warm: number[] = [];
    for (let kill = 0; kill < Number(USER_SERVER_KILLS); kill++) {
      const server = random() < 0.5 ? 0 : 1;
      warm.push(...(await scene.end('SIGKILL', [server])));
      await scene.replace(server);
      await scene.share(server);
    }
    const { retried } = scene;
    const cold = await scene.end('SIGKILL', [0, 1], () => scene.replace(0));
    tell('users of a killed server are right on the other', warm);
    process.stdout.write(`figures: ${retried} of them needed more than one try\n`);
    tell('users are right on a server that has started after both were killed', cold);
    expect(scene.wrong).toEqual([]);
    expect(scene.asked).toEqual({ ofServers: 0, watches: 2 });
    expect(at(warm, 0.99)).toBeLessThanOrEqual(WARM_MS);
    expect(at(cold, 0.99)).toBeLessThanOrEqual(COLD_MS);
  }, 3_600_000);
});
