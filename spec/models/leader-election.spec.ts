/**
 * Model test of leader election with delays, losses, clocks that disagree or stand still, overlapping starts and stops, a deleted Lease, and busy
 * clients: two electors never lead at the same time, and in the end one leads.
 */

import { ApiError, createClient, createLeaderElector, type LeaderElector } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { FALSE_ANSWERS, type Fate, leaseServer } from '../controller/lease-server.ts';
import { Clock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';

const place = { namespace: 'shop', name: 'billing' };
const STORY_MS = 150_000;

const aFate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>({}) },
  {
    weight: 4,
    arbitrary: fc.record({
      thereMs: fc.integer({ min: 0, max: 9_000 }),
      backMs: fc.integer({ min: 0, max: 9_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Fate>({ lost: 'request' }, { lost: 'answer' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...FALSE_ANSWERS).map((instead): Fate => ({ instead })),
  },
  { weight: 1, arbitrary: fc.constant<Fate>({ error: ApiError.fromStatus({}, 500) }) },
);
const aMoment = fc.integer({ min: 0, max: STORY_MS });
const anElector = fc.record({
  aheadMs: fc.integer({ min: -1e7, max: 1e7 }),
  rate: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
  jumps: fc.array(fc.tuple(aMoment, fc.integer({ min: -1e6, max: 1e6 })), { maxLength: 4 }),
  haltMs: fc.option(aMoment),
  startMs: fc.integer({ min: 0, max: 5_000 }),
  // Several calls in one turn, or during the previous one.
  calls: fc.array(
    fc.record({
      atMs: aMoment,
      what: fc.constantFrom('stop', 'start', 'stop start', 'stop start stop', 'stop stop start'),
    }),
    { maxLength: 4 },
  ),
  floods: fc.array(fc.tuple(aMoment, fc.integer({ min: 1, max: 200 })), { maxLength: 2 }),
});
const aStory = fc.record({
  electors: fc.array(anElector, { minLength: 2, maxLength: 3 }),
  fates: fc.array(aFate, { minLength: 40, maxLength: 120 }),
  deletedMs: fc.option(fc.integer({ min: 10_000, max: STORY_MS })),
});
type Story = typeof aStory extends fc.Arbitrary<infer S> ? S : never;

/** Records violations when they happen. */
function watched(electors: LeaderElector[], now: () => number) {
  const wrong: string[] = [];
  const notified = new Set<string>();
  let changes = 0;
  const check = () => {
    const asked = electors.filter(({ isLeading }) => isLeading).map(({ identity }) => identity);
    for (const leaders of [[...notified], asked]) {
      if (leaders.length > 1) wrong.push(`${now()}: ${leaders.join(' and ')} lead`);
    }
  };
  const follow = (elector: LeaderElector) => {
    elector.leading$.subscribe({
      next: (leads) => {
        changes++;
        if (leads) notified.add(elector.identity);
        else notified.delete(elector.identity);
        check();
      },
      complete: () => {
        if (notified.has(elector.identity))
          wrong.push(`${now()}: ${elector.identity} ends as leader`);
        follow(elector);
      },
    });
  };
  return {
    wrong,
    follow,
    get changes() {
      return changes;
    },
  };
}

function staged(story: Story, dice: () => number) {
  const scheduler = new VirtualTime();
  const server = leaseServer(scheduler);
  let request = 0;
  server.fate = () => story.fates[request++ % story.fates.length] ?? {};
  const electors: LeaderElector[] = [];
  const watch = watched(electors, () => scheduler.now());
  const on = new Map<LeaderElector, boolean>();
  // The electors that have read the Lease. A response to an elector that stops in the same turn is not read.
  const knowing = new Set<LeaderElector>();
  const learn = (elector: LeaderElector): void => {
    const next = (leader: string) => void (leader === '' || knowing.add(elector));
    elector.leader$.subscribe({ next, complete: () => learn(elector) });
  };
  for (const [at, each] of story.electors.entries()) {
    const identity = `e${at}`;
    const own = new Clock(scheduler, each.aheadMs, each.rate);
    const transport = server.transport(identity);
    // Its clock never stands still: where the system's does, the rate is measured by the monotonic one.
    const rated = new Clock(scheduler, each.aheadMs, each.rate);
    const client = createClient({ baseUrl: '', transport, scheduler: rated, qps: 2, burst: 2 });
    const elector = createLeaderElector({
      ...{ ...place, client, identity, scheduler: own, random: dice, onError: () => undefined },
    });
    electors.push(elector);
    watch.follow(elector);
    learn(elector);
    const call = (what: string) => {
      for (const word of what.split(' ')) {
        on.set(elector, word === 'start');
        if (word === 'start') elector.start();
        else void elector.stop();
      }
    };
    scheduler.schedule(() => call('start'), each.startMs);
    for (const { atMs, what } of each.calls) scheduler.schedule(() => call(what), atMs);
    for (const [atMs, jump] of each.jumps) scheduler.schedule(() => own.set(jump), atMs);
    if (each.haltMs !== null) scheduler.schedule(() => own.halt(), each.haltMs);
    for (const [atMs, count] of each.floods) {
      scheduler.schedule(() => {
        for (let one = 0; one < count; one++) void client.request({ path: '/api/v1/pods' });
      }, atMs);
    }
  }
  if (story.deletedMs !== null) {
    scheduler.schedule(() => {
      // A candidate that has never seen the Lease creates it immediately, as does a creation that is on its way.
      if (electors.every((elector) => knowing.has(elector)) && server.creating === 0)
        server.lease = undefined;
    }, story.deletedMs);
  }
  return { scheduler, server, electors, watch, on };
}

describe('electors', () => {
  it('N13, N21, N22: never lead at the same time, and in the end one leads', async () => {
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(
        aStory,
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (story, dice) => {
          const { scheduler, server, electors, watch, on } = staged(story, () => dice.next().value);
          await scheduler.advance(STORY_MS);
          expect(watch.wrong).toEqual([]);
          server.fate = () => ({});
          await scheduler.advance(60_000);
          server.log.length = 0;
          await scheduler.advance(30_000);
          // The last call counts.
          const competing = electors.filter((elector) => on.get(elector));
          const silent = electors.filter((elector) => !on.get(elector));
          for (const { identity } of silent) {
            expect(server.log.filter((line) => line.startsWith(`${identity} `))).toEqual([]);
          }
          expect(electors.filter(({ isLeading }) => isLeading).length).toBe(
            competing.length > 0 ? 1 : 0,
          );
          const stopped = Promise.all(electors.map((elector) => elector.stop()));
          // Two floods of a client with a slow clock last for 220 s.
          await scheduler.advance(300_000);
          await stopped;
          expect([watch.wrong, scheduler.pending]).toEqual([[], 0]);
          changes += watch.changes;
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
    expect(changes).toBeGreaterThan(300);
  });

  it('N13, T10: keep the lead if their client is busy', async () => {
    await fc.assert(
      fc.asyncProperty(aStory, async (story) => {
        const quiet: Story = {
          deletedMs: null,
          fates: [{ thereMs: 100, backMs: 100 }],
          electors: story.electors.map((each) => ({ ...each, jumps: [], calls: [] })),
        };
        const { scheduler, server, electors, watch } = staged(quiet, () => 0.5);
        await scheduler.advance(10_000);
        const { changes } = watch;
        await scheduler.advance(STORY_MS);
        expect(watch.changes).toBe(changes);
        expect(electors.filter(({ isLeading }) => isLeading)).toHaveLength(1);
        server.fate = () => ({});
        const stopped = Promise.all(electors.map((elector) => elector.stop()));
        await scheduler.advance(300_000);
        await stopped;
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });
});
