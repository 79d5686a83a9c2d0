/**
 * Tells those who look at an object what its controller did. Events are news, not state: they may be late, folded
 * or lost, and never hold up or fail a reconcile. client-go: tools/events.
 */

import { type SchedulerLike, Subscription } from 'rxjs';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { bindMethods } from '../../rx/bind-methods.ts';
import {
  checkedDuration,
  checkedRate,
  checkedTimes,
  checkedWholeLimit,
} from '../../rx/checked-option.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type Timing, timingOf } from '../../rx/timing.ts';
import { tokenReservations } from '../../rx/token-bucket.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { type RecordedEvent, Series } from './event-series.ts';
import { EventWriter } from './event-writer.ts';

/** What {@link createEventRecorder} takes. */
export interface EventRecorderOptions extends Timing {
  /** Who reports: the controller's name, a qualified name such as `example.com/my-controller`. */
  readonly component: string;
  /** Which of its processes. @defaultValue the component */
  readonly instance?: string | undefined;
  /** What repeats itself within this time counts as one Event, in milliseconds. @defaultValue 360000 */
  readonly windowMs?: number | undefined;
  /** From its third time on, a series is written this often, in milliseconds. @defaultValue 30000 */
  readonly seriesIntervalMs?: number | undefined;
  /** Series that are remembered; the one that was quiet the longest is forgotten first. @defaultValue 4096 */
  readonly seriesKept?: number | undefined;
  /** Events that wait for being written; what is over that is dropped. @defaultValue 1000 */
  readonly limit?: number | undefined;
  /** Requests a second, on average. @defaultValue 5 */
  readonly qps?: number | undefined;
  /** Requests at once. @defaultValue 25 */
  readonly burst?: number | undefined;
  /** Told of each event that will not be recorded, and why. @defaultValue nobody */
  readonly onDropped?: ((error: unknown) => void) | undefined;
}

/** Records events. No method throws. */
export interface EventRecorder {
  /** Notes an event about `object`, which needs `apiVersion`, `kind` and a name. Returns at once. */
  event(object: KubernetesObject, event: RecordedEvent): void;
  /** Series that the server is still to be told of. */
  readonly pending: number;
  /** Resolves when the server has been told all, the counts of series included, or has refused it. */
  flush(): Promise<void>;
  /** Takes nothing more, and flushes for at most `timeoutMs`; what is left then is dropped. @defaultValue 5000 */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/** A qualified name, as `reportingController` has to be. */
const COMPONENT =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

class SeriesRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  readonly #writer: EventWriter;
  /** By what they say; the one that was quiet the longest first. */
  readonly #series = new Map<string, Series>();
  /** Counts that wait for their time. */
  readonly #later = new Map<Series, Subscription>();
  #closed = false;

  constructor(client: Pick<KubeClient, 'request'>, options: EventRecorderOptions) {
    bindMethods(this);
    this.#options = options;
    const { scheduler, random } = timingOf(options);
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    const { qps = 5, burst = 25 } = options;
    this.#writer = new EventWriter({
      client,
      scheduler,
      random,
      reserve: tokenReservations({ qps, burst, scheduler }),
      behind: (series) => {
        if (!this.#later.has(series)) this.#enqueueLater(series);
      },
      dropped: (series, error) => {
        this.#series.delete(series.key);
        this.#drop(error);
      },
    });
  }

  get pending(): number {
    return this.#writer.size + this.#later.size;
  }

  event(object: KubernetesObject, event: RecordedEvent): void {
    try {
      if (this.#closed) throw new TypeError(`event ${event.reason}: the recorder is closed`);
      this.#note(object, event);
    } catch (error) {
      this.#drop(error);
    }
  }

  async flush(): Promise<void> {
    while (this.pending > 0) {
      for (const [series, timer] of this.#later) {
        timer.unsubscribe();
        this.#writer.write(series);
      }
      this.#later.clear();
      await this.#writer.whenIdle();
    }
  }

  async close(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const timeoutMs = checkedDuration(options.timeoutMs ?? 5_000, 'close: timeoutMs');
    this.#closed = true;
    const timer = longTimer(timeoutMs, this.#scheduler);
    const held = timer.subscribe(() => this.#writer.close());
    await this.flush();
    held.unsubscribe();
    this.#series.clear();
  }

  #note(object: KubernetesObject, event: RecordedEvent): void {
    const { component, instance = component, limit = 1_000 } = this.#options;
    const fresh = new Series(object, event, { component, instance });
    const passedMs = this.#passedMs();
    this.#forgetEnded(passedMs);
    const series = this.#series.get(fresh.key) ?? fresh;
    if (series === fresh) {
      if (this.#writer.size >= limit) {
        throw new RangeError(`event ${event.reason}: ${limit} events wait already`);
      }
      this.#makeRoom();
    }
    // To the end: it is the last to be forgotten.
    this.#series.delete(series.key);
    this.#series.set(series.key, series);
    series.happened(this.#scheduler.now(), passedMs);
    if (series.count <= 2) this.#writer.write(series);
    else if (!this.#writer.has(series) && !this.#later.has(series)) this.#enqueueLater(series);
  }

  #enqueueLater(series: Series): void {
    const held = new Subscription();
    this.#later.set(series, held);
    held.add(
      longTimer(this.#options.seriesIntervalMs ?? 30_000, this.#scheduler).subscribe(() => {
        this.#later.delete(series);
        this.#writer.write(series);
      }),
    );
  }

  /** Series whose window is over. */
  #forgetEnded(passedMs: number): void {
    const { windowMs = 360_000 } = this.#options;
    for (const series of this.#series.values()) {
      if (passedMs - series.quietSinceMs <= windowMs) return;
      this.#forget(series);
    }
  }

  /** For one more series. */
  #makeRoom(): void {
    const { seriesKept = 4_096 } = this.#options;
    for (const series of this.#series.values()) {
      if (this.#series.size < seriesKept) return;
      this.#forget(series);
    }
  }

  /** Its count is written now: otherwise series that are forgotten would gather until their time. */
  #forget(series: Series): void {
    this.#series.delete(series.key);
    const timer = this.#later.get(series);
    if (timer === undefined) return;
    timer.unsubscribe();
    this.#later.delete(series);
    this.#writer.write(series);
  }

  #drop(error: unknown): void {
    try {
      this.#options.onDropped?.(error);
    } catch (thrown) {
      reportUnhandled(thrown);
    }
  }
}

/**
 * A recorder of events through `events.k8s.io/v1`.
 *
 * Events that say the same of the same object (type, reason, action, reporter; not the message) within `windowMs`
 * are one Event on the server, whose `series.count` grows: the first two are written at once, further ones as a
 * count every `seriesIntervalMs`. Writing is rate limited, one request at a time; what fails, or has no answer within
 * 10 s, is tried again 10 s later, and holds up no other. What a server refuses, what fails twelve times and what is over
 * `limit` is dropped and told to `onDropped`.
 *
 * Throws a `TypeError` where `component` is no qualified name, which a server would refuse with each event.
 *
 * client-go: events.NewBroadcaster, events.EventRecorder
 *
 * @example
 * ```ts
 * import { createClient, createEventRecorder } from 'rx-informer';
 * import { eventsV1Events, pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer({ resources: [pods, eventsV1Events] });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const recorder = createEventRecorder(client, { component: 'pod-watcher' });
 * const pod = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * for (let times = 0; times < 3; times++) {
 *   recorder.event(pod, { type: 'Warning', reason: 'Stuck', message: 'no node fits' });
 * }
 * await recorder.close();
 * server.objects.list(eventsV1Events).map(({ reason, series }) => [reason, series?.count]); // => [['Stuck', 3]]
 * ```
 */
export function createEventRecorder(
  client: Pick<KubeClient, 'request'>,
  options: EventRecorderOptions,
): EventRecorder {
  if (!options.component) {
    throw new TypeError('createEventRecorder: component must name the controller that reports');
  }
  if (!COMPONENT.test(options.component)) {
    const shown = JSON.stringify(options.component);
    throw new TypeError(
      `createEventRecorder: component is ${shown}; it must be a name such as 'my-controller' or 'example.com/my-controller'`,
    );
  }
  const who = 'createEventRecorder';
  checkedDuration(options.windowMs ?? 0, `${who}: windowMs`);
  checkedDuration(options.seriesIntervalMs ?? 0, `${who}: seriesIntervalMs`);
  checkedWholeLimit(options.seriesKept ?? 1, `${who}: seriesKept`);
  checkedWholeLimit(options.limit ?? 1, `${who}: limit`);
  checkedRate(options.qps ?? 0, `${who}: qps`);
  checkedTimes(options.burst ?? 0, `${who}: burst`);
  return new SeriesRecorder(client, options);
}
