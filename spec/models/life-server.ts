/** A collection with a history, as one or several ListerWatchers that respond in the same turn or later. */
import {
  ApiError,
  createPollingListWatch,
  type ListerWatcher,
  type ListPart,
  type WatchSignal,
} from 'rx-informer';
import { Observable, type SchedulerLike, type Subscriber } from 'rxjs';
import { added, deleted, modified, type Pod, pod } from '../support/scripted-list-watch.ts';

export interface LifeServerOptions {
  /** 0: responds in the turn of the request. */
  readonly latencyMs: number;
  readonly polled: boolean;
  readonly scheduler: SchedulerLike;
}

const KEYS = ['a/x', 'a/y', 'b/x', 'b/z', 'c/x'] as const;
const PAGE = 2;

export class LifeServer {
  readonly objects = new Map<string, Pod>();
  readonly #options: LifeServerOptions;
  readonly #watches = new Map<Subscriber<WatchSignal<Pod>>, string | undefined>();
  #version = 10;
  #uid = 0;
  /** The number of open requests. */
  open = 0;
  /** Whether lists and watches are forbidden. */
  denied = false;
  /** Called when a request was forbidden. */
  onDenied: () => void = () => undefined;

  constructor(options: LifeServerOptions) {
    this.#options = options;
    for (const at of KEYS.keys()) this.write(at);
  }

  /** Creates, updates or, with `end`, deletes the key at `at`. */
  write(at: number, end = false): void {
    const key = KEYS[at % KEYS.length] as string;
    const [namespace = '', name = ''] = key.split('/');
    const had = this.objects.get(key);
    const version = ++this.#version;
    if (end) {
      if (had === undefined) return;
      this.objects.delete(key);
      return this.#notify(namespace, deleted(pod(name, version, had.metadata.uid, namespace)));
    }
    const uid = had?.metadata.uid ?? `u${this.#uid++}`;
    const object = pod(name, version, uid, namespace);
    this.objects.set(key, object);
    this.#notify(namespace, had === undefined ? added(object) : modified(object));
  }

  /** Ends every watch with a 410, so that its informer lists again. */
  expire(): void {
    const gone = ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);
    for (const watch of [...this.#watches.keys()]) watch.error(gone);
  }

  close(): void {
    for (const watch of [...this.#watches.keys()]) watch.complete();
  }

  listerWatcher(scope: string | undefined): ListerWatcher<Pod> {
    const live: ListerWatcher<Pod> = {
      ...(scope === undefined ? {} : { scope }),
      watchList: false,
      list: ({ continue: token }) =>
        this.#answer((subscriber) => this.#list(scope, token, subscriber)),
      watch: ({ resourceVersion }) =>
        this.#answer((subscriber) => this.#watch(scope, resourceVersion ?? '', subscriber)),
    };
    if (!this.#options.polled) return live;
    const { scheduler } = this.#options;
    return createPollingListWatch(live, { scheduler, random: () => 0, intervalMs: 1_000 });
  }

  inScope(scope: string | undefined): Pod[] {
    return [...this.objects.values()].filter(
      ({ metadata }) => !scope || metadata.namespace === scope,
    );
  }

  #answer<V>(begin: (subscriber: Subscriber<V>) => void): Observable<V> {
    const { latencyMs, scheduler } = this.#options;
    return new Observable<V>((subscriber) => {
      this.open++;
      subscriber.add(() => this.open--);
      const answer = () => {
        if (!this.denied) return begin(subscriber);
        this.onDenied();
        return subscriber.error(ApiError.fromStatus({ code: 403, reason: 'Forbidden' }, 403));
      };
      if (latencyMs === 0) answer();
      else subscriber.add(scheduler.schedule(answer, latencyMs));
    });
  }

  #list(scope: string | undefined, token: string | undefined, to: Subscriber<ListPart<Pod>>): void {
    const all = this.inScope(scope);
    const from = token === undefined ? 0 : Number(token);
    const more = all.length > from + PAGE;
    const metadata = {
      resourceVersion: String(this.#version),
      ...(more ? { continue: String(from + PAGE) } : {}),
    };
    to.next({ items: all.slice(from, from + PAGE), metadata });
    to.complete();
  }

  #watch(scope: string | undefined, since: string, to: Subscriber<WatchSignal<Pod>>): void {
    // The server keeps no history, so a watch at an older version is answered by a 410.
    if (Number(since) < this.#version) {
      to.next({ kind: 'opened' });
      return to.error(ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410));
    }
    this.#watches.set(to, scope);
    to.add(() => this.#watches.delete(to));
    to.next({ kind: 'opened' });
  }

  #notify(namespace: string, event: ReturnType<typeof added>): void {
    for (const [watch, scope] of [...this.#watches]) {
      if (!scope || scope === namespace) watch.next({ kind: 'events', events: [event] });
    }
  }
}
