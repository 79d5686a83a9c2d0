/** Judges observations: which findings follow from them. Pure, so that a test can state any set-up as data. */
import { type Finding, finding } from './findings.ts';
import type { Observations, SeenError, SeenRight, SeenWatch } from './observations.ts';

/** The versions of Kubernetes that the test suites run with: 1.33 to 1.37. */
const TESTED_MINORS = { first: 33, last: 37 };
/** Date headers have whole seconds, and a response takes time. */
const MOST_SKEW_MS = 10_000;
/** Credentials that end within this time are worth a warning. */
const SOON_MS = { token: 600_000, certificate: 604_800_000 };
/** A browser opens this many connections to one origin over HTTP/1.1. */
const BROWSER_CONNECTIONS = 6;
/** How much later than another response a head must arrive to be late, in milliseconds. */
const LATE_HEAD_MS = 600;

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

function duration(ms: number): string {
  if (ms < 120_000) return seconds(ms);
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000
    ? `${Math.round(ms / 3_600_000)} h`
    : `${Math.round(ms / 86_400_000)} days`;
}

/** The finding of a failed request; `undefined` if the failure is not one of the connection. */
function failure(error: SeenError): Finding | undefined {
  const { reason, status, message, systemCode = '' } = error;
  if (status === 401) return finding('credentials-refused', message);
  if (reason === 'Credentials') return finding('no-credentials', message);
  if (/compressed with /.test(message)) return finding('compressed', message, 'error');
  if (reason === 'Unexpected' || reason === 'Malformed') return finding('no-api-server', message);
  if (status >= 300 && status < 400) return finding('no-api-server', message);
  if (status >= 500) {
    return finding(/without a Status/.test(message) ? 'no-api-server' : 'unreachable', message);
  }
  if (status !== 0) return undefined;
  if (/EXPIRED|NOT_YET/.test(systemCode)) return finding('certificate-dates', message);
  if (/CERT|SSL|SELF_SIGNED|LEAF|ISSUER|EPROTO|TLS/.test(systemCode)) {
    return finding('certificate-refused', message);
  }
  return finding('unreachable', message);
}

function onReach({ reach }: Observations): Finding[] {
  const { error, version, clockAheadMs = 0, connectionsLeft = Number.POSITIVE_INFINITY } = reach;
  const found: Finding[] = [];
  if (error !== undefined) {
    // The version may be forbidden, which says nothing about the kinds.
    const failed = failure(error);
    if (failed !== undefined) found.push(failed);
  } else if (version === undefined) {
    found.push(finding('no-api-server', 'the response to GET /version names no version'));
  }
  const minor = /^v1\.(\d+)/.exec(version ?? '')?.[1];
  const isTested = Number(minor) >= TESTED_MINORS.first && Number(minor) <= TESTED_MINORS.last;
  if (version !== undefined && !isTested)
    found.push(finding('untested-version', `the server is ${version}`));
  if (Math.abs(clockAheadMs) > MOST_SKEW_MS) {
    const way = clockAheadMs > 0 ? 'ahead of' : 'behind';
    const by = duration(Math.abs(clockAheadMs));
    found.push(finding('clock-skew', `this clock is ${by} ${way} the server's`));
  }
  if (connectionsLeft <= BROWSER_CONNECTIONS) {
    const { protocol = 'an unknown protocol' } = reach;
    const seen = `${connectionsLeft} more requests can be open at a time (${protocol}), and each watch holds one`;
    found.push(finding('few-connections', seen));
  }
  return found;
}

function onFacts({ facts, atMs }: Observations): Finding[] {
  const { credentials, certificateEndsAtMs = Number.POSITIVE_INFINITY } = facts;
  const found: Finding[] = [];
  const leftMs = (credentials?.expiresAtMs ?? Number.POSITIVE_INFINITY) - atMs;
  const what = credentials?.kind === 'certificate' ? 'client certificate' : 'token';
  const limitMs = credentials?.kind === 'certificate' ? SOON_MS.certificate : SOON_MS.token;
  if (leftMs <= 0) {
    found.push(finding('token-ends', `the ${what} expired ${duration(-leftMs)} ago`, 'error'));
  } else if (leftMs < limitMs && credentials?.renews === false) {
    const seen = `the ${what} expires in ${duration(leftMs)}, and nothing renews it`;
    found.push(finding('token-ends', seen));
  }
  const validMs = certificateEndsAtMs - atMs;
  if (validMs > 0 && validMs < SOON_MS.certificate) {
    const seen = `the server's certificate ends in ${duration(validMs)}`;
    found.push(finding('certificate-ends', seen));
  }
  return found;
}

function onRights(rights: readonly SeenRight[]): Finding[] {
  const verbs = new Map<string, string[]>();
  for (const { resource, namespace, verb, allowed } of rights) {
    if (allowed !== false) continue;
    const what = `${resource} ${namespace === '' ? 'in all namespaces' : `in the namespace ${namespace}`}`;
    verbs.set(what, [...(verbs.get(what) ?? []), verb]);
  }
  return [...verbs].map(([what, missing]) =>
    finding('missing-right', `the server does not permit to ${missing.join(' and ')} ${what}`),
  );
}

function onLists({ lists, rights }: Observations): Finding[] {
  return lists.flatMap(({ resource, encoding = 'identity', error }) => {
    if (error?.status === 404) return finding('not-served', error.message);
    const isKnown = rights.some((right) => right.resource === resource && right.allowed === false);
    if (error?.status === 403 && !isKnown) return finding('missing-right', error.message);
    const failed = error && failure(error);
    if (failed !== undefined) return failed;
    return encoding === 'identity'
      ? []
      : finding('compressed', `an empty list of ${resource} is compressed with ${encoding}`);
  });
}

/** Whether nothing of a watch arrived before its end. */
function isHeld({ askedMs, bookmarkMs, endMs, ended, stalledMs = 0 }: SeenWatch): boolean {
  if (bookmarkMs === undefined || ended !== 'cleanly') return false;
  const isLate = bookmarkMs > 0.7 * askedMs && bookmarkMs - stalledMs > 0.5 * askedMs;
  return isLate && endMs - bookmarkMs < 300;
}

function onEnd({ resource, askedMs, endMs, ended, headMs }: SeenWatch): Finding[] {
  if (headMs === undefined) return [];
  const asked = `a watch of ${resource} for ${seconds(askedMs)}`;
  if (ended === 'late') {
    const seen = `${asked} was still open after ${seconds(endMs)}, so its end is hidden`;
    return [finding('late-head', seen, 'error')];
  }
  const isEarly = ended !== 'left' && endMs < 0.8 * askedMs;
  if (!isEarly) return [];
  const how = ended === 'broken' ? 'was cut' : 'ended';
  return [finding('time-limit', `${asked} ${how} after ${seconds(endMs)}`)];
}

/** The findings of the two watches. */
function onWatches({ streamed, quiet, lists }: Observations): Finding[] {
  if (streamed === undefined) return [];
  const { encoding = 'identity', error, headMs, bookmarkMs, ended, askedMs, endMs } = streamed;
  const { resource } = streamed;
  const found: Finding[] = [];
  const isRefused = headMs !== undefined && error !== undefined && error.status >= 400;
  if (isRefused) found.push(finding('no-streaming', error.message));
  if (encoding !== 'identity') {
    const isAll = lists.some((list) => (list.encoding ?? 'identity') !== 'identity');
    const seen = `streaming lists are compressed with ${encoding}`;
    // The lists say so already.
    if (!isAll) found.push(finding('compressed', seen, 'note'));
  }
  const failed = headMs === undefined && error ? failure(error) : undefined;
  if (failed !== undefined) return [failed];
  const watch = isRefused ? quiet : streamed;
  if (watch === undefined) return found;
  if (headMs === undefined && ended === 'late') {
    const seen = `a watch of ${resource} for ${seconds(askedMs)} had no response after ${seconds(endMs)}`;
    return [...found, finding('held-back', seen)];
  }
  found.push(...onEnd(watch));
  if (isHeld(watch)) {
    const { encoding: how = 'identity', bookmarkMs: firstMs = 0 } = watch;
    const compressed = how === 'identity' ? '' : `; the watch is compressed with ${how}`;
    const seen = `the first event of a watch arrived after ${seconds(firstMs)}, with its end${compressed}`;
    return [...found, finding('held-back', seen)];
  }
  const isComplete = watch.ended === 'cleanly' && watch.endMs >= 0.8 * watch.askedMs;
  if (watch.bookmarkMs === undefined && isComplete && bookmarkMs === undefined) {
    found.push(finding('no-bookmarks', `a watch of ${seconds(watch.askedMs)} had no bookmark`));
  }
  const lateMs = (quiet?.headMs ?? quiet?.endMs ?? 0) - (streamed.headMs ?? 0);
  if (!isRefused && lateMs - (quiet?.stalledMs ?? 0) > LATE_HEAD_MS) {
    const seen = `the head of a watch without events arrived ${seconds(lateMs)} later than that of a watch with events`;
    found.push(finding('late-head', seen));
  }
  return found;
}

function onInformers({ informers }: Observations): Finding[] {
  return informers.flatMap(({ name, blocked, heldBack, error }) => {
    if (blocked !== undefined) {
      const why = error === undefined ? '' : `: ${error.message}`;
      return finding('blocked-informer', `informer ${name} is blocked (${blocked})${why}`);
    }
    return heldBack
      ? finding('held-back', `the events of informer ${name} arrive only when its watch ends`)
      : [];
  });
}

const RANKS = { error: 0, warning: 1, note: 2 } as const;

/** The findings that follow from observations, errors first. Each finding is there once for the same reason. */
export function judge(seen: Observations): Finding[] {
  const all = [
    ...onReach(seen),
    ...onFacts(seen),
    ...onRights(seen.rights),
    ...onLists(seen),
    ...onWatches(seen),
    ...onInformers(seen),
  ];
  // One failure of the connection or of the credentials fails every request.
  const general =
    /^(?:unreachable|credentials-refused|certificate-|no-api-server|no-credentials|held-back)/;
  const first = all.filter(
    ({ name, seen: what }, at) =>
      all.findIndex((each) => each.name === name && (general.test(name) || each.seen === what)) ===
      at,
  );
  return first.sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
}
