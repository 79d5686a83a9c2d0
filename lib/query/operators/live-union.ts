/** `liveUnion`: the rows of several streams. */
import { isObservable, type Observable, of } from 'rxjs';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { LiveOptions } from '../engine/operator.ts';
import { NamedUnionMachine, SharedUnionMachine } from './union-machines.ts';

/** The rows of one of several streams. */
type RowOf<S> = S extends Observable<ChangeSet<infer T>> ? T : never;

/** A row of a union of these sources. */
export type UnitedRow<S> = S extends readonly (infer E)[] ? RowOf<E> : RowOf<S[keyof S]>;

/** The sources of {@link liveUnion}: streams by name, or a list of streams. */
export type UnionSources =
  | { readonly [name: string]: Observable<ChangeSet<unknown>> }
  | readonly Observable<ChangeSet<unknown>>[];

const EMPTY: ChangeSet<unknown> = /* @__PURE__ */ createChangeSet<unknown>(
  { rev: 0, cause: 'snapshot', reset: true, synced: true, initial: true, resourceVersion: '' },
  [],
);

function checkedNames(sources: UnionSources): readonly string[] | undefined {
  if (Array.isArray(sources)) return undefined;
  if (typeof sources !== 'object') {
    throw new TypeError(
      `liveUnion: sources is ${typeof sources}; it must be { name: stream } or a list of streams`,
    );
  }
  const names = Object.keys(sources);
  for (const name of names) {
    if (name !== '' && !name.includes('/')) continue;
    throw new TypeError(
      `liveUnion: ${JSON.stringify(name)} is not a name of a source; it must be text without '/', because it stands before '/' in ids and keys`,
    );
  }
  return names;
}

/**
 * The rows of several streams in one.
 *
 * With names, the name of the source stands before each id and key, as in `east/shop/web`: the same object in two
 * sources is two rows. Without names, the sources must have different ids and keys, or the same objects, as two filters
 * of one informer do: such an object is one row until no source has it. If, at the end of a turn, two sources have
 * different objects under one id or key, the row is kept out until they agree, and stands in the view's
 * `status.refusedRows`.
 *
 * The answer is synced when all sources are, and is emitted at the end of a turn. Completes when all sources have
 * completed; the rows of a source that has completed stay. Errors if a source does. Throws a `TypeError` if a source is
 * no Observable, or if a name is empty or contains `/`.
 *
 * Costs the changed rows; without names, one lookup in each source for each.
 *
 * ```
 * a        +x----------x'-----(-x)-|
 * b        ---+y---+x--x'-------------(-x)-|
 * result   +x-+y-------x'-------------(-x)-|
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
  const streams = Object.values(sources) as readonly Observable<ChangeSet<unknown>>[];
  for (const [at, stream] of streams.entries()) {
    if (isObservable(stream)) continue;
    throw new TypeError(
      `liveUnion: the source ${names?.[at] ?? at} is no Observable; it must be a stream of change sets`,
    );
  }
  if (streams.length === 0) return of(EMPTY) as ChangeStream<unknown>;
  return liveOperator<unknown, ChangeSet<unknown>>({
    ...options,
    name: 'liveUnion',
    sources: streams,
    params: [],
    create: (_values, context) =>
      names === undefined
        ? new SharedUnionMachine<unknown>(streams.length, context)
        : new NamedUnionMachine<unknown>(names, context),
  }) as ChangeStream<unknown>;
}
