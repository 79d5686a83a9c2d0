/** Random histories of the model of a ring. A seed determines a history. */

import { seededRandom } from 'rx-informer/testing';
import { nextMember } from '../../lib/shards/ring-member.ts';
import { winnerOf } from '../../lib/shards/ring-record.ts';
import { LEASE_MS, type Process, World } from './ring-model.ts';

/** A member that may go, so that another one remains. */
function leaver(world: World): Process | undefined {
  const staying = world.living.filter(({ leaves }) => !leaves);
  return staying.length > 1 ? world.pick(staying) : undefined;
}

/** One thing that happens in a history. */
const EVENTS: Readonly<Record<string, (world: World) => void>> = {
  start: (world) => {
    if (world.living.length < 6) world.start();
  },
  restart: (world) => {
    const victim = leaver(world);
    victim?.kill();
    if (victim !== undefined) world.start(victim.identity);
  },
  kill: (world) => leaver(world)?.kill(),
  leave: (world) => leaver(world)?.leave(),
  pause: (world) => world.pick(world.living)?.pause(world.random() * 3 * LEASE_MS),
  stall: (world) => world.pick(world.living)?.pause(world.random() * 400),
  'ring deleted': (world) => {
    world.server.ring = undefined;
  },
  'Lease deleted': (world) => {
    const id = world.pick([...world.server.leases.keys()]);
    if (id !== undefined) world.server.leases.delete(id);
  },
  'server gone': (world) => {
    world.weather.down = true;
    world.after(world.random() * 2 * LEASE_MS, () => {
      world.weather.down = false;
    });
  },
};

/** Plays a history, then waits until all messages have arrived. */
export function play(seed: number, next = nextMember): World {
  const random = seededRandom(seed);
  const weather = {
    lost: random() < 0.5 ? 0 : random() * 0.2,
    late: random() < 0.5 ? 0 : random() * 0.6,
    slow: random() < 0.5 ? 0 : random() * 0.1,
    down: false,
  };
  const world = new World(random, weather, next);
  for (let at = 0; at < 3; at++) world.start();
  const names = Object.keys(EVENTS);
  for (let at = 0; at < 25; at++) {
    world.time.elapse(random() * (random() < 0.3 ? 2 * LEASE_MS : 1_500));
    const name = world.pick(names) ?? '';
    EVENTS[name]?.(world);
  }
  Object.assign(weather, { lost: 0, late: 0, slow: 0 });
  world.time.elapse(6 * LEASE_MS);
  weather.down = false;
  return world;
}

/** Whether each slot is owned by the member that must own it, and nothing is left to be done. */
export function isSettled({ server, owners, living }: World): boolean {
  const record = server.seenRing?.record;
  if (record === undefined || record.releasing.length > 0) return false;
  const ids = living.map(({ member }) => member.id);
  if (record.members.join() !== ids.toSorted().join()) return false;
  return owners.every((owner, slot) => winnerOf(slot, record.members).startsWith(`${owner}.`));
}
