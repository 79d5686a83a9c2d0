/** Tests that the random lives find each safeguard of a warm start that is taken out. */
import { describe, expect, it } from 'vitest';
import { firstWrong, seedsUpTo } from '../support/campaign.ts';
import type * as Lives from './lives.ts';
import { type PlantedFault, withFault } from './planted-faults.ts';

const warm = (from: string, to: string): PlantedFault => ({
  file: 'lib/persist/warm-list-watch.ts',
  from,
  to,
});
const keeper = (from: string, to: string): PlantedFault => ({
  file: 'lib/persist/keeper.ts',
  from,
  to,
});

const FAULTS: readonly (readonly [string, PlantedFault])[] = [
  ['a server that is older is not noticed', warm('if (order > 0) {', 'if (order > 1) {')],
  [
    'the end mark does not wait for the version of the server',
    warm('if (!isOlder(this.#at, this.#target)) events', 'events'),
  ],
  [
    'the end mark comes before the changes',
    warm('if (order === 0) subscriber.next', 'subscriber.next'),
  ],
  [
    'the stored collection of another head is used',
    {
      file: 'lib/persist/snapshot-head.ts',
      from: 'stored.head === head &&',
      to: '',
    },
  ],
  [
    'the id does not depend on the identity, nor does the head',
    {
      file: 'lib/persist/snapshot-head.ts',
      from: 'server: collection.client.baseUrl, cluster, identity }',
      to: 'server: collection.client.baseUrl, cluster }',
    },
  ],
  ['forbidden objects stay in the informer', keeper("if (how === 'refused') this.#hide();", '')],
  ['forbidden objects stay in the store', keeper('count as not stored.\n    this.#delete();', '')],
  ['forbidden objects are stored again', keeper('&& !this.#isRefused', '')],
  [
    'a failure of the server ends the warm start',
    warm('if (isPassing) return', 'if (isPassing && !error) return'),
  ],
  [
    'changes of the warm start are not written',
    keeper('this.#dirty = this.#changed;', 'this.#dirty = new Set();'),
  ],
  [
    'the changes of a failed try are not forgotten, and those of a new one not noted',
    warm("if (event.type !== 'BOOKMARK') this.#from.changed(event.key);", ''),
  ],
  [
    'deleted objects are not written',
    keeper('if (object === undefined) deleted.push(key);', 'if (object === undefined) continue;'),
  ],
  [
    'the version of the store is that of the last write, not of the objects',
    keeper(
      "case 'bookmark':\n        return move(",
      "case 'bookmark':\n        this.#version = String(Number(delta.resourceVersion) + 1);\n        return move(",
    ),
  ],
];

// Each fault builds the sources once more, so the gate and the nightly run plant them: `npm run test:histories`.
describe.runIf(process.env['PLANTED_FAULTS'])('planted faults', () => {
  it.each(FAULTS.map(([what, fault], at) => ({ what, fault, at })))(
    'P21: the random lives find that $what',
    async ({ fault, at }) => {
      const { live } = await withFault<typeof Lives>('spec/persist/lives.ts', fault, at);
      expect(await firstWrong(seedsUpTo(150), live)).toBeDefined();
    },
  );
});
