/**
 * Turns the query of a WATCH into a plan for a `LogWatch`.
 * client-go: apimachinery/pkg/apis/meta/internalversion/validation; apiserver/pkg/storage/cacher.
 */
import {
  expired,
  failure,
  forbiddenOption,
  tooLargeVersion,
  unsupportedOption,
} from './failures.ts';
import { integer, isTrue } from './list-options.ts';
import { type Scope, type Selection, selectionOf } from './selection.ts';
import type { StoredObject } from './stored-object.ts';

/** The events that a watch must send. */
export interface WatchPlan {
  readonly selection: Selection;
  /** Objects that are sent as ADDED before all other events. */
  readonly initial: readonly StoredObject[];
  /** Whether a bookmark marks the end of the initial events. */
  readonly endMark: boolean;
  /** The version of the log when the watch was planned, which is the version of the initial events. */
  readonly version: bigint;
  readonly bookmarks: boolean;
  /** Events up to this version are not sent. */
  readonly after: bigint;
  /** The position in the log of the first event to send. */
  readonly position: number;
  readonly timeoutMs: number;
  /** A failure that is sent in the stream instead of events. */
  readonly failure?: unknown;
}

const OPTIONS = 'ListOptions';
const MATCH = 'resourceVersionMatch';
const INITIAL = 'sendInitialEvents';
/** A watch without a `timeoutSeconds` ends after 30 to 60 minutes. */
const MIN_TIMEOUT_MS = 1_800_000;

function checkOptions(query: URLSearchParams, watchList: boolean): void {
  const match = query.get(MATCH) ?? '';
  if (!query.has(INITIAL)) {
    if (match === '') return;
    const message = `${MATCH} is forbidden for watch unless ${INITIAL} is provided`;
    throw forbiddenOption(OPTIONS, MATCH, message);
  }
  if (!watchList) {
    const message = `${INITIAL} is forbidden for watch unless the WatchList feature gate is enabled`;
    throw forbiddenOption(OPTIONS, INITIAL, message);
  }
  if (match === '') {
    const message = `${INITIAL} requires setting ${MATCH} to NotOlderThan`;
    throw forbiddenOption(OPTIONS, MATCH, message);
  }
  if (match !== 'NotOlderThan') throw unsupportedOption(OPTIONS, MATCH, match, ['NotOlderThan']);
}

/** Parses the options of a watch. Throws the `ApiError` that kube-apiserver would send. */
export function watchPlan(
  scope: Scope,
  query: URLSearchParams,
  options: { readonly watchList: boolean; readonly random: () => number },
): WatchPlan {
  checkOptions(query, options.watchList);
  const { collection } = scope;
  const selection = selectionOf(scope, query);
  const seconds = integer(query, 'timeoutSeconds');
  integer(query, 'limit');
  const timeoutMs = seconds > 0 ? seconds * 1000 : MIN_TIMEOUT_MS * (1 + options.random());
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const requested = query.get('resourceVersion') ?? '';
  if (!/^[0-9]*$/.test(requested)) {
    const text = JSON.stringify(requested);
    const message = `resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`;
    throw failure(500, undefined, message);
  }
  const version = requested === '' ? 0n : BigInt(requested);
  const streaming = isTrue(query.get(INITIAL));
  const planned = { version: collection.version, initial: [], endMark: false };
  const base = { selection, bookmarks, timeoutMs, ...planned };
  const withInitialEvents = {
    ...base,
    initial: collection.sorted().filter((object) => selection.includes(object)),
    // A server with streaming lists marks the end of the initial events also if that was not requested.
    endMark: bookmarks && options.watchList,
    after: 0n,
    position: collection.end,
  };
  if (streaming) {
    const tooLarge = version > collection.version;
    return tooLarge
      ? { ...withInitialEvents, failure: tooLargeVersion(requested, collection.version) }
      : withInitialEvents;
  }
  if (version === 0n) {
    // `sendInitialEvents=false` requests no initial events, only the changes from now on.
    return query.has(INITIAL)
      ? { ...withInitialEvents, initial: [], endMark: false }
      : withInitialEvents;
  }
  const plan = { ...base, after: version, position: collection.after(version) };
  if (version >= collection.floor) return plan;
  const tooOld = `too old resource version: ${requested} (${collection.floor})`;
  return { ...plan, failure: expired(tooOld) };
}
