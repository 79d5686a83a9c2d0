/**
 * Observes one watch to detect a proxy that holds its events back. It notices when the response pauses, and sends a
 * probe if the watch stays silent before promptness has been proved.
 */
import {
  defer,
  type Observable,
  type SchedulerLike,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import type { TransportEvent } from '../transport/transport.ts';
import { endsLine, judgedProbe } from './buffering-probe.ts';
import {
  isProved,
  type Promptness,
  type PromptnessInput,
  patienceMs,
  REST_MS,
  steadiness,
  type Verdict,
} from './buffering-state.ts';

/** The watch to observe. */
export interface ObservedWatch {
  /** The name of the watch for errors. */
  readonly where: string;
  readonly scheduler: SchedulerLike;
  /**
   * Whether a streaming list has not reached its end mark. The server sends it without a pause, so a pause at the end of a
   * line shows only where a buffer ends.
   */
  isInList(): boolean;
  /** Sends a probe. */
  probe(): Observable<TransportEvent>;
}

/** The findings about the server, shared by all its watches. */
export interface SharedPromptness {
  passedMs(): number;
  state(): Promptness;
  enter(input: PromptnessInput): void;
}

/** Observes one watch until its subscriber unsubscribes. */
export class PromptnessObserver {
  readonly #watch: ObservedWatch;
  /** Whether the watch is short, because events are known to be held back. */
  readonly #isShort: boolean;
  readonly #subscriber: Subscriber<TransportEvent>;
  readonly #shared: SharedPromptness;
  readonly #beganMs: number;
  readonly #isSteady = steadiness();
  #lastMs: number;
  #queued = false;
  #opened = false;
  #endsLine = true;
  /** Bytes have arrived, and it is not decided yet whether the response pauses after them. */
  #resting = false;
  #timer: Subscription | undefined;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(
    watch: ObservedWatch,
    isShort: boolean,
    subscriber: Subscriber<TransportEvent>,
    shared: SharedPromptness,
  ) {
    this.#watch = watch;
    this.#isShort = isShort;
    this.#subscriber = subscriber;
    this.#shared = shared;
    this.#beganMs = shared.passedMs();
    this.#lastMs = this.#beganMs;
  }

  begin(): void {
    this.#arm(this.#patienceMs(true));
  }

  /** Called for every event of the response. */
  notice(event: TransportEvent): void {
    if (!this.#isShort && this.#isProved()) return;
    this.#lastMs = this.#shared.passedMs();
    this.#queued = event.kind === 'queued';
    this.#opened ||= event.kind === 'head' && event.status === 200;
    if (event.kind === 'chunk' && this.#opened && event.bytes.length > 0) {
      this.#endsLine = endsLine(event.bytes);
      this.#resting = true;
      if (this.#isSteady(this.#endsLine && !this.#watch.isInList(), this.#lastMs)) {
        this.#shared.enter({ type: 'rest', endsLine: true });
      }
    }
    this.#arm(REST_MS);
  }

  #isProved(): boolean {
    return isProved(this.#shared.state(), this.#beganMs);
  }

  #patienceMs(isOdd: boolean): number {
    return patienceMs(this.#shared.state(), isOdd);
  }

  #arm(leastMs: number): void {
    // A timer may fire slightly early. The delay is rounded up, because otherwise the timer would have to be set
    // again.
    const delayMs = Math.max(1, Math.ceil(leastMs));
    const atMs = this.#shared.passedMs() + delayMs;
    if (atMs >= this.#dueMs) return;
    this.#timer?.unsubscribe();
    this.#dueMs = atMs;
    this.#timer = this.#watch.scheduler.schedule(() => this.#look(), delayMs);
    this.#subscriber.add(this.#timer);
  }

  /** Reports a pause, sends a probe if one is due, or sets the timer again. */
  #look(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    if (this.#isProved() && !this.#isShort) return;
    const idleMs = this.#shared.passedMs() - this.#lastMs;
    if (this.#resting && idleMs < REST_MS) return this.#arm(REST_MS - idleMs);
    if (this.#resting) {
      this.#resting = false;
      const endsLine = this.#endsLine && !this.#watch.isInList();
      this.#shared.enter({ type: 'rest', endsLine });
    }
    if (this.#isShort || this.#queued || this.#isProved()) return;
    const isOdd = !this.#opened || !this.#endsLine || this.#watch.isInList();
    const leftMs = this.#patienceMs(isOdd) - idleMs;
    const { probing, nextProbeMs } = this.#shared.state();
    const untilMs = probing ? this.#patienceMs(true) : nextProbeMs - this.#shared.passedMs();
    if (leftMs > 0 || untilMs > 0) this.#arm(Math.max(leftMs, untilMs));
    else this.#probe();
  }

  #probe(): void {
    let verdict: Verdict | undefined;
    this.#shared.enter({ type: 'probe' });
    const { scheduler } = this.#watch;
    const probe = () => this.#watch.probe();
    // Deferred, because a query that a user's tweak refuses must not throw in a timer.
    const probing = judgedProbe(defer(probe), scheduler).subscribe((answer) => {
      verdict = answer;
    });
    probing.add(() => {
      this.#shared.enter(verdict === undefined ? { type: 'probed' } : { type: 'probed', verdict });
      if (!this.#subscriber.closed) this.#arm(this.#patienceMs(true));
    });
    this.#subscriber.add(probing);
  }
}
