/**
 * The budget: how many requests a client in trouble may send. It is derived, not measured:
 *
 * After each failure the client waits for `base`, doubled with every failure up to `cap`; randomness only makes the
 * wait longer. The number of tries ("cycles") that begin in a window is therefore at most one, plus the number of
 * consecutive waits that fit in the window. The waits are reset only after two healthy minutes, or in a new run.
 *
 * Within one cycle there is no wait. A streaming list whose version has expired requests the newest version once. A
 * server that cannot stream is asked for pages. Pages whose token has expired are replaced by one complete list. So a
 * cycle has at most four reads of the collection, and one watch after a successful list. Further pages follow only a
 * successful page.
 *
 * If the server closes a watch cleanly after a second or more, the client resumes immediately, which adds one watch
 * per second. The same holds for the short watches behind a proxy that holds events back. When the client detects
 * such a proxy, each watch fails once, which counts as a failure.
 *
 * An audit sends requests of its own: the pages of each round, one more if a version or a token has expired, and
 * after each failure a wait of at least a 50th of its period. A round that finds a difference causes one more list,
 * which is one cycle.
 *
 * A list after an expired version, within a second, is a try without a wait: one at first, and one after every two
 * healthy minutes. A refresh is one more try, with the watch that was due and with a list. The next watch is
 * requested once in the life of each watch: at half of it, or 95 s before its end.
 *
 * A client sends at most one probe per minute to find out whether a proxy holds events back, and at most one in 12 s to
 * find out whether the server lives.
 *
 * A request that is answered with 406 or 415 and repeated at once, because the server may have refused the parameter of
 * the Accept header (W72), counts as one request with its repetition. A client learns this once: only requests that it
 * sent before the first such answer are repeated, and a repetition is not repeated again.
 *
 * With the default backoff (0.8 s, doubled, up to 30 s) the budget of one minute is 8 cycles, 32 reads and 77
 * watches. The measured maxima are printed beside it.
 */

/** One request, observed between client and server. */
export interface Seen {
  readonly atMs: number;
  /** The group of requests that the budget counts together: usually the path. */
  readonly who: string;
  /** The run of the informer that it belongs to. */
  readonly generation: number;
  readonly kind: 'list' | 'page' | 'stream' | 'watch' | 'probe' | 'life' | 'audit';
  /** Set when the response arrives. */
  status?: number;
  answeredMs?: number;
  /** The earliest time of the next request, by Retry-After. */
  notBeforeMs?: number;
}

/** The configured waits. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

const PERIODS_MS = { probe: 60_000, life: 12_000 } as const;
const WINDOWS_MS = [1_000, 10_000, 60_000, 300_000];

/** What else the budget depends on. */
export interface ClientTraits {
  /** How early a timer of a real clock may fire, in milliseconds. */
  readonly earlyMs?: number;
  /** Set if the client polls: the least time between two lists, in milliseconds. */
  readonly pollMs?: number;
  /** The least duration of a watch, in milliseconds. @defaultValue 300000 */
  readonly watchMs?: number;
  /** The time without a failure after which the waits are reset, in milliseconds. @defaultValue 120000 */
  readonly healthyMs?: number;
  /** Whether two requests may be sent at the same moment, of which the second cannot know the answer to the first. */
  readonly concurrent?: boolean;
  /** The times at which a refresh was requested. */
  readonly refreshes?: readonly number[];
  /** The period of the audit, in milliseconds. */
  readonly auditMs?: number;
}

/** The most pages of a round of an audit: 18 objects, three per page if the server limits pages. */
const AUDIT_PAGES = 6;

/** The number of tries that may begin within a window. */
export function cyclesWithin(windowMs: number, { baseMs, capMs }: Backoff): number {
  let cycles = 1;
  let atMs = 0;
  for (;;) {
    atMs += Math.min(capMs, baseMs * 2 ** Math.min(cycles - 1, 40));
    if (atMs > windowMs) return cycles;
    cycles++;
  }
}

/** The number of requests that are allowed within a window. */
export function allowance(
  windowMs: number,
  backoff: Backoff,
  traits: ClientTraits = {},
): { reads: number; watches: number; audits: number } {
  const { auditMs = Number.POSITIVE_INFINITY } = traits;
  // Rounds begin 70 % of a period apart, or half of a period after a list.
  const rounds =
    auditMs === Number.POSITIVE_INFINITY ? 0 : 2 + Math.floor(windowMs / (auditMs / 2));
  const tries = Math.floor(windowMs / (auditMs / 50));
  const { pollMs = Number.POSITIVE_INFINITY, watchMs = 300_000, healthyMs = 120_000 } = traits;
  const prompt = 1 + Math.floor(windowMs / healthyMs);
  const refreshes = busiest(traits.refreshes ?? [], windowMs);
  const cycles = cyclesWithin(windowMs, backoff) + prompt + refreshes + rounds;
  const renewals = 1 + Math.floor(windowMs / Math.max(watchMs / 2, watchMs - 95_000));
  // A poll is one list, or two if the token of its pages expires.
  const polled = 2 * Math.floor(windowMs / pollMs);
  return {
    reads: 4 * cycles + polled,
    watches: 2 * cycles + Math.floor(windowMs / 1000) + renewals,
    audits: rounds * (AUDIT_PAGES + 2) + 2 * tries,
  };
}

/** The number of requests in the busiest window of a length. */
function busiest(times: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (let to = 0; to < times.length; to++) {
    while ((times[to] as number) - (times[from] as number) > windowMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** The number of requests in the busiest minute. */
export interface Load {
  reads: number;
  watches: number;
  audits: number;
}

/**
 * Returns the requests without those that were refused with 406 or 415 and repeated at once. `earlyMs` is how much later
 * a repetition may be sent.
 */
function withoutRefused(seen: readonly Seen[], earlyMs: number): Seen[] {
  const isRefused = ({ status }: Seen) => status === 406 || status === 415;
  // A probe accepts other forms than lists and watches, so a refusal of one says nothing about the other.
  const [learntMs, learntByProbeMs] = [false, true].map((isProbe) => {
    const own = seen.filter((each) => isRefused(each) && (each.kind === 'probe') === isProbe);
    return Math.min(...own.map(({ answeredMs = 0 }) => answeredMs));
  }) as [number, number];
  const refused = new Set<Seen>();
  const repetitions = new Set<Seen>();
  for (const [at, request] of seen.entries()) {
    const { atMs, answeredMs = 0, who, generation, kind } = request;
    if (!isRefused(request) || repetitions.has(request)) continue;
    if (atMs > (kind === 'probe' ? learntByProbeMs : learntMs)) continue;
    const next = seen
      .slice(at + 1)
      .find(
        (each) =>
          each.kind === kind &&
          each.who === who &&
          each.generation === generation &&
          each.atMs >= answeredMs &&
          !repetitions.has(each),
      );
    if (next === undefined || next.atMs > answeredMs + earlyMs) continue;
    refused.add(request);
    repetitions.add(next);
  }
  return seen.filter((each) => !refused.has(each));
}

/** Records what exceeds the budget, and returns the busiest minute. */
export function checkBudget(
  requests: readonly Seen[],
  backoff: Backoff,
  wrong: string[],
  traits: ClientTraits = {},
): Load {
  const { earlyMs = 0 } = traits;
  const seen = withoutRefused(requests, earlyMs);
  const load: Load = { reads: 0, watches: 0, audits: 0 };
  for (const probe of ['probe', 'life'] as const) {
    const probes = seen.filter(({ kind }) => kind === probe);
    for (const [at, { atMs }] of probes.entries()) {
      // Rounded, because times of the virtual clock are sums of fractions.
      const sinceMs = Math.round(atMs - (probes[at - 1]?.atMs ?? Number.NEGATIVE_INFINITY));
      if (sinceMs >= PERIODS_MS[probe] - earlyMs) continue;
      wrong.push(
        `a ${probe} ${sinceMs} ms after another; one in ${PERIODS_MS[probe]} ms is allowed`,
      );
    }
  }
  const groups = new Map<string, Seen[]>();
  for (const request of seen) {
    if (request.kind === 'probe' || request.kind === 'life') continue;
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
      const allowed = allowance(windowMs, backoff, traits);
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
      const next = requests
        .slice(at + 1)
        .find(({ atMs }) => atMs > answeredMs || (atMs === answeredMs && !traits.concurrent));
      if (next !== undefined && next.atMs < notBeforeMs - earlyMs) {
        wrong.push(`${group}: asked at ${next.atMs} ms; Retry-After said ${notBeforeMs} ms`);
      }
    }
  }
  return load;
}
