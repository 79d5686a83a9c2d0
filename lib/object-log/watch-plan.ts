/**
 * WATCH: the query of a request, as a plan for a `LogWatch`.
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

/** What a watch has to send. */
export interface WatchPlan {
  readonly selection: Selection;
  /** Sent as ADDED before everything else. */
  readonly initial: readonly StoredObject[];
  /** After the initial events a bookmark marks their end. */
  readonly endMark: boolean;
  /** Of the log when the watch was planned: the version that the initial events show. */
  readonly version: bigint;
  readonly bookmarks: boolean;
  /** Events up to this version are not sent. */
  readonly after: bigint;
  /** The position in the log of the first event to send. */
  readonly position: number;
  readonly timeoutMs: number;
  /** A failure to report in the stream, instead of events. */
  readonly failure?: unknown;
}

const OPTIONS = 'ListOptions';
const MATCH = 'resourceVersionMatch';
const INITIAL = 'sendInitialEvents';
/** A watch that names no timeout ends after 30 to 60 minutes. */
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

/** Reads the options of a watch. Throws the `ApiError` that a real server would answer. */
export function watchPlan(
  scope: Scope,
  query: URLSearchParams,
  options: { readonly watchList: boolean; readonly random: () => number },
): WatchPlan {
  checkOptions(query, options.watchList);
  const { collection } = scope;
  const selection = selectionOf(scope, query);
  const seconds = integer(query, 'timeoutSeconds');
  const timeoutMs = seconds > 0 ? seconds * 1000 : MIN_TIMEOUT_MS * (1 + options.random());
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const asked = query.get('resourceVersion') ?? '';
  if (!/^[0-9]*$/.test(asked)) {
    const text = JSON.stringify(asked);
    const message = `resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`;
    throw failure(500, undefined, message);
  }
  const version = asked === '' ? 0n : BigInt(asked);
  const state = isTrue(query.get(INITIAL));
  const planned = { version: collection.version, initial: [], endMark: false };
  const base = { selection, bookmarks, timeoutMs, ...planned };
  const whole = {
    ...base,
    initial: collection.sorted().filter((object) => selection.includes(object)),
    // Unasked, a server with streaming lists marks the end of every initial state.
    endMark: bookmarks && options.watchList,
    after: 0n,
    position: collection.end,
  };
  if (state) {
    const tooLarge = version > collection.version;
    return tooLarge ? { ...whole, failure: tooLargeVersion(asked, collection.version) } : whole;
  }
  if (version === 0n) {
    // `sendInitialEvents=false` asks for no state, from whatever version is now.
    return query.has(INITIAL) ? { ...whole, initial: [], endMark: false } : whole;
  }
  const plan = { ...base, after: version, position: collection.after(version) };
  if (version >= collection.floor) return plan;
  const tooOld = `too old resource version: ${asked} (${collection.floor})`;
  return { ...plan, failure: expired(tooOld) };
}
