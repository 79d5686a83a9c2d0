/** The metrics and the instruments of one informer. client-go: tools/cache/informer_metrics.go. */
import type { Observable, Subscription } from 'rxjs';
import { unaudited } from '../audit/status.ts';
import type { MetricAttributes, MetricCounter, MetricsProvider } from '../meta/metrics.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import { type GaugeRow, Gauges, type Safely, safelyBy } from '../metrics/gauges.ts';
import type { InformerStatus } from './status/status.ts';

/** The metrics of an informer. Durations are in seconds, the unit of monitoring systems. */
export interface InformerMetrics {
  readonly name: string;
  /** Objects in the store. */
  readonly objects: number;
  /** Deltas that wait for the commit (client-go's informer_queued_items). */
  readonly queuedItems: number;
  /** Changes that wait for busy handlers. */
  readonly pendingNotifications: number;
  /**
   * Durations from the pop of a batch to the return of its last callback (client-go's
   * informer_processing_latency_seconds).
   */
  readonly processingLatencySeconds: {
    readonly count: number;
    readonly sum: number;
    readonly max: number;
  };
  readonly storeResourceVersion: ResourceVersion | '';
  /** Refused objects. */
  readonly refused: number;
  /** Received items that were not objects of the resource. */
  readonly refusedItems: number;
  readonly reconnects: number;
  readonly relists: number;
  /** Objects that the audit of this run compared with the server. */
  readonly auditCompared: number;
  /** Objects that differed in the audit of this run. */
  readonly auditDiffered: number;
  /** Those of them that the server no longer had. */
  readonly auditGhosts: number;
  /** Those of them that the store did not have. */
  readonly auditMissing: number;
}

const NUMBER_DIGITS = 15;

/**
 * The last digits of a version, because a version may exceed the exact range of numbers. They show whether it advances.
 */
function versionNumber(version: string): number {
  return Number(version.slice(-NUMBER_DIGITS)) || 0;
}

/** The metrics that only grow within a run. */
interface Counts {
  readonly reconnects: number;
  readonly relists: number;
  readonly refusedItems: number;
  readonly auditCompared: number;
  readonly auditDiffered: number;
  readonly auditGhosts: number;
  readonly auditMissing: number;
}

export function countsOf(status: InformerStatus): Counts {
  const { reconnects, relists, refusedItems, audit } = status;
  const { compared, differed, ghosts, missing } = typeof audit === 'object' ? audit : unaudited;
  return {
    ...{ reconnects, relists, refusedItems, auditCompared: compared, auditDiffered: differed },
    ...{ auditGhosts: ghosts, auditMissing: missing },
  };
}

/** A counter with the count that it follows. */
interface Followed {
  readonly counter: MetricCounter;
  readonly labels: MetricAttributes;
  readonly read: (counts: Counts) => number;
  last: number;
}

/** How many observations of the latency are made in a second, because one costs a twentieth of an event. */
const OBSERVED = 100;
/** A batch that takes as long, in seconds, is always observed. */
const SLOW_SECONDS = 0.01;

/** The deltas that are events of a watch, or objects of a list. */
const EVENTS: ReadonlySet<string> = new Set(['added', 'updated', 'deleted', 'refused']);

const BLOCKED = ['unauthorized', 'forbidden', 'no-such-resource', 'wrong-kind'] as const;

/** What the instruments of an informer read whenever metrics are collected. */
interface MeterReading {
  metrics(): InformerMetrics;
  status(): InformerStatus;
  nowMs(): number;
}

/** The gauges of an informer. `collecting` is called first when metrics are collected. */
function rowsOf({ metrics, status, nowMs }: MeterReading, collecting: () => void): GaugeRow[] {
  return [
    [
      'informer_queued_items',
      'Deltas that wait for the commit',
      () => {
        collecting();
        return metrics().queuedItems;
      },
    ],
    [
      'informer_store_resource_version',
      'The last digits of the resourceVersion',
      () => versionNumber(metrics().storeResourceVersion),
    ],
    [
      'informer_pending_notifications',
      'Changes that wait for handlers',
      () => metrics().pendingNotifications,
    ],
    ['informer_objects', 'Objects in the store', () => metrics().objects],
    ['informer_refused_objects', 'Objects that were refused', () => metrics().refused],
    [
      'informer_synced',
      '1 if a complete list is in the store, otherwise 0',
      () => Number(status().synced),
    ],
    [
      'informer_live',
      '1 if the store follows the server, otherwise 0',
      () => Number(status().live),
    ],
    [
      'informer_stale_seconds',
      'How long ago the objects were last known to be current; 0 while they are',
      () => {
        const now = nowMs();
        return Math.max(0, now - (status().staleSinceMs ?? now)) / 1000;
      },
    ],
    [
      'informer_blocked',
      '1 for the reason for which the server refuses the requests, 0 for the others',
      () => {
        const { blocked } = status();
        return BLOCKED.map((reason) => [{ reason }, Number(reason === blocked)] as const);
      },
    ],
  ];
}

/** The instruments of one informer, which measure while a run is alive. */
export class Instruments {
  readonly #latency: { record(value: number, attributes?: MetricAttributes): void };
  readonly #gauges: Gauges;
  readonly #counters: Followed[];
  readonly #retries: MetricCounter;
  readonly #events: MetricCounter;
  readonly #attributes: MetricAttributes;
  /** Calls the provider, whose errors go to `onUnhandledError`. */
  readonly #safely: Safely;
  #counting: Subscription | undefined;
  /** The failures in a row of each reflector. */
  readonly #attempts: number[] = [];
  /** Events that are not in the counter yet. */
  #received = 0;
  /** Until when the present second lasts, and the batches in it. */
  #untilMs = 0;
  #batches = 0;

  constructor(
    metrics: MetricsProvider,
    attributes: MetricAttributes,
    reading: MeterReading,
    report: (error: unknown) => void,
  ) {
    this.#attributes = attributes;
    this.#safely = safelyBy(report);
    const counterOf = (of: string, description: string) =>
      metrics.createCounter(`informer_${of}_total`, { description });
    const followed = (
      counter: MetricCounter,
      read: Followed['read'],
      more?: MetricAttributes,
    ): Followed => ({ counter, labels: { ...attributes, ...more }, read, last: 0 });
    this.#latency = metrics.createHistogram('informer_processing_latency_seconds', {
      description: `Time from the pop of a batch to its last callback, of ${OBSERVED} batches in a second and of all slower than 10 ms`,
      unit: 's',
    });
    // A call of the counter for each event would cost as much as the event, so events are added when metrics are collected.
    const rows = rowsOf(reading, () => this.#flush());
    this.#gauges = new Gauges(metrics, attributes, rows, this.#safely);
    const differed = counterOf('audit_differed', 'Objects that differed from the server, and how');
    this.#counters = [
      followed(
        counterOf('reconnects', 'Watches that were reopened'),
        ({ reconnects }) => reconnects,
      ),
      followed(counterOf('relists', 'Lists after the first'), ({ relists }) => relists),
      followed(
        counterOf('refused_items', 'Received items that were no objects of the kind'),
        ({ refusedItems }) => refusedItems,
      ),
      followed(
        counterOf('audit_compared', 'Objects that were compared with the server'),
        ({ auditCompared }) => auditCompared,
      ),
      followed(differed, ({ auditGhosts }) => auditGhosts, { difference: 'ghost' }),
      followed(differed, ({ auditMissing }) => auditMissing, { difference: 'missing' }),
      followed(
        differed,
        ({ auditDiffered, auditGhosts, auditMissing }) =>
          auditDiffered - auditGhosts - auditMissing,
        { difference: 'version' },
      ),
    ];
    this.#retries = counterOf('retries', 'Failures after which a request is sent again');
    this.#events = counterOf('events', 'Events that were received, without bookmarks');
  }

  #flush(): void {
    const received = this.#received;
    this.#received = 0;
    if (received > 0) this.#safely(() => this.#events.add(received, this.#attributes));
  }

  begin(status$: Observable<InformerStatus>): void {
    this.#gauges.begin();
    // A rate needs the value before the first event.
    for (const { counter, labels } of this.#counters) this.#safely(() => counter.add(0, labels));
    for (const counter of [this.#retries, this.#events])
      this.#safely(() => counter.add(0, this.#attributes));
    this.#counting = status$.subscribe((status) => {
      const counts = countsOf(status);
      for (const each of this.#counters) {
        const now = each.read(counts);
        const grown = now - each.last;
        each.last = now;
        if (grown > 0) this.#safely(() => each.counter.add(grown, each.labels));
      }
    });
  }

  end(): void {
    this.#flush();
    this.#gauges.end();
    this.#counting?.unsubscribe();
    this.#attempts.length = 0;
  }

  /** The status of a reflector has changed. */
  attempted(at: number, attempt: number): void {
    const failures = attempt - (this.#attempts[at] ?? 0);
    this.#attempts[at] = attempt;
    if (failures > 0) this.#safely(() => this.#retries.add(failures, this.#attributes));
  }

  received(deltas: readonly { readonly type: string }[]): void {
    for (const { type } of deltas) if (EVENTS.has(type)) this.#received += 1;
  }

  /** A batch has ended at this reading of a stopwatch. */
  record(seconds: number, atMs: number): void {
    if (atMs >= this.#untilMs) {
      this.#untilMs = atMs + 1_000;
      this.#batches = 0;
    }
    this.#batches += 1;
    if (this.#batches > OBSERVED && seconds < SLOW_SECONDS) return;
    this.#safely(() => this.#latency.record(seconds, this.#attributes));
  }
}
