/** A short notation for change sets, and a store to which a test applies deltas. */
import {
  type ApplyDeltasOptions,
  applyDeltas,
  byNamespace,
  type Change,
  type ChangeSet,
  createIndexer,
  type Delta,
  type StoreRefusal,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { type Pod, pod } from '../delta/pods.ts';

const version = (object: Pod | undefined) => object?.metadata.resourceVersion;

function word({ key, previous, object, last, finalStateUnknown }: Change<Pod>): string {
  if (object === undefined) return `-${key}@${version(last)}${finalStateUnknown ? '?' : ''}`;
  if (previous === undefined) return `+${key}@${version(object)}`;
  return `~${key}@${version(previous)}>${version(object)}`;
}

/** Writes a set in the short notation, such as `watch* -a@1? +b@2 ~c@1>3`: `*` synced, `!` reset, `i` initial. */
export function brief(set: ChangeSet<Pod>): string {
  const marks = `${set.synced ? '*' : ''}${set.reset ? '!' : ''}${set.initial ? 'i' : ''}`;
  return [`${set.cause}${marks}`, ...set.changes.map(word)].join(' ');
}

/** A store with these objects, synced at version 1, and its change sets. Without objects the store is not synced. */
export function storing(
  objects: readonly Pod[] | undefined,
  options: ApplyDeltasOptions<Pod> = {},
  indexers: Parameters<typeof createIndexer<Pod>>[0] = {},
) {
  const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace }, ...indexers });
  const source = new Subject<readonly Delta<Pod>[]>();
  const sets: ChangeSet<Pod>[] = [];
  const refusals: StoreRefusal<Pod>[] = [];
  const onRefused = (rejection: StoreRefusal<Pod>) => refusals.push(rejection);
  const end = { completed: false };
  const subscription = source.pipe(applyDeltas(indexer, { onRefused, ...options })).subscribe({
    next: (set) => sets.push(set),
    complete: () => {
      end.completed = true;
    },
  });
  const send = (...deltas: Delta<Pod>[]) => {
    source.next(deltas);
    return sets.splice(0).map(brief);
  };
  if (objects !== undefined) {
    send({ type: 'replaced', objects, resourceVersion: '1', trustVersions: true });
  }
  return { indexer, source, sets, refusals, send, subscription, end };
}

/** An object whose index function throws. */
export function bad(key: string, at: number): Pod {
  return pod(key, at, 'bad');
}

export function refusing(object: Pod): readonly string[] {
  if (object.metadata.uid === 'bad') throw new Error('bad object');
  return [object.metadata.name];
}
