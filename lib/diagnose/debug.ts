/** `debug`: tells what an informer does, in one line per event, and keeps the last events for a report. */
import { Observable } from 'rxjs';
import type { EndOfRun, InformerPart, InformerPort } from '../informer/part.ts';
import { portOf } from '../informer/part.ts';
import type { ListerWatcher, WatchRequest, WatchSignal } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { reflect } from '../reflector/reflector.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { IndexerReader } from '../store/indexer.ts';
import { shownReason } from './shown-reason.ts';

/** Receives each line. */
export type DebugSink = (line: string) => void;

/** An event of an informer. */
export interface DebugEvent {
  /** When it happened, in milliseconds since `debug` was called. */
  readonly atMs: number;
  readonly kind: 'run' | 'transition' | 'list' | 'renewal' | 'refusal' | 'slow';
  /** Words and numbers, without names. */
  readonly text: string;
  /** What may contain names: the message of an error, a key. */
  readonly detail: string;
}

/** How many events are kept. */
const MOST_EVENTS = 200;
/** How long the subscribers and handlers of one batch may take before a line says so, in milliseconds. */
const SLOW_MS = 100;
/** How many changes may wait for handlers before a line says so. */
const MANY_WAIT = 1_000;

/** What was recorded of an informer. */
export type Recorded = Pick<Recorder<KubernetesObject>, 'events' | 'counts' | 'batches'>;

const recorders = /* @__PURE__ */ new WeakMap<object, Recorded>();

/** The events of an informer, if `debug` was called for it. */
export function recordedOf(port: object): Recorded | undefined {
  return recorders.get(port);
}

/** The part that records the events of one informer. */
class Recorder<T extends KubernetesObject> implements InformerPart<T> {
  readonly sinks: Set<DebugSink> = new Set<DebugSink>();
  readonly events: DebugEvent[] = [];
  /** How many events of each kind there were. */
  readonly counts: Record<DebugEvent['kind'], number> = {
    ...{ run: 0, transition: 0, list: 0, renewal: 0, refusal: 0, slow: 0 },
  };
  /** The times of the batches, in milliseconds. */
  readonly batches: { count: number; sumMs: number; maxMs: number } = {
    ...{ count: 0, sumMs: 0, maxMs: 0 },
  };
  readonly #port: InformerPort<T>;
  readonly #passedMs: () => number;
  #last: ReflectorStatus[] = [];
  /** Of the list in progress of each ListerWatcher: when it began, and how many objects have arrived. */
  #lists: { sinceMs: number; objects: number }[] = [];
  #refused = 0;
  #mostWaiting = MANY_WAIT;

  constructor(port: InformerPort<T>) {
    this.#port = port;
    this.#passedMs = stopwatch(port.timing.scheduler);
    // With a reflector of another part, such as that of `persist`, renewals cannot be seen.
    port.source.reflector ??= (listerWatcher, options) =>
      reflect(this.#observed(listerWatcher), options);
  }

  begin(): void {
    this.#last = [];
    this.#lists = [];
    this.#note('run', `run ${this.#port.board.status.generation} begins`);
  }

  end(why: EndOfRun): void {
    this.#note('run', `the run has ended (${why})`);
  }

  status(at: number, status: ReflectorStatus): void {
    const last = this.#last[at];
    this.#last[at] = status;
    const { phase, live, blocked, heldBack, error, attempt } = status;
    if (phase === 'listing' || phase === 'streaming') {
      this.#lists[at] ??= { sinceMs: this.#passedMs(), objects: 0 };
    }
    if (blocked !== undefined && blocked !== last?.blocked) {
      this.#note('refusal', `the server refuses (${blocked})${said(error)}`, error?.message);
    }
    const isSame = last?.phase === phase && last.live === live && last.error === error;
    if (isSame && (last.heldBack === undefined) === (heldBack === undefined)) return;
    const words = [
      last === undefined || last.phase === phase ? phase : `${last.phase} → ${phase}`,
      live ? 'live' : '',
      heldBack === undefined ? '' : 'events are held back',
      attempt > 0 ? `failures: ${attempt}` : '',
    ];
    const text = `${words.filter((word) => word !== '').join(', ')}${said(error)}`;
    this.#note('transition', text, error?.message);
  }

  received(at: number, deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      const begun = this.#lists[at];
      // The parts of a list that has failed are void.
      if (delta.type === 'replace-abort' && begun !== undefined) begun.objects = 0;
      if (delta.type !== 'replacing' && delta.type !== 'replaced') continue;
      const list = begun ?? { sinceMs: this.#passedMs(), objects: 0 };
      this.#lists[at] = { ...list, objects: list.objects + delta.objects.length };
      if (delta.type !== 'replaced') continue;
      const objects = list.objects + delta.objects.length;
      delete this.#lists[at];
      const text = `list of ${objects} objects complete after ${this.#passedMs() - list.sinceMs} ms`;
      this.#note('list', text, `version ${delta.resourceVersion}`);
    }
  }

  around(batch: () => void, deltas: readonly Delta<T>[]): void {
    const sinceMs = this.#passedMs();
    batch();
    const tookMs = this.#passedMs() - sinceMs;
    const { batches } = this;
    batches.count++;
    batches.sumMs += tookMs;
    batches.maxMs = Math.max(batches.maxMs, tookMs);
    if (tookMs >= SLOW_MS) {
      this.#note('slow', `subscribers and handlers took ${tookMs} ms for ${deltas.length} deltas`);
    }
    const { waiting } = this.#port;
    if (waiting < this.#mostWaiting) return;
    this.#mostWaiting = waiting * 2;
    this.#note('slow', `${waiting} changes wait for a slow handler`);
  }

  caughtUp(): void {
    this.#mostWaiting = MANY_WAIT;
  }

  transition(): boolean {
    const { refused, refusedItems, refusedObjects = [], lastRefusal } = this.#port.board.status;
    const all = refused + refusedItems;
    const [latest] = refusedObjects;
    const error = latest?.error ?? lastRefusal;
    if (all > this.#refused) {
      const text = `${refused} objects and ${refusedItems} items are refused${said(error)}`;
      const key = latest === undefined ? '' : `${latest.key}: `;
      this.#note('refusal', text, `${key}${error?.message ?? ''}`);
    }
    this.#refused = all;
    return false;
  }

  /** The same ListerWatcher, whose renewals are noted: a watch that is answered while another one is open. */
  #observed(inner: ListerWatcher<T>): ListerWatcher<T> {
    let open = 0;
    const watch = (request: WatchRequest<T>) =>
      new Observable<WatchSignal<T>>((subscriber) => {
        const isRenewal = open > 0;
        const sinceMs = this.#passedMs();
        open++;
        subscriber.add(() => open--);
        return inner.watch(request).subscribe({
          next: (signal) => {
            if (signal.kind === 'opened' && isRenewal) {
              const tookMs = this.#passedMs() - sinceMs;
              this.#note('renewal', `the next watch was answered after ${tookMs} ms`);
            }
            subscriber.next(signal);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
      });
    // The getters of `inner` stay getters, because the reflector reads them before each request.
    return Object.create(inner, { watch: { value: watch } }) as ListerWatcher<T>;
  }

  #note(kind: DebugEvent['kind'], text: string, detail = ''): void {
    const atMs = this.#passedMs();
    this.counts[kind]++;
    this.events.push({ atMs, kind, text, detail });
    if (this.events.length > MOST_EVENTS) this.events.shift();
    const more = detail === '' ? '' : `: ${detail}`;
    const line = `+${(atMs / 1_000).toFixed(3)} s ${this.#port.name}: ${text}${more}`;
    for (const sink of [...this.sinks]) reportingErrors(sink)(line);
  }
}

function said(error: ApiError | undefined): string {
  return error === undefined ? '' : ` (${shownReason(error)})`;
}

/**
 * Passes one readable line to `sink` for each transition, list, renewal, refusal and slow subscriber of an informer, and
 * keeps the last 200 events for the report of `diagnose`. A line has the seconds since the first call, the name of the
 * informer, and may contain names of objects and addresses, but no credentials.
 *
 * Neither starts nor stops the informer. Call it before the first run, because the renewals of a run are seen only from its
 * beginning; those of an informer with `persist`, and of one in shards, are not seen. Returns a function that ends the lines;
 * events are still kept. An error that `sink` throws is reported, and the informer works. Throws a `TypeError` if
 * `informer` is not an informer.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { debug } from 'rx-informer/diagnose';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const informer = createSharedInformer(createListWatch(client, pods), { name: 'pods' });
 * const lines: string[] = [];
 * const end = debug(informer, (line) => lines.push(line));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * lines.some((line) => line.includes('pods: list of 0 objects complete')); // => true
 * end();
 * await informer.stop();
 * ```
 */
export function debug<T extends KubernetesObject>(
  informer: { readonly indexer: IndexerReader<T> },
  sink: DebugSink,
): () => void {
  const port = portOf<T>(informer, 'debug');
  const recorder = port.attach(Recorder, () => new Recorder<T>(port));
  recorders.set(port, recorder);
  recorder.sinks.add(sink);
  return () => recorder.sinks.delete(sink);
}
