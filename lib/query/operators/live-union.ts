/** `liveUnion`: the rows of several streams, each under the name of its stream. */

import { isObservable, type Observable } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import type { RowIdentity } from '../../delta/net-change.ts';
import { checkSourceName, named } from '../../meta/source-name.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { originating, originFrom } from '../../store/origin.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { AnswerRows, HeldRow, LiveOptions, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';

/** The sources of {@link liveUnion}: streams by name. */
export interface UnionSources {
  readonly [name: string]: Observable<ChangeSet<unknown>>;
}

/** The rows of one of several streams. */
type RowOf<S> = S extends Observable<ChangeSet<infer T>> ? T : never;

/** A row of a union of these sources. */
export type UnitedRow<S> = RowOf<S[keyof S]>;

const EMPTY = {
  rev: 0,
  cause: 'snapshot',
  reset: true,
  synced: true,
  initial: true,
  resourceVersion: '',
} as const;

function checkedNames(sources: UnionSources): readonly string[] {
  if (Array.isArray(sources)) {
    throw new TypeError(
      'liveUnion: sources is a list; give each stream a name, as in liveUnion({ a: one$, b: other$ }). To show the rows that one of several filters of a stream selects, use one filter: liveFilter((row) => one(row) || other(row))',
    );
  }
  check(Object(sources) === sources, 'liveUnion: sources', sources, '{ name: stream }');
  const names = Object.keys(sources);
  for (const name of names) checkSourceName('liveUnion', 'a source', name);
  return names;
}

/**
 * The rows of several streams in one.
 *
 * The name of the source stands before each id and key, as in `east/shop/web`: the same object in two sources is two
 * rows. For the rows that one of several filters of a stream selects, use one filter with "or".
 *
 * The answer is synced when all sources are, and is emitted at the end of a turn. Completes when all sources have
 * completed; the rows of a source that has completed stay. Errors if a source does. Throws a `TypeError` if `sources` is
 * a list, if a source is no Observable, or if a name is empty or contains `/`.
 *
 * Costs the changed rows.
 *
 * ```
 * a        +x-------------x'---(-x|)
 * b        -----+y---+x--------------(-x|)
 * result   +ax--+by--+bx--ax'--(-ax)-(-bx|)
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveUnion, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const east$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const west$ = of(changeSet({ added: [web] }));
 * const view = toView(liveUnion({ east: east$, west: west$ }));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.length; // => 2
 * view.select('west/u1').getSnapshot() === web; // => true
 * ```
 */
export function liveUnion<S extends UnionSources>(
  sources: S,
  options?: LiveOptions,
): ChangeStream<UnitedRow<S>>;
export function liveUnion(sources: UnionSources, options: LiveOptions = {}): ChangeStream<unknown> {
  const names = checkedNames(sources);
  const streams = Object.values(sources);
  for (const [at, stream] of streams.entries()) {
    check(isObservable(stream), `liveUnion: ${names[at]}`, stream, 'a stream of change sets');
  }
  if (streams.length === 0) {
    return originating((subscriber, tell) => {
      const origin = tell(originFrom({ emitter: subscriber, rank: 1 }));
      subscriber.next(createChangeSet<unknown>({ ...EMPTY, origin }, []));
      subscriber.complete();
    }) as ChangeStream<unknown>;
  }
  return liveOperator<unknown, ChangeSet<unknown>>({
    ...options,
    name: 'liveUnion',
    sources: streams,
    params: [],
    create: (_values, context) => new UnionMachine<unknown>(names, context),
  }) as ChangeStream<unknown>;
}

interface NamedRow<T> extends HeldRow<T> {
  readonly row: HeldRow<T>;
}

/** Puts the name of the source before each id and key. */
class UnionMachine<T> extends RowMachine<T, NamedRow<T>> {
  readonly #names: readonly string[];
  readonly answer: AnswerRows<T>;

  constructor(names: readonly string[], context: MachineContext) {
    super(context, names.length);
    this.#names = names;
    const { inputs } = this;
    const inputOf = new Map(names.map((name, input) => [name, input]));
    this.answer = {
      get: (id) => {
        const slash = id.indexOf('/');
        const input = inputOf.get(id.slice(0, slash)) as number;
        return inputs[input]?.get(id.slice(slash + 1))?.row;
      },
      *entries() {
        for (const [input, rows] of inputs.entries()) {
          for (const [id, { row }] of rows) yield [named(names[input] as string, id), row] as const;
        }
      },
    };
  }

  put(
    input: number,
    id: string,
    key: string,
    object: HeldRow<T>['object'],
    of?: RowIdentity,
  ): void {
    const rows = this.inputs[input] as Map<string, NamedRow<T>>;
    const before = rows.get(id)?.row;
    const name = this.#names[input] as string;
    this.log.touch(named(name, id), before);
    const row = { key: before?.key ?? named(name, key), object, of };
    rows.set(id, { key, object, of, row });
  }

  protected removed(input: number, id: string, { row }: NamedRow<T>, ending: Ending<T>): void {
    this.log.touch(named(this.#names[input] as string, id), row, ending);
  }
}
