/** What every ListerWatcher's lists must show: complete, at a version, in pages. */
import { expect } from 'vitest';
import { History } from './history.ts';
import { isAtLeast, Listing, listed, Watching } from './reading.ts';
import { neverExpires, type Register, shows } from './scenario.ts';
import { type Traits, until } from './world.ts';

const noPages = ({ pages = false }: Traits) => !pages && 'its lists have no pages';

/** Registers the scenarios of lists. */
export function lists(it: Register): void {
  it('W80: a list has every object of its scope once, in its newest state, and a version that no object exceeds', async (world) => {
    const history = new History(world);
    for (const key of ['a/x', 'a/y', 'b/x', 'b/z']) await history.put(key, '1');
    await history.put('a/y', '2');
    await history.remove('b/x');
    await history.put('b/x', 'again');
    await history.remove('b/z');
    await world.settle();
    for (const namespace of [undefined, 'a', 'b', 'c']) {
      const source = world.listerWatcher(namespace);
      expect(source.scope ?? '').toBe(namespace ?? '');
      const { lines, states, metadata } = await listed(world, source);
      expect(lines).toEqual(history.truth(namespace));
      for (const { resourceVersion } of states) {
        expect(isAtLeast(metadata.resourceVersion, resourceVersion)).toBe(true);
      }
    }
  });

  it('W81: the list of an empty collection ends with a version from which a watch shows the first object', async (world) => {
    const history = new History(world);
    await world.settle();
    const source = world.listerWatcher('a');
    const { lines, metadata } = await listed(world, source);
    expect(lines).toEqual([]);
    const watching = new Watching(world, source, { version: metadata.resourceVersion });
    await until(world, 'the watch is answered', () => watching.isOpened);
    await history.put('b/elsewhere', '1');
    await history.put('a/first', '1');
    const own = history.states.filter(({ key }) => key === 'a/first');
    await shows(world, watching, own, history.truth('a'));
    watching.subscription.unsubscribe();
  });

  it(
    'W80: a list at a version shows everything that was written up to that version, or fails, and succeeds in the end',
    async (world) => {
      const history = new History(world);
      const source = world.listerWatcher();
      for (let round = 0; round < 5; round++) {
        const { resourceVersion } = await history.put('a/x', `${round}`);
        await until(world, 'a list succeeds', async () => {
          const listing = new Listing(world, source, { resourceVersion });
          await until(world, 'the list ends', () => listing.isOver);
          if (listing.error !== undefined) return false;
          expect(listing.lines).toEqual(history.truth());
          return true;
        });
      }
    },
    ({ waitsForVersion = false }) => !waitsForVersion && 'a list does not wait for a version',
  );

  it(
    'W1: pages together are the collection at the version of the first page, whatever changes between them',
    async (world) => {
      const history = new History(world);
      for (let at = 0; at < 7; at++) await history.put(`a/x${at}`, '1');
      await world.settle();
      const truth = history.truth();
      const source = world.listerWatcher();
      const lines: string[] = [];
      let version: string | undefined;
      let token: string | undefined;
      do {
        const page = await listed(world, source, {
          limit: 3,
          ...(token === undefined ? {} : { continue: token }),
        });
        expect(page.states.length).toBeLessThanOrEqual(3);
        lines.push(...page.lines);
        version ??= page.metadata.resourceVersion;
        expect(page.metadata.resourceVersion).toBe(version);
        token = page.metadata.continue;
        await history.put('a/x6', `${lines.length}`);
        await history.put(`a/y${lines.length}`, '1');
        await world.settle();
        expect(lines.length).toBeLessThan(10);
      } while (token !== undefined);
      expect(lines.sort()).toEqual(truth);
    },
    noPages,
  );

  it(
    'W84: the next page of a list whose version is forgotten fails with a 410',
    async (world) => {
      const history = new History(world);
      for (let at = 0; at < 4; at++) await history.put(`a/x${at}`, '1');
      await world.settle();
      const source = world.listerWatcher();
      const first = await listed(world, source, { limit: 3 });
      expect(first.metadata.continue).toBeTruthy();
      await history.put('a/z', '1');
      await world.compact();
      const more = { limit: 3, continue: first.metadata.continue ?? '' };
      const error = await listed(world, source, more).catch((caught) => caught);
      expect(error.isExpired, `the error of an old page: ${error}`).toBe(true);
    },
    (traits) => noPages(traits) || neverExpires(traits),
  );
}
