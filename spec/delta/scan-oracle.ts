/**
 * The queue as its definition says: one `scan` over three tagged inputs, with an immutable state. Folding and
 * lists are worked out at the pop from everything that came, so nothing here is shared with the operator.
 */
import type { Compression, Delta } from 'rx-informer';
import { merge, type Observable, type OperatorFunction } from 'rxjs';
import { filter, map, scan } from 'rxjs/operators';
import { keyOf, type Pod } from './pods.ts';

type Keyed = Extract<Delta<Pod>, { key: string }>;
type Deleted = Extract<Delta<Pod>, { type: 'deleted' }>;
type Part = Extract<Delta<Pod>, { type: 'replacing' }>;
type Replaced = Extract<Delta<Pod>, { type: 'replaced' }>;

type Input =
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta<Pod>[] }
  | { readonly kind: 'resync' }
  | { readonly kind: 'pop' };

interface List {
  readonly flows: boolean;
  readonly parts: readonly Part[];
}

type Item =
  | { readonly kind: 'delta'; readonly delta: Exclude<Delta<Pod>, { type: 'replaced' }> }
  | { readonly kind: 'list'; readonly list: List; readonly end: Replaced };

type World = ReadonlyMap<string, Pod>;

interface State {
  readonly queue: readonly Item[];
  readonly lists: ReadonlyMap<string | undefined, List>;
  readonly resync: boolean;
  readonly known: World;
  readonly out: readonly Delta<Pod>[];
}

const within = (key: string, scope: string | undefined) =>
  scope === undefined || key.split('/')[0] === scope;
const withItem = (state: State, item: Item): State => ({ ...state, queue: [...state.queue, item] });
const withList = (state: State, scope: string | undefined, list: List | undefined): State => {
  const others = [...state.lists].filter(([name]) => name !== scope);
  return { ...state, lists: new Map(list ? [...others, [scope, list]] : others) };
};

function arrive(state: State, delta: Delta<Pod>): State {
  switch (delta.type) {
    case 'replacing': {
      const nothing = ![...state.known.keys()].some((key) => within(key, delta.scope));
      const begun = state.lists.get(delta.scope) ?? {
        flows: state.queue.length === 0 && nothing,
        parts: [],
      };
      const next = withList(state, delta.scope, { ...begun, parts: [...begun.parts, delta] });
      return begun.flows ? withItem(next, { kind: 'delta', delta }) : next;
    }
    case 'replace-abort':
      return withList(state, delta.scope, undefined);
    case 'replaced': {
      const list = state.lists.get(delta.scope) ?? { flows: false, parts: [] };
      return withItem(withList(state, delta.scope, undefined), { kind: 'list', list, end: delta });
    }
    default:
      return withItem(state, { kind: 'delta', delta });
  }
}

const uidOf = (delta: Keyed) => delta.object?.metadata.uid;
const oneEnd = (a: Keyed, b: Keyed) =>
  uidOf(a) === undefined || uidOf(b) === undefined || uidOf(a) === uidOf(b);
const knows = (delta: Deleted) => (delta.finalStateUnknown ? 0 : 2) + (delta.object ? 1 : 0);
const better = (a: Deleted, b: Deleted) => (knows(a) > knows(b) ? a : b);

/** Adjacent ends of one object are one, at the first's place. */
function mergeEnds(history: readonly Keyed[]): (Keyed | undefined)[] {
  const merged: (Keyed | undefined)[] = [];
  let first = 0;
  for (const [at, delta] of history.entries()) {
    const last = merged[first];
    if (delta.type === 'deleted' && last?.type === 'deleted' && oneEnd(last, delta)) {
      merged[first] = better(last, delta);
      merged.push(undefined);
    } else {
      first = at;
      merged.push(delta);
    }
  }
  return merged;
}

/** One life after the other: each is its newest state, or its end. */
function lives(history: readonly Keyed[]): Keyed[] {
  const story: Keyed[] = [];
  for (const delta of history) {
    const last = story.at(-1);
    if (last === undefined) story.push(delta);
    else if (last.type === 'deleted' && delta.type === 'deleted') {
      if (oneEnd(last, delta)) story.splice(-1, 1, better(last, delta));
      else story.push(delta);
    } else if (delta.type === 'deleted') {
      story.splice(-1, 1, delta.object ? delta : { ...delta, object: last.object as Pod });
    } else if (last.type === 'deleted') {
      story.push({ ...delta, type: 'added' });
    } else if (uidOf(last) === uidOf(delta)) {
      story.splice(-1, 1, { ...delta, type: last.type === 'added' ? 'added' : delta.type });
    } else {
      const { key, object } = last;
      const ended: Keyed = { type: 'deleted', key, object, finalStateUnknown: true };
      story.splice(-1, 1, ended, { ...delta, type: 'added' });
    }
  }
  return story;
}

/** All that waits for one key between two lists, as what is delivered for it at each of its places. */
function fold(history: readonly Keyed[], compression: Compression): Keyed[][] {
  if (compression === 'latest') return [lives(history), ...history.slice(1).map(() => [])];
  return mergeEnds(history).map((delta) => (delta === undefined ? [] : [delta]));
}

/** The queue with every key folded at its places. */
function folded(queue: readonly Item[], compression: Compression): readonly (Item | Keyed[])[] {
  const wall = queue.findIndex((item) => item.kind === 'list');
  if (wall >= 0) {
    return [
      ...folded(queue.slice(0, wall), compression),
      queue[wall] as Item,
      ...folded(queue.slice(wall + 1), compression),
    ];
  }
  const histories = new Map<string, Keyed[]>();
  const places = queue.map((item) => {
    if (item.kind !== 'delta' || !('key' in item.delta)) return undefined;
    const history = histories.get(item.delta.key) ?? [];
    histories.set(item.delta.key, history);
    return { key: item.delta.key, at: history.push(item.delta) - 1 };
  });
  return queue.map((item, index) => {
    const place = places[index];
    if (place === undefined) return item;
    return fold(histories.get(place.key) ?? [], compression)[place.at] ?? [];
  });
}

/** What a list holds at its end: what flowed, and what is handed over with the end. */
function contents({ flows, parts }: List, end: Replaced) {
  const objects = new Map<string, { object: Pod; flowed: boolean }>();
  const rejected = new Set<string>();
  const take = (object: Pod, flowed: boolean) => {
    objects.delete(keyOf(object));
    rejected.delete(keyOf(object));
    objects.set(keyOf(object), { object, flowed });
  };
  const refuse = (key: string) => {
    objects.delete(key);
    rejected.add(key);
  };
  for (const part of parts) {
    for (const object of part.objects) take(object, flows);
    for (const key of part.removed ?? []) {
      objects.delete(key);
      rejected.delete(key);
    }
    (part.rejected ?? []).forEach(refuse);
  }
  for (const object of end.objects) take(object, false);
  (end.rejected ?? []).forEach(refuse);
  return { objects, rejected };
}

function pop(state: State, compression: Compression): State {
  const world = new Map(state.known);
  const touched = new Set<string>();
  const out: Delta<Pod>[] = [];
  const put = (key: string, object: Pod | undefined) => {
    touched.add(key);
    if (object === undefined) world.delete(key);
    else world.set(key, object);
  };
  for (const item of folded(state.queue, compression)) {
    if (Array.isArray(item)) {
      for (const delta of item) {
        const had = world.get(delta.key);
        if (delta.type !== 'deleted') out.push(delta);
        else if (had === undefined) continue;
        else out.push({ ...delta, object: delta.object ?? had });
        put(delta.key, delta.type === 'deleted' ? undefined : delta.object);
      }
    } else if (item.kind === 'list') {
      const { objects, rejected } = contents(item.list, item.end);
      // What flowed on an empty store is all there is of the scope: nothing can be missing.
      for (const [key, object] of item.list.flows ? [] : [...world]) {
        if (objects.has(key) || rejected.has(key) || !within(key, item.end.scope)) continue;
        out.push({ type: 'deleted', key, object, finalStateUnknown: true });
        put(key, undefined);
      }
      const handed = [...objects].filter(([, { flowed }]) => !flowed);
      for (const [key, { object }] of handed) put(key, object);
      out.push({
        ...item.end,
        objects: handed.map(([, { object }]) => object),
        ...(item.list.flows ? { flowed: true } : {}),
        ...(rejected.size > 0 ? { rejected: [...rejected] } : {}),
      });
    } else {
      const { delta } = item;
      if (delta.type === 'replacing') {
        for (const object of delta.objects) put(keyOf(object), object);
        for (const key of delta.removed ?? []) put(key, undefined);
      }
      out.push(delta);
    }
  }
  if (state.resync) {
    for (const [key, object] of state.known) {
      if (!touched.has(key)) out.push({ type: 'sync', key, object });
    }
  }
  return { ...state, queue: [], resync: false, known: world, out };
}

/** The literal keyed scan. */
export function scanFifo(
  pop$: Observable<unknown>,
  resync$: Observable<unknown>,
  compression: Compression,
): OperatorFunction<readonly Delta<Pod>[], readonly Delta<Pod>[]> {
  const start: State = {
    queue: [],
    lists: new Map(),
    resync: false,
    known: new Map(),
    out: [],
  };
  return (source) =>
    merge(
      source.pipe(map((deltas): Input => ({ kind: 'deltas', deltas }))),
      resync$.pipe(map((): Input => ({ kind: 'resync' }))),
      pop$.pipe(map((): Input => ({ kind: 'pop' }))),
    ).pipe(
      scan((before, input) => {
        const state: State = { ...before, out: [] };
        if (input.kind === 'pop') return pop(state, compression);
        if (input.kind === 'resync') return { ...state, resync: true };
        return input.deltas.reduce(arrive, state);
      }, start),
      map((state) => state.out),
      filter((out) => out.length > 0),
    );
}
