/**
 * Model test of refused objects through the complete pipe: any writes, any boundaries of chunks, transforms and index functions that
 * refuse and recover, and a demand that opens and closes. Each existing object is either in the store or refused in its current
 * version; objects that do not exist are neither.
 */

import {
  ApiError,
  addEventHandler,
  createListWatch,
  createPollingListWatch,
  createSharedInformer,
  type SharedInformer,
} from 'rx-informer';
import { BehaviorSubject, filter, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compressions } from '../delta/compressions.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { decodings } from '../support/decodings.ts';
import * as fc from '../support/fast-check.ts';
import { HandFedServer, type Thing, things } from '../support/hand-fed-server.ts';

const RESYNC_MS = 1_000;
const POLL_MS = 300;

type Mode = 'pages' | 'stream' | 'poll';
interface Setting {
  readonly mode: Mode;
  readonly compression: 'none' | 'latest';
  readonly namespace: string | undefined;
  readonly decoding: keyof typeof decodings;
}

/** An informer whose transform refuses red objects, and whose index function refuses blue ones. */
class World {
  readonly time = new VirtualTime();
  readonly server = new HandFedServer(this.time);
  readonly refuses = { red: false, blue: false };
  readonly open = new BehaviorSubject(true);
  readonly informer: SharedInformer<Thing>;
  readonly handled = new Map<string, Thing>();
  readonly #mode: Mode;
  readonly #namespace: string | undefined;
  /** Whether every version that the server has given reaches the store. */
  readonly #isComplete: boolean;

  constructor({ mode, compression, namespace, decoding }: Setting) {
    this.#mode = mode;
    // '' means all namespaces.
    this.#namespace = namespace || undefined;
    this.#isComplete = this.#namespace === undefined && compression === 'none';
    const scheduler = this.time;
    const source = createListWatch(this.server.client, things, {
      scheduler,
      decoding: decodings[decoding],
      ...(namespace === undefined ? {} : { namespace }),
      transform: (thing) => this.#judge(thing, 'red'),
    });
    const polling = { scheduler, intervalMs: POLL_MS, random: () => 0 };
    const forEver = Number.MAX_SAFE_INTEGER;
    this.informer = createSharedInformer(
      mode === 'poll' ? createPollingListWatch(source, polling) : source,
      {
        scheduler,
        compression: compressions[compression],
        random: () => 0,
        backoff: () => 0,
        resyncPeriodMs: RESYNC_MS,
        initialList: mode === 'stream' ? 'stream' : 'pages',
        idleTimeoutMs: forEver,
        requestTimeoutMs: forEver,
        pauseLimitMs: forEver,
        demand: () => (this.open.value ? null : this.open.pipe(filter(Boolean), take(1))),
        indexers: { colour: (thing) => [this.#judge(thing, 'blue').colour] },
      },
    );
    const keep = (thing: Thing) => this.handled.set(this.informer.indexer.keyOf(thing), thing);
    addEventHandler(this.informer, {
      onAdd: keep,
      onUpdate: (_previous, thing) => keep(thing),
      onDelete: ({ key }) => this.handled.delete(key),
    });
    this.informer.start();
  }

  #judge(thing: Thing, colour: 'red' | 'blue'): Thing {
    if (thing.colour === colour && this.refuses[colour]) throw new Error(`${colour} is refused`);
    return thing;
  }

  /** Waits until everything that was written has arrived: the demand is open and a watch is open. */
  settle(): void {
    this.open.next(true);
    for (let turn = 0; turn < 6; turn++) {
      const { answer } = this.server;
      if (answer?.kind === 'stream' && !this.informer.hasSynced) this.server.markEnd();
      else if (answer?.kind === 'stream' && this.informer.status.phase === 'streaming') {
        this.server.markEnd();
      }
      answer?.feed();
      this.time.elapse(this.#mode === 'poll' ? POLL_MS : 0);
    }
    // The last poll was requested before the last list arrived.
    this.server.answer?.feed();
    expect(this.informer.status).toMatchObject({ phase: 'watching', synced: true });
  }

  check(): void {
    this.settle();
    const { indexer } = this.informer;
    const shown: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const [key, { metadata, colour }] of this.server.now) {
      if (this.#namespace !== undefined && metadata.namespace !== this.#namespace) continue;
      const { resourceVersion } = metadata;
      // An object that may be refused may also be stored, depending on when it was decided.
      const isRefused =
        colour !== 'plain' && indexer.refused.get(key)?.resourceVersion === resourceVersion;
      expected[key] = `${isRefused ? 'refused' : 'stored'} ${resourceVersion}`;
    }
    for (const thing of indexer.list()) {
      const { resourceVersion } = thing.metadata;
      const key = indexer.keyOf(thing);
      // An accepted older version of a refused object stays in the store.
      if (indexer.refused.get(key) === undefined) shown[key] = `stored ${resourceVersion}`;
    }
    for (const key of indexer.refused.keys()) {
      shown[key] = `refused ${indexer.refused.get(key)?.resourceVersion}`;
    }
    expect(shown).toEqual(expected);
    expect(this.informer.status.refused).toBe(indexer.refused.size);
    // Everything has arrived, so no wait for a version may be left. A namespace does not show the writes to others, and
    // with `latestPerKey` an object that came and went leaves nothing.
    if (this.#isComplete) expect(indexer.resourceVersion).toBe(this.server.version);
    expect(this.handled).toEqual(new Map(indexer.list().map((it) => [indexer.keyOf(it), it])));
  }

  /** Ends all refusals: at the next resync the store contains what the server has. */
  recover(): void {
    this.settle();
    this.refuses.red = false;
    this.refuses.blue = false;
    this.time.elapse(RESYNC_MS);
    this.settle();
    const { indexer } = this.informer;
    const all = [...this.server.now].filter(
      ([, { metadata }]) => this.#namespace === undefined || metadata.namespace === this.#namespace,
    );
    expect(new Map(indexer.list().map((it) => [indexer.keyOf(it), it]))).toEqual(new Map(all));
    expect(indexer.refused.size).toBe(0);
  }
}

interface Step {
  run(world: World): void;
  toString(): string;
}
const step = (text: string, run: (world: World) => void): Step => ({ run, toString: () => text });
const key = fc.constantFrom('shop/a', 'shop/b', 'lab/a');
const colour = fc.constantFrom('plain', 'red', 'red', 'blue', 'blue');

const steps: fc.Arbitrary<Step>[] = [
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(key, colour)
      .map(([at, as]) => step(`put ${at} ${as}`, ({ server }) => server.put(at, as))),
  ),
  key.map((at) => step(`delete ${at}`, ({ server }) => server.delete(at))),
  key.map((at) => step(`delete ${at}`, ({ server }) => server.delete(at))),
  fc.tuple(key, colour).map(([at, as]) =>
    step(`recreate ${at} ${as}`, ({ server }) => {
      server.delete(at);
      server.put(at, as);
    }),
  ),
  ...Array.from({ length: 3 }, () =>
    fc
      .integer({ min: 0, max: 100 })
      .map((percent) =>
        step(`feed ${percent} %`, ({ server: { answer } }) =>
          answer?.feed(Math.ceil((answer.waiting.length * percent) / 100)),
        ),
      ),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.constantFrom<'red' | 'blue'>('red', 'blue').chain((which) =>
      fc.boolean().map((on) =>
        step(`${which} is ${on ? '' : 'not '}refused`, ({ refuses }) => {
          refuses[which] = on;
        }),
      ),
    ),
  ),
  fc.constantFrom(
    step('turn', ({ time }) => time.elapse(0)),
    step('turn', ({ time }) => time.elapse(0)),
    step('resync', ({ time }) => time.elapse(RESYNC_MS)),
  ),
  fc.boolean().map((on) => step(on ? 'door opens' : 'door shuts', ({ open }) => open.next(on))),
  fc.constantFrom(
    step('break', ({ server }) => server.answer?.fail(ApiError.local('Network', 'reset'))),
    step('expire', ({ server }) => {
      if (server.answer?.kind !== 'list') server.expire();
    }),
    step('mark', ({ server }) => {
      if (server.answer?.kind === 'stream') server.markEnd();
    }),
    step('check', (world) => world.check()),
  ),
];

describe('a refused object', () => {
  it.each<Mode>(['pages', 'stream', 'poll'])(
    'I13, I62, S11, S23, F3, W12: an object is refused until it is accepted or deleted, and every existing object is stored or refused; by %s',
    (mode) => {
      fc.assert(
        fc.property(
          fc.constantFrom('none' as const, 'latest' as const),
          fc.constantFrom(undefined, '', 'shop'),
          fc.constantFrom(...Object.keys(decodings)),
          fc.array(fc.oneof(...steps), { minLength: 5, maxLength: 60, size: 'max' }),
          (compression, namespace, decoding, all) => {
            const world = new World({ mode, compression, namespace, decoding });
            for (const each of all) each.run(world);
            world.check();
            world.recover();
            void world.informer.stop();
          },
        ),
        { numRuns: 300, seed: 3 },
      );
    },
  );
});
