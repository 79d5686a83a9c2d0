/**
 * The oracle of the queue, written as its definition: one `scan` over three tagged inputs, with an immutable state. It
 * computes folds and lists at the pop, from all deltas since the last one, and shares no code with the operator.
 */
import type { Delta, Refused } from 'rx-informer';
import { merge, type Observable, type OperatorFunction } from 'rxjs';
import { filter, map, scan } from 'rxjs/operators';
import type { CompressionName } from './compressions.ts';
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
  /** The keys of objects that exist in a refused state. */
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

function push(state: State, delta: Delta<Pod>): State {
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
const isSameObject = (a: Keyed, b: Keyed) =>
  uidOf(a) === undefined || uidOf(b) === undefined || uidOf(a) === uidOf(b);
const knows = (delta: Deleted) => (delta.finalStateUnknown ? 0 : 2) + (delta.object ? 1 : 0);
const better = (a: Deleted, b: Deleted) => (knows(a) > knows(b) ? a : b);

/** Merges adjacent deletions of one object into one, at the place of the first. */
function mergeDeletions(history: readonly Keyed[]): (Keyed | undefined)[] {
  const merged: (Keyed | undefined)[] = [];
  let first = 0;
  for (const [at, delta] of history.entries()) {
    const last = merged[first];
    if (delta.type === 'deleted' && last?.type === 'deleted' && isSameObject(last, delta)) {
      merged[first] = better(last, delta);
      merged.push(undefined);
    } else {
      first = at;
      merged.push(delta);
    }
  }
  return merged;
}

/** The net deltas of one key: per object its newest state, or its deletion. A refusal counts only if it is last. */
function netDeltas(history: readonly Keyed[]): Keyed[] {
  const last = history.at(-1);
  const accepted = history.filter((delta) => delta.type !== 'refused');
  return last?.type === 'refused' ? [...netOfAccepted(accepted), last] : netOfAccepted(accepted);
}

function netOfAccepted(history: readonly (Present | Deleted)[]): Keyed[] {
  const net: (Present | Deleted)[] = [];
  for (const delta of history) {
    const last = net.at(-1);
    if (last === undefined) net.push(delta);
    else if (last.type === 'deleted' && delta.type === 'deleted') {
      if (isSameObject(last, delta)) net.splice(-1, 1, better(last, delta));
      else net.push(delta);
    } else if (last.type === 'deleted') {
      net.push({ ...(delta as Present), type: 'added' });
    } else if (delta.type === 'deleted') {
      net.splice(-1, 1, delta.object ? delta : { ...delta, object: last.object });
    } else if (uidOf(last) === uidOf(delta)) {
      net.splice(-1, 1, { ...delta, type: last.type === 'added' ? 'added' : delta.type });
    } else {
      const { key, object } = last;
      const ended: Deleted = { type: 'deleted', key, object, finalStateUnknown: true };
      net.splice(-1, 1, ended, { ...delta, type: 'added' });
    }
  }
  return net;
}

/** Folds the deltas of one key between two lists. Returns the deltas to deliver at each of their places. */
function fold(history: readonly Keyed[], compression: CompressionName): Keyed[][] {
  if (compression === 'latest') return [netDeltas(history), ...history.slice(1).map(() => [])];
  return mergeDeletions(history).map((delta) => (delta === undefined ? [] : [delta]));
}

/** The queue with the deltas of every key folded. */
function folded(queue: readonly Item[], compression: CompressionName): readonly (Item | Keyed[])[] {
  const relistAt = queue.findIndex((item) => item.kind === 'list');
  if (relistAt >= 0) {
    return [
      ...folded(queue.slice(0, relistAt), compression),
      queue[relistAt] as Item,
      ...folded(queue.slice(relistAt + 1), compression),
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

/** The contents of the `replaced` of a list; without the parts that were passed on before. */
function contents({ flows, parts }: List, end: Replaced) {
  const objects = new Map<string, Pod>();
  const refused = new Map<string, Refused>();
  const forget = (key: string) => {
    objects.delete(key);
    refused.delete(key);
  };
  for (const part of flows ? [end] : [...parts, end]) {
    for (const object of part.objects) {
      forget(keyOf(object));
      objects.set(keyOf(object), object);
    }
    if (part.type === 'replacing') part.removed?.forEach(forget);
    for (const each of part.refused ?? []) {
      forget(each.key);
      refused.set(each.key, each);
    }
  }
  return { objects, refused };
}

function pop(state: State, compression: CompressionName): State {
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
  const emit = (delta: Keyed) => {
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
  const emitList = ({ list, end }: Extract<Item, { kind: 'list' }>) => {
    const { objects, refused: listedRefused } = contents(list, end);
    // Parts that were passed on to an empty store are all objects of the scope, so none can be missing.
    const missing: Deleted[] = [];
    for (const [key, object] of list.flows ? [] : [...world]) {
      if (objects.has(key) || listedRefused.has(key) || !within(key, end.scope)) continue;
      missing.push({ type: 'deleted', key, object, finalStateUnknown: true });
      put(key, undefined);
    }
    for (const key of list.flows ? [] : refused) if (within(key, end.scope)) refused.delete(key);
    for (const [key, object] of objects) put(key, object);
    for (const key of listedRefused.keys()) refuse(key);
    out.push({
      ...end,
      objects: [...objects.values()],
      ...{ listed: objects, missing },
      ...(list.flows ? { flowed: true } : {}),
      ...(listedRefused.size > 0 ? { refused: [...listedRefused.values()] } : {}),
    });
  };
  const emitUnkeyed = (delta: Extract<Item, { kind: 'delta' }>['delta']) => {
    out.push(delta);
    if (delta.type !== 'replacing') return;
    for (const object of delta.objects) put(keyOf(object), object);
    for (const { key } of delta.refused ?? []) refuse(key);
    for (const key of delta.removed ?? []) put(key, undefined);
  };
  for (const item of folded(state.queue, compression)) {
    if (Array.isArray(item)) item.forEach(emit);
    else if (item.kind === 'list') emitList(item);
    else emitUnkeyed(item.delta);
  }
  if (state.retry) out.push({ type: 'retry' });
  if (state.resync) {
    for (const [key, object] of state.known) {
      if (!touched.has(key)) out.push({ type: 'sync', key, object });
    }
  }
  return { ...state, queue: [], resync: false, retry: false, known: world, refused, out };
}

/** The queue as a literal keyed scan. */
export function scanFifo(
  pop$: Observable<unknown>,
  resync$: Observable<unknown>,
  compression: CompressionName,
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
        return input.deltas.reduce(push, state);
      }, start),
      map((state) => state.out),
      filter((out) => out.length > 0),
    );
}
