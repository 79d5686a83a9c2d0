/**
 * WATCH: what a request asks for. The stream itself is in `watch-stream.ts`.
 * client-go: apimachinery/pkg/apis/meta/internalversion/validation; apiserver/pkg/storage/cacher.
 */

import { isTrue, type Target } from './http/request.ts';
import {
  expired,
  failure,
  forbiddenOption,
  tooLargeVersion,
  unsupportedOption,
} from './http/status.ts';
import { integer } from './list.ts';
import type { ObjectLog } from './object-log.ts';
import { selectionOf } from './selection.ts';
import type { WatchPlan } from './watch-stream.ts';

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

/** Reads the options of a watch. Throws the failure that a real server would answer. */
export function watchPlan(
  target: Target,
  log: ObjectLog,
  query: URLSearchParams,
  options: { readonly watchList: boolean; readonly random: () => number },
): WatchPlan {
  checkOptions(query, options.watchList);
  const { collection } = target;
  const selection = selectionOf(target, query);
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
  const planned = { version: log.version, initial: [], endMark: false };
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
    const tooLarge = version > log.version;
    return tooLarge ? { ...whole, failure: tooLargeVersion(asked, log.version) } : whole;
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
