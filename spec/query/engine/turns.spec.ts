/** What operators with several inputs emit in one turn, and functions of the user that unsubscribe from the result while they are called. */
import {
  type AnyChangeSet,
  type ChangeSet,
  type KubernetesObject,
  liveFilter,
  liveMap,
  liveMergeMap,
  liveUntil,
  type Stored,
} from 'rx-informer';
import { inTurn } from 'rx-informer/testing';
import { config, NEVER, Observable, Subject, Subscription } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Lineage } from '../../../lib/query/engine/lineage.ts';
import { liveOperator } from '../../../lib/query/engine/live-operator.ts';
import type { HeldRow, MachineContext } from '../../../lib/query/engine/machine.ts';
import { RowMachine } from '../../../lib/query/engine/row-machine.ts';
import { ROWS_A_STEP } from '../../../lib/query/engine/slice.ts';
import { readOrigins } from '../../../lib/store/origin.ts';
import { VirtualTime } from '../../rx/virtual-time.ts';
import {
  added,
  modified,
  type Pod,
  pod,
  scriptedInformer,
} from '../../support/scripted-list-watch.ts';
import { Mirror } from '../mirror.ts';
import { type Item, World } from '../world.ts';

/** The rows that both inputs have, by id. */
class BothMachine extends RowMachine<string> {
  readonly #answer = new Map<string, HeldRow<string>>();
  readonly answer = this.#answer;

  constructor(context: MachineContext) {
    super(context, 2);
  }

  put(input: number, id: string, key: string, object: unknown): void {
    (this.inputs[input] as Map<string, HeldRow<unknown>>).set(id, { key, object: object as never });
    this.#update(
      id,
      this.inputs.map((rows) => rows.get(id)),
    );
  }

  protected removed(input: number, id: string): void {
    this.#update(
      id,
      this.inputs.map((rows, at) => (at === input ? undefined : rows.get(id))),
    );
  }

  #update(id: string, [one, other]: readonly (HeldRow<unknown> | undefined)[]): void {
    this.log.touch(id, this.#answer.get(id));
    if (one === undefined || other === undefined) this.#answer.delete(id);
    else {
      const object = `${String(one.object)} ${String(other.object)}` as Stored<string>;
      this.#answer.set(id, { key: one.key, object });
    }
  }
}

function both(
  ...sources: readonly Observable<AnyChangeSet<unknown>>[]
): Observable<ChangeSet<string>> {
  return liveOperator<string, ChangeSet<string>>({
    name: 'both',
    sources,
    params: [],
    create: (_, context) => new BothMachine(context),
  });
}

const version = (name: string) =>
  liveMap<Pod, string>(({ metadata }) => `${name}${metadata.resourceVersion}`);

function informed() {
  const { source, informer } = scriptedInformer();
  return { source, informer, changes$: informer.changes$ };
}

describe('an operator with several inputs', () => {
  it('Q25: two informers that commit in one turn give one set, in the same call stack', async () => {
    const [one, two] = [informed(), informed()];
    const mirror = new Mirror(both(version('l')(one.changes$), version('r')(two.changes$)));
    one.source.listed(1, pod('a', 1));
    two.source.listed(1, pod('a', 1));
    const before = mirror.sets.length;
    inTurn(() => {
      one.source.send(modified(pod('a', 2)));
      two.source.send(modified(pod('a', 7)));
      expect(mirror.sets).toHaveLength(before);
    });
    expect(mirror.sets).toHaveLength(before + 1);
    expect(mirror.objects()).toEqual(['l2 r7']);
    await Promise.all([one.informer.stop(), two.informer.stop()]);
  });

  it('Q26: one source gives its rev and version; several an own rev, no version, and synced when all are', async () => {
    const [one, two] = [informed(), informed()];
    const single = new Mirror(liveFilter<Pod>(() => true)(one.changes$));
    const several = new Mirror(both(one.changes$, two.changes$));
    one.source.listed(5, pod('a', 5));
    two.source.listed(9, pod('a', 9));
    one.source.send(modified(pod('a', 6)));
    const heads = ({ sets }: Mirror<unknown>) =>
      sets.map(({ rev, resourceVersion, synced }) => [rev, resourceVersion, synced]);
    expect(heads(single as Mirror<unknown>)).toEqual([
      [0, '', false],
      [1, '', false],
      [2, '5', true],
      [3, '6', true],
    ]);
    expect(heads(several as Mirror<unknown>)).toEqual([
      [1, '', false],
      [2, '', false],
      [3, '', true],
    ]);
    await Promise.all([one.informer.stop(), two.informer.stop()]);
  });

  it('Q26: a set that says nothing new is not emitted, and a later reset is a difference', () => {
    const { source, changes$ } = informed();
    const mirror = new Mirror(
      liveFilter<KubernetesObject>(({ metadata }) => metadata?.name !== 'b')(changes$),
    );
    source.listed(1, pod('a', 1));
    source.send(added(pod('b', 2)));
    source.send(modified(pod('b', 3)));
    expect(mirror.sets.map(({ changes }) => changes.length)).toEqual([0, 1, 0]);
    expect(mirror.sets[2]?.synced).toBe(true);
  });
});

const recreated = { name: 'a', what: 'recreate', n: 2, group: 'a' } as const;

/** Subscribes, and runs the test with a function that leaves; `leavesAt` says in which call. Returns where the rows come from. */
function leaving<T>(
  make: (leave: () => void) => Observable<T>,
  leavesAt: 'first set' | 'later set',
  world: World,
): readonly Lineage[] {
  const found: Lineage[] = [];
  const run = new Subscription();
  let isLater = false;
  const stream = make(() => {
    if (isLater || leavesAt === 'first set') run.unsubscribe();
  });
  readOrigins(
    (origin) => found.push(origin as Lineage),
    () => run.add(stream.subscribe()),
  );
  isLater = true;
  world.commit([recreated]);
  expect(run.closed).toBe(true);
  return found;
}

describe('a function that unsubscribes', () => {
  // The refused rows are reported, because no view shows them.
  beforeAll(() => {
    config.onUnhandledError = () => undefined;
  });

  for (const leavesAt of ['first set', 'later set'] as const) {
    it(`Q81: in the ${leavesAt} leaves no timer`, () => {
      const scheduler = new VirtualTime();
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      const timed = (leave: () => void) =>
        liveUntil<Item>(
          (_, nowMs) => {
            leave();
            return nowMs + 1_000;
          },
          { scheduler },
        )(world.changes$);
      leaving(timed, leavesAt, world);
      expect(scheduler.pending).toBe(0);
    });

    it(`Q81: in the ${leavesAt} leaves no refused row`, () => {
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      const refusing = (leave: () => void) =>
        liveFilter<Item>(() => {
          leave();
          throw new Error('refused');
        })(world.changes$);
      const found = leaving(refusing, leavesAt, world);
      const refused = found.flatMap(({ refusedRows }) => [...refusedRows]);
      expect(refused).not.toEqual([]);
      expect(refused.flatMap(({ rows }) => rows)).toEqual([]);
    });

    it(`Q81: in the ${leavesAt} leaves no inner subscription`, () => {
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      let open = 0;
      const inner$ = new Observable<number>(() => {
        open++;
        return () => open--;
      });
      const merging = (leave: () => void) =>
        liveMergeMap(({ metadata }: Item) => {
          leave();
          return metadata.name === 'a' ? inner$ : NEVER;
        })(liveMap((row: Item) => ({ ...row }))(world.changes$));
      leaving(merging, leavesAt, world);
      world.commit([recreated]);
      expect(open).toBe(0);
    });
  }

  it('Q81: in the first of many rows is not called for the rows of the next steps', () => {
    const world = new World();
    world.reset(Array.from({ length: 10 * ROWS_A_STEP }, (_, n) => ({ name: `i${n}`, n })));
    const left$ = new Subject<void>();
    let calls = 0;
    liveMap((row: Item) => {
      calls++;
      left$.next();
      return { ...row };
    })(world.changes$)
      .pipe(takeUntil(left$))
      .subscribe();
    expect(calls).toBe(ROWS_A_STEP);
  });
});
