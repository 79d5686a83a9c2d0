/**
 * Measures the requests of a client. client-go: tools/metrics, whose Prometheus adapter
 * (component-base/metrics/prometheus/restclient) uses the same names.
 */
import type { SchedulerLike } from 'rxjs';
import { tap } from 'rxjs/operators';
import type { MeasuredEvent, MeasureEvents, MetricsProvider } from '../meta/metrics.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type GaugeRow, Gauges, type GaugeValue, type Safely } from './gauges.ts';

/** How a request without a response is counted, as in client-go. */
const NO_RESPONSE = '<error>';
const USES: readonly string[] = ['call', 'list', 'watch'];

/** What the requests of one use receive. */
interface Received {
  open: number;
  /** Bytes that are not in the counter yet. */
  bytes: number;
}

/**
 * Counts what all clients of a program send and receive. Without its instruments nothing is measured, but requests are
 * sent.
 */
export class RequestFigures {
  readonly #safely: Safely;
  readonly #received = new Map<string, Received>(USES.map((use) => [use, { open: 0, bytes: 0 }]));
  readonly #stopwatches = new WeakMap<SchedulerLike, () => number>();
  #instruments: ReturnType<typeof instrumentsOf> | undefined;

  constructor(provider: MetricsProvider, safely: Safely) {
    this.#safely = safely;
    safely(() => {
      const open: GaugeRow = [
        'rest_client_open_requests',
        'Requests that were sent and whose responses have not ended',
        () => this.#open(),
      ];
      const instruments = instrumentsOf(provider);
      new Gauges(provider, {}, [open], safely).begin();
      this.#instruments = instruments;
      for (const use of USES) instruments.bytes.add(0, { use });
    });
  }

  /** A call of the counter for each chunk would cost as much as an event, so bytes are added when metrics are collected. */
  #open(): GaugeValue {
    for (const [use, of] of this.#received) {
      const grown = of.bytes;
      of.bytes = 0;
      if (grown > 0) this.#safely(() => this.#instruments?.bytes.add(grown, { use }));
    }
    return [...this.#received].map(([use, { open }]) => [{ use }, open] as const);
  }

  /** Begins to measure a request of a client with this scheduler. */
  begin({ method, use }: { method: string; use: string }, scheduler: SchedulerLike): MeasureEvents {
    const instruments = this.#instruments;
    if (instruments === undefined) return (events) => events;
    const { total, duration, limited } = instruments;
    const passedMs = this.#stopwatches.get(scheduler) ?? stopwatch(scheduler);
    this.#stopwatches.set(scheduler, passedMs);
    const safely = this.#safely;
    const queuedMs = passedMs();
    const received = this.#received.get(use) ?? { open: 0, bytes: 0 };
    let sentMs = queuedMs;
    let isAnswered = false;
    const answered = (code: string) => {
      if (isAnswered) return;
      isAnswered = true;
      safely(() => total.add(1, { code, method }));
      safely(() => duration.record((passedMs() - sentMs) / 1000, { verb: method }));
    };
    return tap<MeasuredEvent>({
      subscribe() {
        sentMs = passedMs();
        received.open += 1;
        safely(() => limited.record((sentMs - queuedMs) / 1000, { verb: method }));
      },
      next(event) {
        if (event.kind === 'chunk') received.bytes += event.bytes?.length ?? 0;
        else if (event.kind === 'head') answered(String(event.status));
      },
      error: () => answered(NO_RESPONSE),
      finalize() {
        received.open -= 1;
      },
    }) as MeasureEvents;
  }
}

function instrumentsOf(provider: MetricsProvider) {
  const histogram = (name: string, description: string) =>
    provider.createHistogram(name, { description, unit: 's' });
  return {
    total: provider.createCounter('rest_client_requests_total', {
      description: 'Requests by the status code of their response',
    }),
    duration: histogram(
      'rest_client_request_duration_seconds',
      'Time from sending a request to the head of its response',
    ),
    limited: histogram(
      'rest_client_rate_limiter_duration_seconds',
      'How long a request waits for the rate limit',
    ),
    bytes: provider.createCounter('rest_client_response_bytes_total', {
      description: 'Bytes of responses, decompressed',
      unit: 'By',
    }),
  };
}
