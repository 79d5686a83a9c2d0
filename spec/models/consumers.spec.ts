/**
 * Model test of back-pressure: a slow reader behind each policy, `conflateByKey` and a view is compared with a reader that
 * receives every change, in any order of writes and of demand.
 */

import {
  type ChangeSet,
  conflateByKey,
  createSharedInformer,
  type DeliveryPolicy,
  deliver,
  toView,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A reader that keeps a map of what it received and records every inconsistency. */
class Reader {
  readonly rows = new Map<string, Pod>();
  readonly wrong: string[] = [];
  readonly heard: ChangeSet<Pod>[] = [];
  /** Deletions of objects that it had. */
  readonly ended: string[] = [];

  hear(set: ChangeSet<Pod>): void {
    this.heard.push(set);
    if (set.reset) this.rows.clear();
    const ids = new Set<string>();
    let deletions = true;
    for (const { id, key, previous, object } of set.changes) {
      if (ids.has(id)) this.wrong.push(`${key} twice in one set`);
      ids.add(id);
      if (object !== undefined) deletions = false;
      else if (!deletions) this.wrong.push(`${key}: a deletion after another change`);
      if (previous !== this.rows.get(id)) this.wrong.push(`${key}: not what it had`);
      if (object === undefined) {
        this.rows.delete(id);
        this.ended.push(id);
      } else this.rows.set(id, object);
    }
  }

  get state(): string[] {
    return [...this.rows].map(([id, { metadata }]) => `${id}@${metadata.resourceVersion}`).sort();
  }
}

const POLICIES: Record<string, DeliveryPolicy<Pod>> = {
  conflate: { kind: 'conflate' },
  'buffer, then conflate': { kind: 'buffer', limit: 2, overflow: 'conflate' },
  'buffer, then pause': { kind: 'buffer', limit: 2, overflow: 'pause' },
  drop: { kind: 'drop', limit: 2 },
};

class Real {
  readonly source = scriptedListWatch();
  readonly informer = createSharedInformer<Pod>(this.source, { backoff: () => 0 });
  readonly direct = new Reader();
  readonly slow = new Reader();
  readonly folded = new Reader();
  readonly viewed: (readonly Pod[])[] = [];
  readonly capacity = new Subject<void>();
  readonly view = this.informer.changes$.pipe(toView<Pod>());
  readonly lag: () => number;
  readonly pauses: boolean;
  rowNews = 0;

  constructor(policy: DeliveryPolicy<Pod>) {
    const ready = () => this.capacity;
    this.pauses = policy.kind === 'buffer' && policy.overflow === 'pause';
    const delivery = deliver(this.informer, { ...policy, ready });
    this.lag = () => delivery.lag;
    this.informer.changes$.subscribe((set) => this.direct.hear(set));
    delivery.changes$.subscribe((set) => this.slow.hear(set));
    let open = true;
    this.capacity.subscribe(() => {
      open = true;
    });
    const demand = () => {
      const now = open;
      open = false;
      return now ? null : this.capacity;
    };
    this.informer.changes$
      .pipe(conflateByKey({ ready: demand }))
      .subscribe((set) => this.folded.hear(set));
    this.view.items$.subscribe((rows) => this.viewed.push(rows));
    this.view.select('a').subscribe(() => this.rowNews++);
    this.source.listed(1);
  }
}

interface Model {
  readonly objects: Map<string, Pod>;
  version: number;
}

type Command = fc.AsyncCommand<Model, Real>;
/** After each command the reader that receives everything agrees with the model, and so does the view. */
const command = (
  text: string,
  act: (model: Model, real: Real) => void | Promise<void>,
): Command => ({
  check: () => true,
  async run(model, real) {
    await act(model, real);
    await settle();
    expect(real.direct.wrong).toEqual([]);
    expect(real.slow.wrong).toEqual([]);
    expect(real.folded.wrong).toEqual([]);
    // The rows are in the order in which the existing objects were added.
    expect(real.view.getSnapshot().rows).toEqual([...real.direct.rows.values()]);
    expect(real.viewed.at(-1)).toBe(real.view.getSnapshot().rows);
    // A deletion and a new object of the same name are two changes. A pause delivers everything that had been read.
    if (!real.pauses) expect(real.lag()).toBeLessThanOrEqual(NAMES.length * 2 + 2);
  },
  toString: () => text,
});

const name = fc.constantFrom(...NAMES);
const truth = ({ objects }: Model) =>
  [...objects.values()].map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).sort();

const put = name.map((of) =>
  command(`put ${of}`, (model, { source }) => {
    const there = model.objects.get(of);
    const version = ++model.version;
    const next = pod(of, version, there?.metadata.uid ?? (of === 'a' ? 'a' : `${of}-${version}`));
    model.objects.set(of, next);
    source.send(there === undefined ? added(next) : modified(next));
  }),
);
const remove = name.map((of) =>
  command(`remove ${of}`, (model, { source }) => {
    const there = model.objects.get(of);
    if (there === undefined) return;
    model.objects.delete(of);
    source.send(deleted(pod(of, ++model.version, there.metadata.uid)));
  }),
);
const burst = fc.array(name, { minLength: 3, maxLength: 8 }).map((names) =>
  command(`burst ${names.join(' ')}`, (model, { source }) => {
    source.send(
      ...names.map((of) => {
        const there = model.objects.get(of);
        const version = ++model.version;
        const next = pod(of, version, there?.metadata.uid ?? `${of}-${version}`);
        model.objects.set(of, next);
        return there === undefined ? added(next) : modified(next);
      }),
    );
  }),
);
const capacity = fc.constant(command('capacity', (_model, real) => real.capacity.next()));
describe('readers of one store', () => {
  it.each(Object.entries(POLICIES))(
    'I11, S15, Q1: %s, conflateByKey and a view end in the state of a reader that receives everything',
    async (_, policy) => {
      let heard = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.commands([put, put, remove, burst, capacity, capacity], {
            maxCommands: 40,
            size: '+1',
          }),
          async (commands) => {
            const model: Model = { objects: new Map(), version: 1 };
            const real = new Real(policy);
            await settle();
            await fc.asyncModelRun(() => ({ model, real }), commands);
            for (let turn = 0; turn < 200; turn++) real.capacity.next();
            await settle();
            for (let turn = 0; turn < 200; turn++) real.capacity.next();
            await settle();
            const expected = truth(model);
            expect(real.direct.state).toEqual(expected);
            expect(real.slow.state).toEqual(expected);
            expect(real.folded.state).toEqual(expected);
            expect(real.lag()).toBe(0);
            // No deletion of an object that the reader had is lost, whatever was folded.
            for (const reader of [real.slow, real.folded]) {
              const seen = new Set(
                reader.heard.flatMap(({ changes }) => changes.map(({ id }) => id)),
              );
              for (const id of seen) {
                const there = real.direct.rows.has(id);
                const reset = reader.heard.some((set) => set.reset && set.rev > 2);
                if (!there && !reset) expect(reader.ended).toContain(id);
              }
            }
            heard += real.slow.heard.length;
            await real.informer.stop();
          },
        ),
        { numRuns: 60 },
      );
      expect(heard).toBeGreaterThan(100);
    },
  );
});
