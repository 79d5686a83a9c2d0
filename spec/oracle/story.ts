/**
 * The judge: checks whether the notifications of a handler are consistent with the history. It does not know which
 * informer sent them. Per key the delivered states are a subsequence of the server's states, in order: add, then
 * updates, then delete, with nothing twice and nothing out of order. Folded, they give the final state of the server.
 */
import { isDeepStrictEqual } from 'node:util';
import type { HistoryEntry, Item } from './history.ts';

/** One call of a handler. Fields about the object are left out in the deletion of an unknown object. */
export interface StoryEvent {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly uid?: string;
  readonly version?: string;
  readonly data?: Item['data'];
  readonly previousUid?: string;
  readonly previousVersion?: string;
  /** Whether the object is part of the initial list. */
  readonly initial?: boolean;
  /**
   * Whether the handler had received the complete initial list before this call. Left out if this was not recorded.
   */
  readonly synced?: boolean;
  /** Whether the deletion itself was missed. */
  readonly finalUnknown?: boolean;
}

/** The deviations that are allowed for one of the two informers. */
export interface Licence {
  /** Unchanged objects may be delivered again, after a resync or a relist. */
  readonly repeats: boolean;
  /** A deletion and a recreation may be delivered as one update. */
  readonly replaces: boolean;
  /** The deletion of an object that was never delivered may be delivered. */
  readonly unknownEnds: boolean;
}

interface Known {
  readonly uid: string | undefined;
  readonly version: string | undefined;
}

/** The position of a story for one key. */
interface Place {
  /** The index of the last delivered entry; -1 before the first. */
  at: number;
  known: Known | undefined;
}

function judgeEvent(
  event: StoryEvent,
  place: Place,
  history: readonly HistoryEntry[],
  licence: Licence,
): string | undefined {
  const { type, uid, version, data } = event;
  const { known, at } = place;
  if (type === 'delete') return judgeEnd(event, place, history, licence);
  if (type === 'add' && known !== undefined) return `added, but ${known.version} exists`;
  if (type === 'update') {
    if (known === undefined) return 'updated, but the object is not known';
    if (event.previousUid !== known.uid || event.previousVersion !== known.version) {
      return `updated from ${event.previousVersion}, but ${known.version} was delivered last`;
    }
    if (uid !== known.uid && !licence.replaces) return `${known.uid} became ${uid}`;
  }
  const found = history.findIndex(
    (entry) => entry.version === version && entry.uid === uid && entry.object !== undefined,
  );
  const entry = history[found];
  if (entry === undefined) return `${version} of ${uid} never existed`;
  if (!isDeepStrictEqual(entry.object?.data, data)) return `${version} had other content`;
  if (found < at) return `older than before: ${version}`;
  if (found === at && !(type === 'update' && licence.repeats)) return `${version} delivered twice`;
  place.at = found;
  place.known = { uid, version };
  return undefined;
}

function judgeEnd(
  { uid, version, finalUnknown }: StoryEvent,
  place: Place,
  history: readonly HistoryEntry[],
  licence: Licence,
): string | undefined {
  const { known, at } = place;
  if (known === undefined && !licence.unknownEnds) return 'deleted, but the object is not known';
  // An informer that delivers a deletion and a recreation as one update knows the newest state only.
  if (known !== undefined && uid !== known.uid && !licence.replaces) {
    return `${uid} deleted, but ${known.uid} exists`;
  }
  const ended = (entry: HistoryEntry, index: number) =>
    index > at && entry.object === undefined && entry.uid === uid;
  const end = history.findIndex(
    (entry, index) => ended(entry, index) && (finalUnknown || entry.version === version),
  );
  if (end === -1) return `${uid} was not deleted ${finalUnknown ? 'since' : `at ${version}`}`;
  if (finalUnknown) {
    const last = history.findIndex(
      (entry) => entry.version === version && entry.uid === uid && entry.object !== undefined,
    );
    if (last === -1) return `${version} of ${uid} never existed`;
    if (last < at) return `its last state is older than before: ${version}`;
  }
  place.at = end;
  place.known = undefined;
  return undefined;
}

/** Describes each contradiction to the history. The result is empty if the story is consistent. */
export function judge(
  story: readonly StoryEvent[],
  history: ReadonlyMap<string, readonly HistoryEntry[]>,
  licence: Licence,
  /** Whether the final state must be that of the server. It is not required of a removed handler. */
  mustBeComplete: boolean,
): string[] {
  const wrong: string[] = [];
  const places = new Map<string, Place>();
  let afterInitial = false;
  story.forEach((event, index) => {
    const { key, type, initial } = event;
    const place = places.get(key) ?? { at: -1, known: undefined };
    places.set(key, place);
    const why = judgeEvent(event, place, history.get(key) ?? [], licence);
    if (why !== undefined) wrong.push(`event ${index}, ${type} of ${key}: ${why}`);
    if (initial && type !== 'add') wrong.push(`event ${index}, ${type} of ${key}: initial`);
    if (type === 'add' && event.synced !== undefined && event.synced === initial) {
      wrong.push(
        `event ${index}, ${key}: ${initial ? '' : 'not '}initial, but ${event.synced ? '' : 'not '}synced`,
      );
    }
    if (initial && afterInitial) wrong.push(`event ${index}, ${key}: initial after others`);
    if (type === 'add' && !initial) afterInitial = true;
  });
  if (!mustBeComplete) return wrong;
  for (const key of new Set([...history.keys(), ...places.keys()])) {
    const truth = history.get(key)?.at(-1)?.object?.metadata;
    const known = places.get(key)?.known;
    if (truth?.uid !== known?.uid || truth?.resourceVersion !== known?.version) {
      wrong.push(
        `${key}: delivered ${known?.version ?? 'none'}, expected ${truth?.resourceVersion ?? 'none'}`,
      );
    }
  }
  return wrong;
}
