/**
 * What a client in trouble may cost its server. Derived, not measured:
 *
 * After each failure there is a wait: `base`, doubled with every failure up to `cap`; chance only makes it longer. So the
 * number of tries ("cycles") that begin in a window is at most one, plus the waits that fit in one after the other. It
 * begins anew only after two healthy minutes, or in a new run.
 *
 * Within one cycle, without a wait between: a streaming list whose version is gone asks once for the newest; a server
 * that cannot stream is asked for pages; pages whose token expired become one full list. So four reads of the collection
 * at most, and one watch, which a list that worked turns into. Pages follow only a page that worked.
 *
 * A watch that the server closes cleanly goes on at once if it lived a second: one more watch a second. So do the short
 * watches behind a proxy that holds events back. When that is found out, each watch fails once, which is a failure like any.
 *
 * An audit asks beside that: a page of each round, one more where a version or a token is gone, and after each failure
 * a wait of a 50th of its period at least. A round that finds a difference is one more list, which is one cycle.
 *
 * A list that an expired version asks for within a second is a try without its wait: one at first, and one after every two
 * healthy minutes. A refresh is a try of its own, with the watch that was due and with a list. The next watch is asked for
 * once in the life of each watch: at half of it, or 95 s before its end.
 *
 * Whether a proxy holds events back is looked into with one probe a minute, of all that a client asks.
 *
 * With the default backoff (0.8 s, doubled, 30 s) that is for one minute 8 cycles, 32 reads and 77 watches; measured
 * maxima are printed beside it.
 */

/** One request, as seen between client and server. */
export interface Seen {
  readonly atMs: number;
  /** Whose it is: its path. */
  readonly who: string;
  /** The run of the informer that it belongs to. */
  readonly generation: number;
  readonly kind: 'list' | 'page' | 'stream' | 'watch' | 'probe' | 'audit';
  /** Filled in when the answer comes. */
  status?: number;
  answeredMs?: number;
  /** Earliest time of the next one, by Retry-After. */
  notBeforeMs?: number;
}

/** The waits that were agreed. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

const PROBE_PERIOD_MS = 60_000;
const WINDOWS_MS = [1_000, 10_000, 60_000, 300_000];

/** What else is known of the client. */
export interface Manners {
  /** So early may a timer of a real clock fire. */
  readonly earlyMs?: number;
  /** It lists again and again instead of watching, with at least this between two lists. */
  readonly pollMs?: number;
  /** A watch lasts this long at least. @defaultValue 300000 */
  readonly watchMs?: number;
  /** After so long without a failure all is forgotten. @defaultValue 120000 */
  readonly healthyMs?: number;
  /** When somebody has asked for a refresh. */
  readonly refreshes?: readonly number[];
  /** It compares its store with the server, with this period. */
  readonly auditMs?: number;
}

/** The most pages that a round of these histories takes: 18 objects, three a page, where the server makes them so small. */
const AUDIT_PAGES = 6;

/** How many tries may begin within a window. */
export function cyclesWithin(windowMs: number, { baseMs, capMs }: Backoff): number {
  let cycles = 1;
  let atMs = 0;
  for (;;) {
    atMs += Math.min(capMs, baseMs * 2 ** Math.min(cycles - 1, 40));
    if (atMs > windowMs) return cycles;
    cycles++;
  }
}

/** What may be asked within a window. */
export function allowance(
  windowMs: number,
  backoff: Backoff,
  manners: Manners = {},
): { reads: number; watches: number; audits: number } {
  const { auditMs = Number.POSITIVE_INFINITY } = manners;
  // Rounds begin 70 % of a period apart, half of that after a list.
  const rounds =
    auditMs === Number.POSITIVE_INFINITY ? 0 : 2 + Math.floor(windowMs / (auditMs / 2));
  const tries = Math.floor(windowMs / (auditMs / 50));
  const { pollMs = Number.POSITIVE_INFINITY, watchMs = 300_000, healthyMs = 120_000 } = manners;
  const prompt = 1 + Math.floor(windowMs / healthyMs);
  const refreshes = busiest(manners.refreshes ?? [], windowMs);
  const cycles = cyclesWithin(windowMs, backoff) + prompt + refreshes + rounds;
  const renewals = 1 + Math.floor(windowMs / Math.max(watchMs / 2, watchMs - 95_000));
  // A poll is a list, or two where the token of its pages expires.
  const polled = 2 * Math.floor(windowMs / pollMs);
  return {
    reads: 4 * cycles + polled,
    watches: 2 * cycles + Math.floor(windowMs / 1000) + renewals,
    audits: rounds * (AUDIT_PAGES + 2) + 2 * tries,
  };
}

/** The busiest window of each length. */
function busiest(times: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (let to = 0; to < times.length; to++) {
    while ((times[to] as number) - (times[from] as number) > windowMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** The most that was asked, of all that it was asked in one minute. */
export interface Load {
  reads: number;
  watches: number;
  audits: number;
}

/** Notes what was over the budget; answers the busiest minute. */
export function checkBudget(
  seen: readonly Seen[],
  backoff: Backoff,
  wrong: string[],
  manners: Manners = {},
): Load {
  const { earlyMs = 0 } = manners;
  const load: Load = { reads: 0, watches: 0, audits: 0 };
  const probes = seen.filter(({ kind }) => kind === 'probe');
  for (const [at, { atMs }] of probes.entries()) {
    const sinceMs = atMs - (probes[at - 1]?.atMs ?? Number.NEGATIVE_INFINITY);
    if (sinceMs >= PROBE_PERIOD_MS - earlyMs) continue;
    wrong.push(`a probe ${sinceMs} ms after another; one in ${PROBE_PERIOD_MS} ms is allowed`);
  }
  const groups = new Map<string, Seen[]>();
  for (const request of seen) {
    if (request.kind === 'probe') continue;
    const group = `${request.who} run ${request.generation}`;
    const before = groups.get(group);
    if (before === undefined) groups.set(group, [request]);
    else before.push(request);
  }
  for (const [group, requests] of groups) {
    const reads = requests.filter(({ kind }) => kind === 'list' || kind === 'stream');
    const watches = requests.filter(({ kind }) => kind === 'watch');
    const audits = requests.filter(({ kind }) => kind === 'audit');
    for (const windowMs of WINDOWS_MS) {
      const allowed = allowance(windowMs, backoff, manners);
      for (const [what, all] of [
        ['reads', reads],
        ['watches', watches],
        ['audits', audits],
      ] as const) {
        const most = busiest(
          all.map(({ atMs }) => atMs),
          windowMs,
        );
        if (windowMs === 60_000) load[what] = Math.max(load[what], most);
        if (most <= allowed[what]) continue;
        wrong.push(`${group}: ${most} ${what} in ${windowMs} ms; ${allowed[what]} are allowed`);
      }
    }
    for (const [at, request] of requests.entries()) {
      const { notBeforeMs, answeredMs = 0 } = request;
      if (notBeforeMs === undefined) continue;
      const next = requests.slice(at + 1).find(({ atMs }) => atMs >= answeredMs);
      if (next !== undefined && next.atMs < notBeforeMs - earlyMs) {
        wrong.push(`${group}: asked at ${next.atMs} ms; Retry-After said ${notBeforeMs} ms`);
      }
    }
  }
  return load;
}
