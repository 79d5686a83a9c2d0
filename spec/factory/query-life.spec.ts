/** Random lives of the queries of a factory, whose subscribers, informers and runs come and go in any order. */

import {
  createLiveQueries,
  type InformerFactory,
  type LiveQueries,
  type LiveQuery,
  liveQuery,
  type View,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { config } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Mirror } from '../query/mirror.ts';
import * as fc from '../support/fast-check.ts';
import { place, type Rig, rig } from './rig.ts';

interface Kind {
  readonly query: LiveQuery;
  readonly has: (pod: Pod) => boolean;
}

/** Queries that read one informer, informers of several namespaces, or an index. */
const KINDS: readonly Kind[] = [
  {
    query: liveQuery({ from: pods, where: { path: 'status.phase', eq: 'Running' } }),
    has: ({ status }) => status?.phase === 'Running',
  },
  {
    query: liveQuery({
      from: pods,
      namespace: ['shop', 'till'],
      orderBy: { path: 'metadata.name' },
    }),
    has: ({ metadata }) => ['shop', 'till'].includes(metadata?.namespace ?? ''),
  },
  {
    query: liveQuery({
      from: pods,
      namespace: 'shop',
      select: { name: 'metadata.name', namespace: 'metadata.namespace', phase: 'status.phase' },
    }),
    has: ({ metadata }) => metadata?.namespace === 'shop',
  },
  { query: liveQuery({ from: pods }), has: () => true },
];

/** A row as text: a pod, or the columns of a query that selects. */
function shown(row: unknown): string {
  const pod = row as Pod;
  const columns = row as { readonly [column in 'name' | 'namespace' | 'phase']?: string };
  const { name, namespace } = pod.metadata ?? columns;
  return `${namespace}/${name}: ${pod.status?.phase ?? columns.phase}`;
}

type Event =
  | { readonly do: 'view' | 'stream'; readonly kind: number }
  /** A subscriber departs, or a hold of an informer ends: the one that a number selects. */
  | { readonly do: 'leave view' | 'leave stream' | 'release'; readonly which: number }
  | { readonly do: 'write'; readonly name: string; readonly of: string; readonly phase?: string }
  | { readonly do: 'acquire' | 'remove informer'; readonly of: string | undefined }
  | { readonly do: 'start' | 'stop' | 'start while stopping' | 'check' }
  | { readonly do: 'pass'; readonly ms: number };

const which = fc.nat(9);
// The query with two informers twice as often, because one of them may stop while the other lists.
const kind = fc.constantFrom(0, 1, 1, 2, 3);
const scope = fc.constantFrom(undefined, 'shop', 'till');
function doing<const D extends Event['do']>(...all: D[]): fc.Arbitrary<D> {
  return fc.constantFrom(...all);
}

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: doing('view'), kind }) },
  { weight: 2, arbitrary: fc.record({ do: doing('stream'), kind }) },
  { weight: 3, arbitrary: fc.record({ do: doing('leave view'), which }) },
  { weight: 2, arbitrary: fc.record({ do: doing('leave stream'), which }) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        do: doing('write'),
        name: fc.constantFrom('a', 'b', 'c'),
        of: fc.constantFrom('shop', 'till', 'other'),
        // Without a phase the pod is deleted.
        phase: fc.constantFrom('Running', 'Failed'),
      },
      { requiredKeys: ['do', 'name', 'of'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ do: doing('acquire'), of: scope }) },
  { weight: 1, arbitrary: fc.record({ do: doing('release'), which }) },
  { weight: 1, arbitrary: fc.record({ do: doing('remove informer'), of: scope }) },
  { weight: 3, arbitrary: fc.record({ do: doing('start', 'stop', 'start while stopping') }) },
  // Within a list, after it, and before and after the end of a linger.
  {
    weight: 3,
    arbitrary: fc.record({ do: doing('pass'), ms: fc.constantFrom(1, 20, 500, 6_000, 40_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: doing('check') }) },
);

interface Viewer {
  readonly kind: Kind;
  readonly view: View<unknown>;
  leave: () => void;
}

interface Reader {
  readonly kind: Kind;
  readonly mirror: Mirror<unknown>;
}

function quiet(): void {
  // A listener that does nothing.
}

/** Takes out the one that a number selects, if there is one. */
function taken<T>(all: T[], at: number): T | undefined {
  return all.splice(at % Math.max(1, all.length), 1)[0];
}

class Life {
  readonly #rig: Rig = rig();
  readonly #factory: InformerFactory;
  readonly #queries: LiveQueries;
  readonly #viewers: Viewer[] = [];
  readonly #readers: Reader[] = [];
  readonly #holds: { release(): void }[] = [];
  /** Whether an informer was removed since the answers were compared. */
  #hasRemoved = false;

  constructor(lingerMs: number) {
    this.#factory = this.#rig.factory({ lingerMs });
    this.#queries = createLiveQueries(this.#factory);
  }

  async apply(each: Event): Promise<void> {
    const factory = this.#factory;
    if (each.do === 'view') this.#view(KINDS[each.kind] as Kind);
    else if (each.do === 'stream') this.#read(KINDS[each.kind] as Kind);
    else if (each.do === 'leave view') taken(this.#viewers, each.which)?.leave();
    else if (each.do === 'leave stream') {
      taken(this.#readers, each.which)?.mirror.subscription.unsubscribe();
    } else if (each.do === 'release') taken(this.#holds, each.which)?.release();
    else if (each.do === 'write') this.#write(each.name, each.of, each.phase);
    else if (each.do === 'acquire') this.#holds.push(factory.acquire(pods, scopeOf(each.of)));
    else if (each.do === 'remove informer') {
      this.#hasRemoved = true;
      await this.#rig.until(factory.stop(pods, scopeOf(each.of)));
    } else if (each.do === 'start') factory.start();
    else if (each.do === 'stop') await this.#rig.until(factory.stop());
    else if (each.do === 'start while stopping') {
      void factory.stop();
      factory.start();
    } else if (each.do === 'pass') await this.#rig.time.advance(each.ms);
    else await this.expectAnswers();
  }

  /** Starts the factory. Then all show the objects of the server. */
  async expectAnswers(): Promise<void> {
    this.#factory.start();
    await this.#rig.time.advance(3_000);
    if (this.#hasRemoved) await this.#beginAgain();
    for (const { kind, view } of this.#viewers) {
      const { rows, synced, status } = view.getSnapshot();
      expect([kind.query.key, rows.map(shown).sort()]).toEqual(this.#answer(kind));
      expect([kind.query.key, synced, status.phase]).toEqual([kind.query.key, true, 'watching']);
    }
    for (const { kind, mirror } of this.#readers) {
      // A stop of the informer completes a stream.
      if (mirror.completed) continue;
      expect([kind.query.key, mirror.objects().map(shown).sort()]).toEqual(this.#answer(kind));
    }
  }

  /** Everybody departs. After the lingers nothing is left. */
  async end(): Promise<void> {
    const { server, time, until } = this.#rig;
    for (const { leave } of this.#viewers) leave();
    for (const { mirror } of this.#readers) mirror.subscription.unsubscribe();
    for (const hold of this.#holds) hold.release();
    await time.advance(200_000);
    expect([this.#queries.size, this.#factory.informers, server.openWatches]).toEqual([0, [], []]);
    await until(this.#factory.stop());
    expect(time.pending).toBe(0);
  }

  /** A view whose informer was removed while it was used continues when the informer is requested again. */
  async #beginAgain(): Promise<void> {
    this.#hasRemoved = false;
    for (const of of [undefined, 'shop', 'till']) {
      this.#holds.push(this.#factory.acquire(pods, scopeOf(of)));
    }
    await this.#rig.time.advance(3_000);
  }

  #view(kind: Kind): void {
    const view = this.#queries.view(kind.query);
    this.#viewers.push({ kind, view, leave: view.subscribe(quiet) });
  }

  #read(kind: Kind): void {
    this.#readers.push({ kind, mirror: new Mirror<unknown>(this.#queries.stream(kind.query)) });
  }

  #write(name: string, of: string, phase: string | undefined): void {
    const { objects } = this.#rig.server;
    const metadata = place(name, of);
    if (phase !== undefined) objects.apply(pods, [{ metadata, status: { phase } }]);
    else if (objects.get(pods, metadata) !== undefined) objects.delete(pods, metadata);
  }

  #answer({ query, has }: Kind): [key: string, rows: string[]] {
    return [query.key, this.#rig.server.objects.list(pods).filter(has).map(shown).sort()];
  }
}

function scopeOf(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

const former = config.onUnhandledError;
const unhandled: unknown[] = [];
beforeAll(() => {
  config.onUnhandledError = (error) => unhandled.push(error);
});
afterAll(() => {
  config.onUnhandledError = former;
});

it('Q82: after any order of arrivals, departures, starts, stops and removals, the answers are right and nothing is left', async () => {
  const events = fc.array(event, { maxLength: 25, size: 'max' });
  const lingers = fc.constantFrom(0, 5_000, 30_000);
  const lives = fc.asyncProperty(events, lingers, async (all, lingerMs) => {
    unhandled.length = 0;
    const life = new Life(lingerMs);
    for (const each of all) await life.apply(each);
    await life.expectAnswers();
    await life.end();
    expect(unhandled).toEqual([]);
  });
  await fc.assert(lives, { numRuns: 200 });
}, 60_000);
