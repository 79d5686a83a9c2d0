/** What every ListerWatcher's watches must show: no gap, no repetition, the order of versions, bookmarks, a 410. */
import { expect } from 'vitest';
import { History, lineOf } from './history.ts';
import { isAtLeast, listed, Watching } from './reading.ts';
import { agrees, neverExpires, type Register, shows } from './scenario.ts';
import { until } from './world.ts';

/** Registers the scenarios of watches. */
export function watches(it: Register): void {
  it('W81: a watch from the version of a list shows everything after that list, in order, and nothing before it', async (world) => {
    const history = new History(world);
    for (const key of ['a/x', 'a/y', 'a/z']) await history.put(key, '1');
    await world.settle();
    const source = world.listerWatcher();
    const { states, metadata } = await listed(world, source);
    const before = history.states.length;
    // Before the watch is requested.
    await history.put('a/x', '2');
    await history.remove('a/y');
    await world.settle();
    const watching = new Watching(world, source, { states, version: metadata.resourceVersion });
    await until(world, 'the watch is answered', () => watching.isOpened);
    await history.put('b/new', '1');
    await history.put('a/x', '3');
    await shows(world, watching, history.states.slice(before), history.truth());
    watching.subscription.unsubscribe();
  });

  it('W83: a watch resumes from each version that was shown, and shows what follows it', async (world) => {
    const history = new History(world);
    await history.put('a/x', '0');
    await world.settle();
    const source = world.listerWatcher();
    const { states, metadata } = await listed(world, source);
    const first = new Watching(world, source, { states, version: metadata.resourceVersion });
    const points = [{ version: first.version, states: [...first.state.values()], at: 1 }];
    for (let round = 1; round <= 4; round++) {
      const at = history.states.length;
      await history.put('a/x', `${round}`);
      if (round === 2) await history.remove('a/x');
      if (round === 3) await history.put('a/y', `${round}`);
      const truth = history.truth();
      await until(world, `round ${round} is shown`, () => first.truth.join() === truth.join());
      expect(history.states.length).toBeGreaterThan(at);
      const { length } = history.states;
      points.push({ version: first.version, states: [...first.state.values()], at: length });
    }
    first.subscription.unsubscribe();
    await world.disconnect();
    for (const { version, states: known, at } of points) {
      const resumed = new Watching(world, source, { states: known, version });
      await shows(world, resumed, history.states.slice(at), history.truth());
      resumed.subscription.unsubscribe();
    }
  });

  it('W85: versions of a watch never fall, and an object that was created again has another UID', async (world) => {
    const history = new History(world);
    await history.put('a/x', '0');
    await world.settle();
    const source = world.listerWatcher();
    const { states, metadata } = await listed(world, source);
    const watching = new Watching(world, source, { states, version: metadata.resourceVersion });
    await until(world, 'the watch is answered', () => watching.isOpened);
    for (let round = 0; round < 10; round++) {
      await history.remove('a/x');
      await history.put('a/x', `${round}`);
      await history.put(`b/y${round % 3}`, `${round}`);
    }
    await shows(world, watching, history.states.slice(1), history.truth());
    const uids = new Set(history.states.filter(({ key }) => key === 'a/x').map(({ uid }) => uid));
    expect(uids.size).toBe(11);
    watching.subscription.unsubscribe();
  });

  it(
    'W84: a version that is too old fails with a 410, and a list and a watch after it work',
    async (world) => {
      const history = new History(world);
      await history.put('a/x', '1');
      await world.settle();
      const source = world.listerWatcher();
      const old = await listed(world, source);
      await history.put('a/x', '2');
      await history.remove('a/x');
      await history.put('a/y', '1');
      await world.settle();
      await world.compact();
      const refused = new Watching(world, source, { version: old.metadata.resourceVersion });
      await until(world, 'the watch fails', () => refused.isOver);
      expect(refused.events).toEqual([]);
      expect(refused.error?.isExpired, `the error: ${refused.error}`).toBe(true);
      const { states, metadata, lines } = await listed(world, source);
      expect(lines).toEqual(history.truth());
      const watching = new Watching(world, source, { states, version: metadata.resourceVersion });
      await history.put('a/z', '1');
      await shows(world, watching, history.states.slice(-1), history.truth());
      watching.subscription.unsubscribe();
    },
    neverExpires,
  );

  it(
    'W85: bookmarks keep the version of a quiet watch new: no event after a bookmark is older, and a watch resumes from it after older versions are forgotten',
    async (world) => {
      const history = new History(world);
      await history.put('a/x', '1');
      await world.settle();
      const source = world.listerWatcher();
      const { states, metadata } = await listed(world, source);
      const watching = new Watching(world, source, { states, version: metadata.resourceVersion });
      await until(world, 'the watch is answered', () => watching.isOpened);
      await world.advance();
      const isNewer = () => !isAtLeast(metadata.resourceVersion, watching.version);
      await until(world, 'a bookmark shows a newer version', isNewer);
      await world.compact();
      const resumed = new Watching(world, source, { states, version: watching.version });
      await until(world, 'the resumed watch is answered', () => resumed.isOpened || resumed.isOver);
      await history.put('a/x', '2');
      await history.put('a/y', '1');
      for (const watch of [watching, resumed]) {
        await shows(world, watch, history.states.slice(1), history.truth());
        watch.subscription.unsubscribe();
      }
    },
    (traits) => (traits.bookmarks ? neverExpires(traits) : 'bookmarks are rare, or there are none'),
  );

  it(
    'W80: a streaming list shows every object before its only end mark, and every change after it',
    async (world) => {
      const history = new History(world);
      for (const key of ['a/x', 'a/y', 'b/x']) await history.put(key, '1');
      await world.settle();
      const source = world.listerWatcher();
      const before = history.truth();
      const watching = new Watching(
        world,
        source,
        { version: '' },
        {
          resourceVersionMatch: 'NotOlderThan',
          sendInitialEvents: true,
        },
      );
      await until(world, 'the end mark arrives', () => watching.endMarkAt !== undefined);
      const initial = watching.events.slice(0, watching.endMarkAt).map(lineOf).sort();
      expect(initial).toEqual(before);
      for (const { resourceVersion } of watching.state.values()) {
        expect(isAtLeast(watching.version, resourceVersion)).toBe(true);
      }
      const { length } = watching.events;
      await history.put('a/x', '2');
      await history.remove('b/x');
      await until(
        world,
        'the changes arrive',
        () => watching.truth.join() === history.truth().join(),
      );
      agrees(world, watching.events.slice(length).map(lineOf), history.states.slice(3));
      expect(watching.endMarkAt).toBe(length);
      watching.subscription.unsubscribe();
    },
    ({ streams = false }) => !streams && 'a watch of it does not begin with a list',
  );

  it(
    'W83: a watch ends without an error after its timeout, and the next one continues from its version',
    async (world) => {
      const history = new History(world);
      await history.put('a/x', '1');
      await world.settle();
      const source = world.listerWatcher();
      const { states, metadata } = await listed(world, source);
      const from = { states, version: metadata.resourceVersion };
      const watching = new Watching(world, source, from, { timeoutSeconds: 1 });
      await until(world, 'the watch is answered', () => watching.isOpened);
      await history.put('a/x', '2');
      await until(world, 'the watch ends', () => watching.isOver);
      expect([watching.isComplete, watching.error]).toEqual([true, undefined]);
      await history.put('a/x', '3');
      const next = new Watching(world, source, {
        states: watching.state.values(),
        version: watching.version,
      });
      await until(world, 'the change arrives', () => next.truth.join() === history.truth().join());
      agrees(world, [...watching.events, ...next.events].map(lineOf), history.states.slice(1));
      next.subscription.unsubscribe();
    },
    ({ timesOut = false }) => !timesOut && 'its watches have no timeout',
  );
}
