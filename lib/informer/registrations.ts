/**
 * Who has registered a handler. A registration outlives the run: its resyncs tick only while one is alive, and
 * after a stop the next run tells it the difference.
 * client-go: tools/cache/shared_informer.go, processorListener.
 */
import { interval, type SchedulerLike, type Subscription } from 'rxjs';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Drain, through } from '../rx/drain.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { IndexerReader } from '../store/indexer.ts';
import {
  type EventHandlerOptions,
  type EventHandlerRegistration,
  notifyHandler,
  type ResourceEventHandler,
} from './event-handler.ts';
import { type Hub, resyncSet } from './hub.ts';

const MIN_RESYNC_MS = 1_000;

/** The period in milliseconds, 0 for never. Throws a `TypeError` on what is no period. */
export function checkedResyncPeriod(periodMs: number | undefined, what: string): number {
  if (periodMs === undefined || periodMs === 0) return 0;
  if (!(periodMs > 0)) {
    throw new TypeError(`${what}: resyncPeriodMs is ${periodMs}; it must be 0 or more`);
  }
  return Math.max(MIN_RESYNC_MS, periodMs);
}

/** What registrations need of their informer. */
export interface RegistrationHost<T extends KubernetesObject> {
  readonly indexer: IndexerReader<T>;
  readonly hub: Hub<T>;
  readonly drain: Drain;
  readonly scheduler: SchedulerLike;
  /** Whether a run is alive. */
  isRunning(): boolean;
  /** Before a resync: who was refused is tried again with it. */
  beforeResync(): void;
  report(error: unknown, context: { readonly subscriber: string; readonly key: string }): void;
}

class Registered<T extends KubernetesObject> implements EventHandlerRegistration {
  readonly name: string;
  readonly #host: RegistrationHost<T>;
  readonly #handler: ResourceEventHandler<T>;
  readonly #periodMs: number;
  #leave: (() => void) | undefined;
  #ticks: Subscription | undefined;
  #returned = false;
  #removed = false;

  constructor(
    host: RegistrationHost<T>,
    handler: ResourceEventHandler<T>,
    name: string,
    periodMs: number,
  ) {
    this.name = name;
    this.#host = host;
    this.#handler = handler;
    this.#periodMs = periodMs;
  }

  get hasSynced(): boolean {
    return this.#returned && this.#host.indexer.synced;
  }

  join(): void {
    this.#host.drain.run(() => {
      if (!this.#removed) this.#leave = this.#host.hub.join({ next: (set) => this.#notify(set) });
    });
  }

  remove(): void {
    this.#removed = true;
    this.#leave?.();
    this.rest();
  }

  tick(): void {
    if (this.#periodMs === 0 || this.#ticks !== undefined) return;
    const { drain, scheduler } = this.#host;
    this.#ticks = interval(this.#periodMs, scheduler)
      .pipe(through(drain))
      .subscribe(() => this.#resync());
  }

  rest(): void {
    this.#ticks?.unsubscribe();
    this.#ticks = undefined;
  }

  #resync(): void {
    this.#host.beforeResync();
    const { indexer } = this.#host;
    if (!this.#removed && indexer.synced) this.#notify(resyncSet(indexer));
  }

  #notify(set: ChangeSet<T>): void {
    const report = (error: unknown, key: string) =>
      this.#host.report(error, { subscriber: this.name, key });
    notifyHandler(this.#handler, set, report, () => this.#removed);
    if (set.synced) this.#returned = true;
  }
}

/** The registrations of one informer. */
export class Registrations<T extends KubernetesObject> {
  readonly #host: RegistrationHost<T>;
  readonly #all = new Map<EventHandlerRegistration, Registered<T>>();
  #count = 0;

  constructor(host: RegistrationHost<T>) {
    this.#host = host;
  }

  get size(): number {
    return this.#all.size;
  }

  add(handler: ResourceEventHandler<T>, options: EventHandlerOptions): EventHandlerRegistration {
    this.#count++;
    const name = options.name ?? `handler ${this.#count}`;
    const periodMs = checkedResyncPeriod(options.resyncPeriodMs, name);
    const registered = new Registered(this.#host, handler, name, periodMs);
    this.#all.set(registered, registered);
    if (this.#host.isRunning()) registered.tick();
    registered.join();
    return registered;
  }

  /** A registration that is not of this informer, or was removed before, does nothing. */
  remove(registration: EventHandlerRegistration): void {
    this.#all.get(registration)?.remove();
    this.#all.delete(registration);
  }

  /** A run has begun. */
  tick(): void {
    for (const registered of this.#all.values()) registered.tick();
  }

  /** The run has ended. */
  rest(): void {
    for (const registered of this.#all.values()) registered.rest();
  }
}
