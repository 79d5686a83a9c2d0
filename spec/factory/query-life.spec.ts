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
import { type Act, actOf, BLOWS, ChangingCluster } from '../support/changing-cluster.ts';
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

const STEPS = [
  ...(['view', 'view', 'stream', 'leave view', 'leave view', 'leave stream', 'pass'] as const),
  ...(['acquire', 'release', 'remove informer', 'start', 'stop', 'start while stopping'] as const),
  ...(['put', 'put', 'delete', 'recreate', 'pass', 'check', 'refuse', ...BLOWS] as const),
] as const;
type Step = Act<(typeof STEPS)[number]>;

const scopeAt = (at: number) => [{}, { namespace: 'shop' }, { namespace: 'till' }][at % 3] ?? {};
/** The query with two informers twice as often, because one of them may stop while the other lists. */
const kindAt = (at: number) => KINDS[[0, 1, 1, 2, 3][at % 5] as number] as Kind;
const PLACES = ['shop', 'till', 'other'].flatMap((namespace) =>
  ['a', 'b', 'c'].map((name) => place(name, namespace)),
);
/** Longer than the longest wait between two tries. */
const HEALED_MS = 100_000;

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
  readonly #cluster = new ChangingCluster<Pod>(this.#rig.server, {
    ...{ resource: pods, places: PLACES },
    contentOf: (n) => ({ status: { phase: n % 2 === 0 ? 'Running' : 'Failed' } }),
  });
  /** Whether an informer was removed since the answers were compared. */
  #hasRemoved = false;

  constructor(lingerMs: number) {
    this.#factory = this.#rig.factory({ lingerMs, onWarning: () => undefined });
    this.#queries = createLiveQueries(this.#factory);
  }

  async apply(step: Step): Promise<void> {
    const factory = this.#factory;
    const [what, at, n] = step;
    if (what === 'view') this.#view(kindAt(n));
    else if (what === 'stream') this.#read(kindAt(n));
    else if (what === 'leave view') taken(this.#viewers, at)?.leave();
    else if (what === 'leave stream') taken(this.#readers, at)?.mirror.subscription.unsubscribe();
    else if (what === 'release') taken(this.#holds, at)?.release();
    else if (what === 'acquire') this.#holds.push(factory.acquire(pods, scopeAt(n)));
    else if (what === 'remove informer') {
      this.#hasRemoved = true;
      await this.#rig.until(factory.stop(pods, scopeAt(n)));
    } else if (what === 'start') factory.start();
    else if (what === 'stop') await this.#rig.until(factory.stop());
    else if (what === 'start while stopping') {
      void factory.stop();
      factory.start();
      // Within a list, after it, and before and after the end of a linger.
    } else if (what === 'pass') {
      await this.#rig.time.advance([1, 20, 500, 6_000, 40_000][n % 5] as number);
    } else if (what === 'check') await this.expectAnswers();
    else this.#cluster.act(step as Act);
  }

  /** Starts the factory. Then all show the objects of the server. */
  async expectAnswers(): Promise<void> {
    this.#factory.start();
    this.#cluster.act(['heal', 0, 0]);
    await this.#rig.time.advance(HEALED_MS);
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
    for (const at of [0, 1, 2]) this.#holds.push(this.#factory.acquire(pods, scopeAt(at)));
    await this.#rig.time.advance(3_000);
  }

  #view(kind: Kind): void {
    const view = this.#queries.view(kind.query);
    this.#viewers.push({ kind, view, leave: view.subscribe(quiet) });
  }

  #read(kind: Kind): void {
    this.#readers.push({ kind, mirror: new Mirror<unknown>(this.#queries.stream(kind.query)) });
  }

  #answer({ query, has }: Kind): [key: string, rows: string[]] {
    return [query.key, this.#rig.server.objects.list(pods).filter(has).map(shown).sort()];
  }
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
  const steps = fc.array(actOf(...STEPS), { maxLength: 25, size: 'max' });
  const lingers = fc.constantFrom(0, 5_000, 30_000);
  const lives = fc.asyncProperty(steps, lingers, async (all, lingerMs) => {
    unhandled.length = 0;
    const life = new Life(lingerMs);
    for (const each of all) await life.apply(each);
    await life.expectAnswers();
    await life.end();
    expect(unhandled).toEqual([]);
  });
  await fc.assert(lives, { numRuns: 200 });
});
