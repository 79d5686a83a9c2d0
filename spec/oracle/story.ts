/**
 * The judge: is what a handler was told a story that the history allows? It knows neither informer. Per key the
 * states told are a subsequence of the server's, in its order; add, then updates, then delete; nothing twice,
 * nothing backwards; and folded they are what is true in the end.
 */
import { isDeepStrictEqual } from 'node:util';
import type { HistoryEntry, Item } from './history.ts';

/** One call of a handler. Absent in a deletion: the object was not known. */
export interface StoryEvent {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly uid?: string;
  readonly version?: string;
  readonly data?: Item['data'];
  readonly previousUid?: string;
  readonly previousVersion?: string;
  /** Of the first list. */
  readonly initial?: boolean;
  /** The handler had been told of the whole first list before this call. Absent: nobody asked. */
  readonly synced?: boolean;
  /** The end itself was missed. */
  readonly finalUnknown?: boolean;
}

/** What a teller may do that another may not. */
export interface Licence {
  /** May tell an object again that did not change: after a resync, or a relist. */
  readonly repeats: boolean;
  /** May tell delete and recreate as one update. */
  readonly replaces: boolean;
  /** May tell of the end of what it never told of. */
  readonly unknownEnds: boolean;
}

interface Known {
  readonly uid: string | undefined;
  readonly version: string | undefined;
}

/** Where a story has come to with one key. */
interface Place {
  /** Index of the entry last told of; -1 before the first. */
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
  if (type === 'add' && known !== undefined) return `added, but ${known.version} is there`;
  if (type === 'update') {
    if (known === undefined) return 'updated, but it is not there';
    if (event.previousUid !== known.uid || event.previousVersion !== known.version) {
      return `updated from ${event.previousVersion}, but ${known.version} was told last`;
    }
    if (uid !== known.uid && !licence.replaces) return `${known.uid} became ${uid}`;
  }
  const found = history.findIndex(
    (entry) => entry.version === version && entry.uid === uid && entry.object !== undefined,
  );
  const entry = history[found];
  if (entry === undefined) return `${version} of ${uid} never was`;
  if (!isDeepStrictEqual(entry.object?.data, data)) return `${version} held something else`;
  if (found < at) return `goes back to ${version}`;
  if (found === at && !(type === 'update' && licence.repeats)) return `${version} told twice`;
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
  if (known === undefined && !licence.unknownEnds) return 'deleted, but it is not there';
  // One that saw a delete and a recreate as one update knows the newest state only.
  if (known !== undefined && uid !== known.uid && !licence.replaces) {
    return `${uid} deleted, but ${known.uid} is there`;
  }
  const ended = (entry: HistoryEntry, index: number) =>
    index > at && entry.object === undefined && entry.uid === uid;
  const end = history.findIndex(
    (entry, index) => ended(entry, index) && (finalUnknown || entry.version === version),
  );
  if (end === -1) return `${uid} did not end ${finalUnknown ? 'since' : `at ${version}`}`;
  if (finalUnknown) {
    const last = history.findIndex(
      (entry) => entry.version === version && entry.uid === uid && entry.object !== undefined,
    );
    if (last === -1) return `${version} of ${uid} never was`;
    if (last < at) return `its last state goes back to ${version}`;
  }
  place.at = end;
  place.known = undefined;
  return undefined;
}

/** What contradicts the history, in words; empty when the story is admissible. */
export function judge(
  story: readonly StoryEvent[],
  history: ReadonlyMap<string, readonly HistoryEntry[]>,
  licence: Licence,
  /** Its end must be the truth. Not asked of a handler that was removed. */
  whole: boolean,
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
  if (!whole) return wrong;
  for (const key of new Set([...history.keys(), ...places.keys()])) {
    const truth = history.get(key)?.at(-1)?.object?.metadata;
    const known = places.get(key)?.known;
    if (truth?.uid !== known?.uid || truth?.resourceVersion !== known?.version) {
      wrong.push(
        `${key}: told ${known?.version ?? 'none'}, true ${truth?.resourceVersion ?? 'none'}`,
      );
    }
  }
  return wrong;
}
