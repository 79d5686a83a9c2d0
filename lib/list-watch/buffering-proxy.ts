/**
 * Looks after the watches of one server: whether their events come when they are sent. Where a proxy holds them back until
 * a watch ends, watches are made short, so that what is held back is let go soon, until one shows that it is over.
 */

import { Observable, type SchedulerLike, Subject, type Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { EpochMs } from '../rx/epoch-ms.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent } from '../transport/transport.ts';
import { endsLine, judgedProbe } from './buffering-probe.ts';
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

/** That a proxy holds events back, in words a page can show. */
export interface HeldBack {
  /** Since when that is known. */
  readonly sinceMs: EpochMs;
  readonly message: string;
}

/** The longest watch while events are held back, and the shortest: not all informers are to ask at once. */
const SHORT_SECONDS = 20;
const SHORTEST_SECONDS = 15;
const MESSAGE =
  'a proxy between this client and the server holds events back until a watch ends. Watches are ended after 15 to 20 s, so changes arrive that late. Let the proxy pass on what it receives immediately (docs/proxies.md)';

/** The way from one server to one client. */
export interface Passage {
  /** While events are held back. */
  readonly heldBack: HeldBack | undefined;
  /** How long a watch may be, of so many seconds that were asked for. */
  seconds(asked: number): number;
  /**
   * A watch, looked after. When events turn out to be held back it errors with reason `HeldBack`, so that a short one
   * takes its place.
   */
  watched(
    events: Observable<TransportEvent>,
    of: {
      readonly where: string;
      readonly scheduler: SchedulerLike;
      /** It brings events at once, however quiet the collection is. */
      readonly isInitial: boolean;
      /** Sends a probe. */
      probe(): Observable<TransportEvent>;
    },
  ): Observable<TransportEvent>;
}

function createPassage(firstScheduler: SchedulerLike): Passage {
  const passedMs = stopwatch(firstScheduler);
  const begins = new Subject<void>();
  let state = unknownPromptness;
  let heldBack: HeldBack | undefined;
  const enter = (input: PromptnessInput, nowMs: number) => {
    state = nextPromptness(state, input, { passedMs: passedMs(), nowMs });
    const sinceMs = state.heldSinceAtMs;
    if ((sinceMs === undefined) === (heldBack === undefined)) return;
    heldBack = sinceMs === undefined ? undefined : { sinceMs, message: MESSAGE };
    if (heldBack !== undefined) begins.next();
  };

  const watched: Passage['watched'] = (events, { where, scheduler, isInitial, probe }) =>
    new Observable<TransportEvent>((subscriber) => {
      const isShort = heldBack !== undefined;
      const beganMs = passedMs();
      let lastMs = beganMs;
      let queued = false;
      let opened = false;
      let some = false;
      let whole = true;
      let resting = false;
      const isSteady = steadiness();
      let timer: Subscription | undefined;
      let dueMs = Number.POSITIVE_INFINITY;
      const tell = (input: PromptnessInput) => enter(input, scheduler.now());
      const arm = (leastMs: number) => {
        // A timer may fire a little early: it is not set again for nothing.
        const delayMs = Math.max(1, Math.ceil(leastMs));
        if (passedMs() + delayMs >= dueMs) return;
        timer?.unsubscribe();
        dueMs = passedMs() + delayMs;
        timer = scheduler.schedule(look, delayMs);
        subscriber.add(timer);
      };
      const ask = () => {
        let verdict: Verdict | undefined;
        tell({ type: 'probe' });
        const probing = judgedProbe(probe(), scheduler).subscribe((answer) => {
          verdict = answer;
        });
        probing.add(() => {
          tell(verdict === undefined ? { type: 'probed' } : { type: 'probed', verdict });
          if (!subscriber.closed) arm(patienceMs(state, true));
        });
        subscriber.add(probing);
      };
      /** Whatever the time is ripe for. */
      const look = () => {
        dueMs = Number.POSITIVE_INFINITY;
        if (isProved(state, beganMs) && !isShort) return;
        const idleMs = passedMs() - lastMs;
        if (resting && idleMs < REST_MS) return arm(REST_MS - idleMs);
        if (resting) {
          resting = false;
          tell({ type: 'rest', endsLine: whole });
        }
        if (isShort || queued || isProved(state, beganMs)) return;
        const isOdd = !opened || !whole || (isInitial && !some);
        const leftMs = patienceMs(state, isOdd) - idleMs;
        const untilMs = state.probing ? patienceMs(state, true) : state.nextProbeMs - passedMs();
        if (leftMs > 0 || untilMs > 0) arm(Math.max(leftMs, untilMs));
        else ask();
      };
      const notice = (event: TransportEvent) => {
        lastMs = passedMs();
        queued = event.kind === 'queued';
        opened ||= event.kind === 'head' && event.status === 200;
        if (event.kind === 'chunk' && opened && event.bytes.length > 0) {
          some = true;
          whole = endsLine(event.bytes);
          resting = true;
          if (isSteady(whole, lastMs)) tell({ type: 'rest', endsLine: true });
        }
        arm(REST_MS);
      };
      const end = () => subscriber.error(ApiError.local('HeldBack', `${where}: ${MESSAGE}`));
      if (!isShort) subscriber.add(begins.subscribe(end));
      arm(patienceMs(state, true));
      subscriber.add(
        events.pipe(stoppedWith(subscriber)).subscribe({
          next: (event) => {
            if (isShort || !isProved(state, beganMs)) notice(event);
            subscriber.next(event);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });

  return {
    get heldBack() {
      return heldBack;
    },
    seconds: (asked) =>
      heldBack === undefined || asked <= SHORTEST_SECONDS
        ? asked
        : Math.min(asked, SHORTEST_SECONDS + (asked % (SHORT_SECONDS - SHORTEST_SECONDS + 1))),
    watched,
  };
}

// One for all informers of a client: what one of them sees is of use to all.
const passages = new WeakMap<KubeClient, Passage>();

/** The way from the server of `client`. */
export function passageOf(client: KubeClient, scheduler: SchedulerLike): Passage {
  const known = passages.get(client) ?? createPassage(scheduler);
  passages.set(client, known);
  return known;
}
