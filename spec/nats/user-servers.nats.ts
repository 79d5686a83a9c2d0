/** Two servers of users behind one address, with a real nats-server and real sockets: one of them is killed, or drained, under load. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isGate } from '../support/gate.ts';
import { NatsServer } from './nats-server.ts';
import { UserServers } from './user-servers.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await NatsServer.start();
});
afterAll(async () => {
  await nats.stop();
});

describe('two servers of users that read NATS', () => {
  it('E17: users of a server that is killed or drained see the same or newer on the other, which is behind, and the API server is asked nothing', async () => {
    const scene = new UserServers(nats, { seed: 1, lagMs: 1_500 });
    onTestFinished(() => scene.stop());
    await scene.start(20);
    const moved: number[] = [];
    const ending = [
      ['SIGKILL', 0],
      ['SIGTERM', 1],
      ['SIGKILL', 0],
    ] as const;
    for (const [signal, at] of isGate ? ending.slice(0, 2) : ending) {
      const waits = await scene.end(signal, [at]);
      moved.push(waits.length);
      await scene.replace(at);
      await scene.share(at);
    }
    expect(scene.wrong).toEqual([]);
    // The publishers have one watch of each kind.
    expect(scene.asked).toEqual({ ofServers: 0, watches: 2 });
    expect(Math.min(...moved)).toBeGreaterThan(4);
    const ends = scene.users.flatMap((user) => user.ends);
    expect(ends.some((each) => each.includes('the server restarts (1012)'))).toBe(true);
  });
});
