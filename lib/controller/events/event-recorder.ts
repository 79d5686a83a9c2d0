/**
 * Records Kubernetes Events, which show users what a controller did with an object. Events may be late, coalesced or lost, and
 * never delay or fail a reconcile. client-go: tools/events.
 */

import { type SchedulerLike, Subscription } from 'rxjs';
import {
  checkedDuration,
  checkedRate,
  checkedText,
  checkedTimes,
  checkedWholeLimit,
} from '../../checks/checked-option.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type Timing, timingOf } from '../../rx/timing.ts';
import { tokenReservations } from '../../rx/token-bucket.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { type RecordedEvent, Series } from './event-series.ts';
import { EventWriter } from './event-writer.ts';

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions extends Timing {
  /** The name of the controller that reports, a qualified name such as `example.com/my-controller`. */
  readonly component: string;
  /** The name of this process of the controller. @defaultValue the component */
  readonly instance?: string | undefined;
  /** Repeated events within this time, in milliseconds, count as one Event. @defaultValue 360000 */
  readonly windowMs?: number | undefined;
  /** From its third event on, a series is written once in this time, in milliseconds. @defaultValue 30000 */
  readonly seriesIntervalMs?: number | undefined;
  /** How many series are remembered; the one that was quiet the longest is forgotten first. @defaultValue 4096 */
  readonly seriesKept?: number | undefined;
  /** How many events may wait to be written; further ones are dropped. @defaultValue 1000 */
  readonly limit?: number | undefined;
  /** Requests per second, on average. @defaultValue 5 */
  readonly qps?: number | undefined;
  /** Requests that may be sent without waiting. @defaultValue 25 */
  readonly burst?: number | undefined;
  /** Called for each event that is not recorded, with the reason. @defaultValue none */
  readonly onDropped?: ((error: unknown) => void) | undefined;
}

/** Records events. No method throws. */
export interface EventRecorder {
  /** Records an event about `object`, which needs `apiVersion`, `kind` and a name. Returns immediately. */
  event(object: KubernetesObject, event: RecordedEvent): void;
  /** The number of series that are not completely written. */
  readonly pending: number;
  /** Resolves when every event, including the counts of series, is written or was refused by the server. */
  flush(): Promise<void>;
  /** Accepts no more events, and flushes for at most `timeoutMs`, in milliseconds. The rest is dropped. @defaultValue 5000 */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/** A qualified name, as the API server requires for `reportingController`. */
const COMPONENT =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The options with their defaults. Throws a `TypeError` that names an invalid one. */
function settingsOf(options: EventRecorderOptions) {
  const named = (name: string) => `createEventRecorder: ${name}`;
  const must = "the name of the controller, such as 'my-controller' or 'example.com/my-controller'";
  const component = checkedText(options.component, named('component'), COMPONENT, must);
  return {
    ...{ component, instance: options.instance ?? component, onDropped: options.onDropped },
    ...timingOf(options),
    windowMs: checkedDuration(options.windowMs ?? 360_000, named('windowMs')),
    seriesIntervalMs: checkedDuration(
      options.seriesIntervalMs ?? 30_000,
      named('seriesIntervalMs'),
    ),
    seriesKept: checkedWholeLimit(options.seriesKept ?? 4_096, named('seriesKept')),
    limit: checkedWholeLimit(options.limit ?? 1_000, named('limit')),
    qps: checkedRate(options.qps ?? 5, named('qps')),
    burst: checkedTimes(options.burst ?? 25, named('burst')),
  };
}

class SeriesRecorder implements EventRecorder {
  readonly #options: ReturnType<typeof settingsOf>;
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  readonly #writer: EventWriter;
  /** Series by their content; the one that was quiet the longest first. */
  readonly #series = new Map<string, Series>();
  /** Series whose next count waits for its time. */
  readonly #later = new Map<Series, Subscription>();
  #closed = false;

  constructor(client: Pick<KubeClient, 'request'>, options: EventRecorderOptions) {
    this.#options = settingsOf(options);
    const { scheduler, random, qps, burst } = this.#options;
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    this.#writer = new EventWriter({
      client,
      scheduler,
      random,
      reserve: tokenReservations({ qps, burst, scheduler }),
      behind: (series) => {
        if (!this.#later.has(series)) this.#enqueueLater(series);
      },
      dropped: (series, error) => {
        // A series that was forgotten may have a successor.
        if (this.#series.get(series.key) === series) this.#series.delete(series.key);
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
    const { component, instance, limit } = this.#options;
    const fresh = new Series(object, event, { component, instance });
    const passedMs = this.#passedMs();
    this.#forgetEnded(passedMs);
    const series = this.#series.get(fresh.key) ?? fresh;
    if (series === fresh) {
      if (this.#writer.size >= limit) {
        throw new RangeError(
          `event ${event.reason}: ${limit} events wait already, which is the limit`,
        );
      }
      this.#makeSpace();
    }
    // Moved to the end, so that it is the last one to be forgotten.
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
      longTimer(this.#options.seriesIntervalMs, this.#scheduler).subscribe(() => {
        this.#later.delete(series);
        this.#writer.write(series);
      }),
    );
  }

  /** Forgets series whose window has passed. */
  #forgetEnded(passedMs: number): void {
    const { windowMs } = this.#options;
    for (const series of this.#series.values()) {
      if (passedMs - series.quietSinceMs <= windowMs) return;
      this.#forget(series);
    }
  }

  /** Makes space for one more series. */
  #makeSpace(): void {
    const { seriesKept } = this.#options;
    for (const series of this.#series.values()) {
      if (this.#series.size < seriesKept) return;
      this.#forget(series);
    }
  }

  /** Writes the count now, because otherwise counts of forgotten series would accumulate until their time. */
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
 * Creates a recorder that writes events through `events.k8s.io/v1`.
 *
 * Events about one object with the same type, reason, action and reporter (the message is not compared) within `windowMs` are one
 * Event on the server, whose `series.count` grows. The first two are written immediately, further ones as a count every
 * `seriesIntervalMs`. Writing is rate limited, one request at a time. A write that fails, or that has no response within 10 s, is
 * retried 10 s later and delays no other event. An event is dropped and passed to `onDropped` if the server refuses it, if it fails
 * twelve times, or if it exceeds `limit`.
 *
 * Throws a `TypeError` if `component` is not a qualified name, because a server would refuse every event.
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
  return new SeriesRecorder(client, options);
}
