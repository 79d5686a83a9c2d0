/**
 * The queue as its definition says: one `scan` over three tagged inputs, with an immutable state. Folding and
 * lists are worked out at the pop from everything that came, so nothing here is shared with the operator.
 */
import type { Compression, Delta, Refused } from 'rx-informer';
import { merge, type Observable, type OperatorFunction } from 'rxjs';
import { filter, map, scan } from 'rxjs/operators';
import { keyOf, type Pod } from './pods.ts';

type Keyed = Extract<Delta<Pod>, { key: string }>;
type Present = Extract<Delta<Pod>, { type: 'added' | 'updated' | 'sync' }>;
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
  readonly retry: boolean;
  readonly known: World;
  /** Who exists in a state that was refused. */
  readonly refused: ReadonlySet<string>;
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
    case 'replace-abort': {
      const next = withList(state, delta.scope, undefined);
      const flows = state.lists.get(delta.scope)?.flows === true;
      return flows ? withItem(next, { kind: 'delta', delta }) : next;
    }
    case 'retry':
      return { ...state, retry: true };
    case 'replaced': {
      const list = state.lists.get(delta.scope) ?? { flows: false, parts: [] };
      return withItem(withList(state, delta.scope, undefined), { kind: 'list', list, end: delta });
    }
    default:
      return withItem(state, { kind: 'delta', delta });
  }
}

const uidOf = (delta: Keyed) =>
  delta.type === 'refused' ? delta.refused.uid : delta.object?.metadata.uid;
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

/** One life after the other: each is its newest state, or its end. A refusal counts as long as it is the last word. */
function lives(history: readonly Keyed[]): Keyed[] {
  const last = history.at(-1);
  const accepted = history.filter((delta) => delta.type !== 'refused');
  return last?.type === 'refused' ? [...acceptedLives(accepted), last] : acceptedLives(accepted);
}

function acceptedLives(history: readonly (Present | Deleted)[]): Keyed[] {
  const story: (Present | Deleted)[] = [];
  for (const delta of history) {
    const last = story.at(-1);
    if (last === undefined) story.push(delta);
    else if (last.type === 'deleted' && delta.type === 'deleted') {
      if (oneEnd(last, delta)) story.splice(-1, 1, better(last, delta));
      else story.push(delta);
    } else if (last.type === 'deleted') {
      story.push({ ...(delta as Present), type: 'added' });
    } else if (delta.type === 'deleted') {
      story.splice(-1, 1, delta.object ? delta : { ...delta, object: last.object });
    } else if (uidOf(last) === uidOf(delta)) {
      story.splice(-1, 1, { ...delta, type: last.type === 'added' ? 'added' : delta.type });
    } else {
      const { key, object } = last;
      const ended: Deleted = { type: 'deleted', key, object, finalStateUnknown: true };
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

/** What a list hands over with its end: what flowed, flowed with those who were refused. */
function contents({ flows, parts }: List, end: Replaced) {
  const objects = new Map<string, Pod>();
  const rejected = new Map<string, Refused>();
  const forget = (key: string) => {
    objects.delete(key);
    rejected.delete(key);
  };
  for (const part of flows ? [end] : [...parts, end]) {
    for (const object of part.objects) {
      forget(keyOf(object));
      objects.set(keyOf(object), object);
    }
    if (part.type === 'replacing') part.removed?.forEach(forget);
    for (const refused of part.rejected ?? []) {
      forget(refused.key);
      rejected.set(refused.key, refused);
    }
  }
  return { objects, rejected };
}

function pop(state: State, compression: Compression): State {
  const world = new Map(state.known);
  const refused = new Set(state.refused);
  const touched = new Set<string>();
  const out: Delta<Pod>[] = [];
  const put = (key: string, object: Pod | undefined) => {
    touched.add(key);
    refused.delete(key);
    if (object === undefined) world.delete(key);
    else world.set(key, object);
  };
  const refuse = (key: string) => {
    touched.add(key);
    refused.add(key);
  };
  const tell = (delta: Keyed) => {
    const { key } = delta;
    if (delta.type !== 'deleted') {
      out.push(delta);
      return delta.type === 'refused' ? refuse(key) : put(key, delta.object);
    }
    const had = world.get(key);
    if (had === undefined && !refused.has(key)) return;
    const object = delta.object ?? had;
    out.push(object === undefined ? delta : { ...delta, object });
    put(key, undefined);
  };
  const tellList = ({ list, end }: Extract<Item, { kind: 'list' }>) => {
    const { objects, rejected } = contents(list, end);
    // What flowed on an empty store is all there is of the scope: nothing can be missing.
    for (const [key, object] of list.flows ? [] : [...world]) {
      if (objects.has(key) || rejected.has(key) || !within(key, end.scope)) continue;
      out.push({ type: 'deleted', key, object, finalStateUnknown: true });
      put(key, undefined);
    }
    for (const key of list.flows ? [] : refused) if (within(key, end.scope)) refused.delete(key);
    for (const [key, object] of objects) put(key, object);
    for (const key of rejected.keys()) refuse(key);
    out.push({
      ...end,
      objects: [...objects.values()],
      ...(list.flows ? { flowed: true } : {}),
      ...(rejected.size > 0 ? { rejected: [...rejected.values()] } : {}),
    });
  };
  const tellWhole = (delta: Extract<Item, { kind: 'delta' }>['delta']) => {
    out.push(delta);
    if (delta.type !== 'replacing') return;
    for (const object of delta.objects) put(keyOf(object), object);
    for (const { key } of delta.rejected ?? []) refuse(key);
    for (const key of delta.removed ?? []) put(key, undefined);
  };
  for (const item of folded(state.queue, compression)) {
    if (Array.isArray(item)) item.forEach(tell);
    else if (item.kind === 'list') tellList(item);
    else tellWhole(item.delta);
  }
  if (state.retry) out.push({ type: 'retry' });
  if (state.resync) {
    for (const [key, object] of state.known) {
      if (!touched.has(key)) out.push({ type: 'sync', key, object });
    }
  }
  return { ...state, queue: [], resync: false, retry: false, known: world, refused, out };
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
    retry: false,
    known: new Map(),
    refused: new Set(),
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
