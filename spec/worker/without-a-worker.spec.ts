/** Compares what a tab shows with what a view shows without a worker, over the same random lives of their informers. */
import {
  type ChangeSet,
  createLiveQueries,
  type InformerFactory,
  type LiveQueries,
  type LiveQuery,
  liveFilter,
  liveJoin,
  liveQuery,
  liveShare,
  liveUnion,
  toView,
  type View,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { type WorkerCluster, workerQuery } from 'rx-informer/worker';
import { config, merge, type Observable } from 'rxjs';
import { takeWhile, tap } from 'rxjs/operators';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Act, actOf, ChangingCluster } from '../support/changing-cluster.ts';
import * as fc from '../support/fast-check.ts';
import { BrowserRig } from './browser-rig.ts';

const select = { name: 'metadata.name', phase: 'status.phase' } as const;
const podsOf = (namespace: string | readonly string[]) =>
  liveQuery({ from: pods, namespace, select });
const x = (live: LiveQueries) => live.stream(podsOf('x'));
const y = (live: LiveQueries) => live.stream(podsOf('y'));

type Pods = ChangeSet<{ readonly phase?: string | undefined }>;

/** Whether the watch has brought no bad row. Not of the first set, which comes while the pipe is being subscribed. */
const isGood = ({ cause, changes }: Pick<Pods, 'cause' | 'changes'>) =>
  cause !== 'watch' || changes.every(({ object }) => object?.phase !== 'bad');

function check(isRight: boolean): boolean {
  if (!isRight) throw new Error('a bad row');
  return true;
}

const PLAIN: Readonly<Record<string, LiveQuery>> = {
  rows: podsOf('x'),
  window: liveQuery({
    ...{ from: pods, namespace: 'x', select },
    ...{ orderBy: { path: 'metadata.name', direction: 'desc' }, limit: 2 },
  }),
  both: podsOf(['x', 'y']),
};

const STREAMS = {
  refused: (_: undefined, live: LiveQueries) =>
    x(live).pipe(liveFilter(({ phase }) => check(phase !== 'bad'))),
  failing: (_: undefined, live: LiveQueries) => x(live).pipe(tap((set) => check(isGood(set)))),
  ended: (_: undefined, live: LiveQueries) => x(live).pipe(takeWhile((set) => isGood(set), true)),
  // Shared, as the worker shares it, because each set of a merge says only whether the rows of one source are complete.
  merged: (_: undefined, live: LiveQueries) => merge(x(live), y(live)).pipe(liveShare()),
  union: (_: undefined, live: LiveQueries) => liveUnion({ x: x(live), y: y(live) }),
  joined: (_: undefined, live: LiveQueries) =>
    x(live).pipe(
      liveJoin(y(live), {
        on: { left: ({ name }) => name, right: ({ name }) => name },
        project: ({ name }, others) => ({ name, others: others.length }),
      }),
    ),
};

const NAMES = [...Object.keys(PLAIN), ...Object.keys(STREAMS)] as const;

const byName = (one: { readonly name: string }, other: { readonly name: string }) =>
  one.name < other.name ? -1 : 1;

/** What a view has shown, and how its streams have ended. */
class Followed {
  readonly #view: View<unknown>;
  readonly #isOrdered: boolean;
  readonly ends: string[] = [];

  constructor(view: View<unknown>, isOrdered: boolean) {
    this.#view = view;
    this.#isOrdered = isOrdered;
    view.subscribe(() => undefined);
    this.subscribe();
  }

  subscribe(): void {
    this.#view.items$.subscribe({
      error: ({ message }: Error) => this.ends.push(message),
      complete: () => this.ends.push('complete'),
    });
  }

  get shown() {
    const { rows: given, total, synced, stale, status, error } = this.#view.getSnapshot();
    const rows = this.#isOrdered ? given : [...given].sort(byName as never);
    const { phase, live, blocked, refusedRows } = status;
    const refused = refusedRows.map(({ operator, key }) => `${operator} ${key}`);
    return {
      ...{ rows, total, stale, refused, error: error?.message, ends: [...this.ends] },
      // A query that has failed has another status, which has the error, and follows no informer any more.
      ...(error === undefined && { synced, phase, live, blocked }),
    };
  }
}

const viewOf = (name: string, live: LiveQueries): View<unknown> => {
  const plain = PLAIN[name];
  if (plain !== undefined) return live.view(plain);
  const stream = STREAMS[name as keyof typeof STREAMS](undefined, live);
  return toView(stream as Observable<never>);
};

const tabViewOf = (name: string, { view }: WorkerCluster): View<unknown> =>
  view<unknown>(PLAIN[name] ?? workerQuery<typeof STREAMS, 'merged'>(name as 'merged'));

class Life {
  readonly rig = new BrowserRig();
  readonly #query: string;
  #factory: InformerFactory | undefined;
  readonly tab: Followed;
  #page: Followed | undefined;
  readonly #cluster = new ChangingCluster(this.rig.server, {
    resource: pods,
    places: ['p', 'q', 'r', 's'].flatMap((name) =>
      ['x', 'y'].map((namespace) => ({ namespace, name })),
    ),
    contentOf: (n) => ({ status: { phase: n % 6 === 5 ? 'bad' : 'good' } }),
  });

  constructor(query: string) {
    this.#query = query;
    this.rig.queries = STREAMS;
    this.rig.factoryOptions = () => ({ onWarning: () => undefined });
    this.rig.onFactory = (factory) => {
      this.#factory = factory;
    };
    this.tab = this.#follow(tabViewOf(query, this.rig.open().cluster));
  }

  async begin(): Promise<void> {
    for (const at of [0, 2, 1]) this.#cluster.act(['put', at, 0]);
    await this.rig.pass(1_000);
    this.#page = this.#follow(viewOf(this.#query, createLiveQueries(this.factory)));
    await this.compare('the begin');
  }

  #follow(view: View<unknown>): Followed {
    return new Followed(view, this.#query === 'window');
  }

  get factory(): InformerFactory {
    if (this.#factory === undefined) throw new Error('the worker has no session');
    return this.#factory;
  }

  step(step: Step): void {
    const { factory } = this;
    const [what, at] = step;
    const namespace = at % 2 === 0 ? 'x' : 'y';
    if (what === 'stop') void factory.stop();
    else if (what === 'start') factory.start();
    else if (what === 'remove') void factory.stop(pods, { namespace });
    else if (what === 'request') factory.acquire(pods, { namespace });
    else if (what === 'subscribe') for (const each of [this.tab, this.#page]) each?.subscribe();
    else if (what !== 'pass') this.#cluster.act(step as Act);
  }

  /** The tab shows what the page shows, once the messages that are on their way have arrived. */
  async compare(what: string): Promise<void> {
    for (let tries = 0; tries < 3; tries++) {
      await this.rig.pass(100);
      try {
        expect(this.tab.shown).toEqual(this.#page?.shown);
        return;
      } catch {}
    }
    expect(this.tab.shown, `${this.#query} after ${what}`).toEqual(this.#page?.shown);
  }
}

const KINDS = [
  ...(['put', 'put', 'delete', 'recreate', 'purge', 'close', 'forbid', 'slow', 'heal'] as const),
  ...(['stop', 'start', 'remove', 'request', 'request', 'subscribe', 'pass'] as const),
] as const;
type Step = Act<(typeof KINDS)[number]>;

describe('a tab and a page without a worker', () => {
  // A run that fails after the streams of a view have completed has nobody else to tell.
  beforeAll(() => {
    config.onUnhandledError = () => undefined;
  });
  afterAll(() => {
    config.onUnhandledError = null;
  });

  it.each(['rows', 'window', 'joined'])(
    'B1: the former rows of the query "%s" stand, stale, while its informer is made again',
    async (name) => {
      const life = new Life(name);
      await life.begin();
      const before = life.tab.shown;
      expect(before).toMatchObject({ total: 2, synced: true, stale: undefined });
      for (const each of ['remove', 'slow', 'request'] as const) {
        life.step([each, 0, 59]);
        await life.compare(each);
      }
      const { rows, total } = before;
      expect(life.tab.shown).toMatchObject({ rows, total, synced: false, stale: true });
      await life.rig.pass(5_000);
      expect(life.tab.shown).toEqual({ ...before, ends: life.tab.ends });
    },
  );

  it('B1: the streams of a tab error with the query, and another subscriber asks it again', async () => {
    const life = new Life('failing');
    await life.begin();
    life.step(['put', 4, 5]);
    await life.rig.pass(1_000);
    expect(life.tab.shown).toMatchObject({ total: 2, error: 'a bad row', ends: ['a bad row'] });
    life.step(['subscribe', 0, 0]);
    await life.rig.pass(1_000);
    expect(life.tab.shown).toMatchObject({ total: 3, synced: true, error: undefined });
    expect(life.tab.ends).toEqual(['a bad row']);
  });

  it.each(NAMES)(
    'B1, B17: show the same of the query "%s", whatever happens to its informers',
    async (name) => {
      const steps = fc.array(actOf(...KINDS), { minLength: 3, maxLength: 12, size: 'max' });
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const life = new Life(name);
          await life.begin();
          for (const [at, each] of all.entries()) {
            life.step(each);
            if (each[0] === 'pass') await life.rig.pass(5_000);
            await life.compare(all.slice(0, at + 1).join(' '));
          }
        }),
        { numRuns: 40 },
      );
    },
    600_000,
  );
});
