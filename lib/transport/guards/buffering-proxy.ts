/**
 * Detects a proxy that holds the events of a server's watches back until a watch ends. While events are held back,
 * watches are kept short, so that their events are released soon. They become long again when watches show that
 * events arrive promptly. Each watch is observed: its response may pause, and a probe is sent if it stays silent before
 * promptness has been proved.
 */

import {
  defer,
  type Observable,
  type SchedulerLike,
  Subject,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { tap } from 'rxjs/operators';
import type { EpochMs } from '../../rx/timing.ts';
import type { TransportEvent } from '../transport.ts';
import { endsLine, judgedProbe, PROBE_SECONDS } from './buffering-probe.ts';
import {
  isProved,
  nextPromptness,
  type PromptnessInput,
  patienceMs,
  REST_MS,
  steadiness,
  unknownPromptness,
  type Verdict,
} from './buffering-state.ts';

/** Reports that a proxy holds events back, with a message that a page can show. */
export interface HeldBack {
  /** When this was detected. */
  readonly sinceMs: EpochMs;
  readonly message: string;
}

/**
 * The longest and the shortest watch while events are held back, in seconds. The durations differ, so that not all
 * informers send their requests at the same time.
 */
const SHORT_SECONDS = 20;
const SHORTEST_SECONDS = 15;

/** What a page shows while events are held back. */
function messageOf(compressed: boolean): string {
  const how = compressed ? 'compresses responses and ' : '';
  return `a proxy between this client and the server ${how}holds events back until a watch ends, which is after 15 to 20 s. Let it forward responses un${how ? 'compressed' : 'buffered'} (docs/operations/proxies.md)`;
}

/** The watch to observe. */
export interface ObservedWatch {
  readonly scheduler: SchedulerLike;
  /**
   * Whether a streaming list has not reached its end mark. The server sends it without a pause, so a pause at the end of a
   * line shows only where a buffer ends.
   */
  isInList(): boolean;
  /** Sends a probe, a watch of this many seconds. */
  probe(seconds: number): Observable<TransportEvent>;
}

/** The findings of a client about the proxies between it and its server. */
export interface Passage {
  /** Set while a proxy holds events back. */
  readonly heldBack: HeldBack | undefined;
  /** Whether a watch has proved that events are not held back, or a probe has tried to. */
  readonly isJudged: boolean;
  /** How long a watch may last, in seconds, if `asked` seconds were requested. */
  seconds(asked: number): number;
  /**
   * Observes how promptly the events of a watch arrive, until its subscriber unsubscribes. If a proxy turns out to hold
   * them back, `heldBack` is called, so that a shorter watch replaces this one. Returns what to call for each event.
   */
  observed(
    watch: ObservedWatch,
    subscriber: Subscriber<unknown>,
    heldBack: (why: string) => void,
  ): (event: TransportEvent) => void;
}

type Head = Extract<TransportEvent, { kind: 'head' }>;

function isAnswer(event: TransportEvent): event is Head {
  return event.kind === 'head' && event.status === 200;
}

function isCompressed(head: Head): boolean {
  return (head.header('content-encoding') || 'identity') !== 'identity';
}

/** Returns a function that sets a timer for `work`, unless one is set that fires earlier. */
function earliestTimer(
  { scheduler }: ObservedWatch,
  subscriber: Subscriber<unknown>,
  passedMs: () => number,
  work: () => void,
): (leastMs: number) => void {
  let timer: Subscription | undefined;
  let dueMs = Number.POSITIVE_INFINITY;
  return (leastMs) => {
    // A timer may fire slightly early. The delay is rounded up, because otherwise the timer would have to be set again.
    const delayMs = Math.max(1, Math.ceil(leastMs));
    const atMs = passedMs() + delayMs;
    if (atMs >= dueMs) return;
    timer?.unsubscribe();
    dueMs = atMs;
    timer = scheduler.schedule(() => {
      dueMs = Number.POSITIVE_INFINITY;
      work();
    }, delayMs);
    subscriber.add(timer);
  };
}

/** Observes the watches of one client together, because what one of them shows is valid for all. */
export function createPassage(passedMs: () => number): Passage {
  const begins = new Subject<string>();
  let state = unknownPromptness;
  let heldBack: HeldBack | undefined;
  const enter = (input: PromptnessInput, { scheduler }: ObservedWatch) => {
    state = nextPromptness(state, input, { passedMs: passedMs(), nowMs: scheduler.now() });
    const { heldSinceAtMs: sinceMs, compressed } = state;
    if ((sinceMs === undefined) === (heldBack === undefined)) return;
    heldBack = sinceMs === undefined ? undefined : { sinceMs, message: messageOf(compressed) };
    if (heldBack !== undefined) begins.next(heldBack.message);
  };
  const noteHead = (event: TransportEvent, watch: ObservedWatch) => {
    if (isAnswer(event)) enter({ type: 'answered', compressed: isCompressed(event) }, watch);
  };
  const observed: Passage['observed'] = (watch, subscriber, end) => {
    const { scheduler } = watch;
    // Events are known to be held back, so the watch is short.
    const isShort = heldBack !== undefined;
    if (!isShort) subscriber.add(begins.subscribe(end));
    const isSteady = steadiness();
    const beganMs = passedMs();
    let lastMs = beganMs;
    let queued = false;
    let opened = false;
    let atEndOfLine = true;
    /** Bytes have arrived, and it is not decided yet whether the response pauses after them. */
    let resting = false;

    const needsNone = () => !isShort && isProved(state, beganMs);
    const restsAtEndOfLine = () => atEndOfLine && !watch.isInList();
    const probe = () => {
      let verdict: Verdict | undefined;
      enter({ type: 'probe' }, watch);
      // Deferred, because a query that a user's tweak refuses must not throw in a timer.
      const events = defer(() => watch.probe(PROBE_SECONDS));
      const noted = events.pipe(tap((event) => noteHead(event, watch)));
      const probing = judgedProbe(noted, scheduler, passedMs).subscribe((answer) => {
        verdict = answer;
      });
      probing.add(() => {
        enter({ type: 'probed', verdict }, watch);
        if (!subscriber.closed) arm(patienceMs(state, true));
      });
      subscriber.add(probing);
    };
    /** Reports a pause, sends a probe if one is due, or sets the timer again. */
    const look = () => {
      if (needsNone()) return;
      const idleMs = passedMs() - lastMs;
      if (resting && idleMs < REST_MS) return arm(REST_MS - idleMs);
      if (resting) {
        resting = false;
        enter({ type: 'rest', endsLine: restsAtEndOfLine() }, watch);
      }
      if (isShort || queued || needsNone()) return;
      const leftMs = patienceMs(state, !opened || !restsAtEndOfLine()) - idleMs;
      const { probing, nextProbeMs } = state;
      const untilMs = probing ? PROBE_SECONDS * 1000 : nextProbeMs - passedMs();
      if (leftMs > 0 || untilMs > 0) arm(Math.max(leftMs, untilMs));
      else probe();
    };

    const arm = earliestTimer(watch, subscriber, passedMs, look);
    arm(patienceMs(state, true));
    return (event) => {
      // A compressed streaming list is refused, and its head says nothing about the watches.
      if (!watch.isInList()) noteHead(event, watch);
      if (needsNone()) return;
      lastMs = passedMs();
      queued = event.kind === 'queued';
      opened ||= isAnswer(event);
      if (event.kind === 'chunk' && opened && event.bytes.length > 0) {
        atEndOfLine = endsLine(event.bytes);
        resting = true;
        if (isSteady(restsAtEndOfLine(), lastMs)) enter({ type: 'rest', endsLine: true }, watch);
      }
      arm(REST_MS);
    };
  };

  return {
    get heldBack() {
      return heldBack;
    },
    get isJudged() {
      return state.provedMs !== undefined || state.fruitless > 0;
    },
    seconds: (asked) =>
      heldBack === undefined || asked <= SHORTEST_SECONDS
        ? asked
        : Math.min(asked, SHORTEST_SECONDS + (asked % (SHORT_SECONDS - SHORTEST_SECONDS + 1))),
    observed,
  };
}
