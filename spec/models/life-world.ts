/** An informer, a server and consumers under random calls, together with the model of these calls. */
import {
  addEventHandler,
  byNamespace,
  createSharedInformer,
  type DeliveryPolicy,
  deliver,
  type EventHandlerRegistration,
  type InformerStatus,
  metaNamespaceKeyFunc,
  metricsOf,
  type SharedInformer,
  toView,
  type View,
} from 'rx-informer';
import { finalize, type Observable, Subject, type Subscription } from 'rxjs';
import { expect } from 'vitest';
import { compressions } from '../delta/compressions.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import type { Pod } from '../support/scripted-list-watch.ts';
import { LifeModel, type ModelHolder } from './life-calls.ts';
import { ConsumerState, trackingHandler } from './life-consumers.ts';
import { LifeServer } from './life-server.ts';

export const STREAMS = ['changes$', 'added$', 'updated$', 'deleted$', 'snapshot$'] as const;
export const OBSERVED = ['status$', 'synced$', 'metrics$'] as const;
export const POLICIES = ['none', 'conflate', 'buffer', 'pause', 'drop'] as const;

/** One call, made by the test or by a consumer within a callback. */
export type Act =
  | { readonly do: 'start' | 'stop' | 'expire' | 'close' | 'ready' | 'throw' }
  | { readonly do: 'subscribe'; readonly stream: (typeof STREAMS)[number]; readonly messy: boolean }
  | { readonly do: 'deliver'; readonly policy: (typeof POLICIES)[number] }
  | { readonly do: 'listen'; readonly stream: (typeof OBSERVED)[number] }
  | {
      readonly do: 'handle';
      readonly slow: boolean;
      readonly policy: (typeof POLICIES)[number];
      readonly resyncPeriodMs: number;
    }
  | { readonly do: 'leave' | 'view' | 'hush'; readonly at: number }
  | { readonly do: 'remove'; readonly at: number; readonly pending: 'drop' | 'drain' }
  | { readonly do: 'write'; readonly at: number; readonly end: boolean }
  | { readonly do: 'refuse'; readonly at: number; readonly on: boolean }
  | { readonly do: 'capacity'; readonly open: boolean }
  | { readonly do: 'deny'; readonly on: boolean }
  | {
      readonly do: 'wait';
      readonly timeoutMs?: number;
      readonly handler?: number;
      readonly whileBlocked?: 'wait';
    };

/** The callbacks in which a consumer may make calls. */
export const CALLBACKS = [
  ...['next', 'complete', 'observed', 'onAdd', 'onUpdate', 'onDelete', 'after await'],
  ...['policy', 'demand', 'index', 'view', 'error', 'cleanup', 'warning'],
] as const;
export type Callback = (typeof CALLBACKS)[number];

export interface WorldOptions {
  readonly lingerMs: number;
  readonly latencyMs: number;
  readonly polled: boolean;
  readonly scopes: readonly (string | undefined)[];
  readonly compression: 'none' | 'latest';
}

interface Consumer {
  readonly holder: ModelHolder;
  readonly state: ConsumerState | undefined;
  /** Under a policy: it completes after it has received what waits for it. */
  readonly slow: boolean;
  subscription: Subscription | undefined;
  completed: boolean;
}

interface Wait {
  outcome: string;
  readonly mustReject: boolean;
  readonly isPatient: boolean;
  /** The run that it waits for, or the run before it. */
  readonly generation: number;
}

interface Listening {
  readonly last: () => unknown;
  readonly subscription: Subscription;
  isHushed: boolean;
}

interface Handled {
  readonly state: ConsumerState;
  addedAfterStops: number;
  registration: EventHandlerRegistration | undefined;
  removed: boolean;
  running: number;
}

export class World {
  readonly time = new VirtualTime();
  readonly server: LifeServer;
  readonly informer: SharedInformer<Pod>;
  readonly model: LifeModel;
  readonly consumers: Consumer[] = [];
  readonly handlers: Handled[] = [];
  readonly wrong: string[] = [];
  readonly #plans = new Map<Callback, (readonly Act[])[]>();
  readonly #refused = new Set<string>();
  readonly #ready = new Subject<void>();
  readonly #scopes: readonly (string | undefined)[];
  readonly #view: View<Pod>;
  readonly #viewed: (() => void)[] = [];
  /** How many subscribers the view is getting, which are not among the others before `subscribe` has returned. */
  #joining = 0;
  /** The one subscription of the view, for all of its subscribers. */
  #viewHolder: ModelHolder | undefined;
  readonly #listening: Listening[] = [];
  readonly #waits: Wait[] = [];
  /** Runs in which a request was forbidden, and runs in which that caused a warning. */
  readonly #deniedIn = new Set<number>();
  readonly #warnedIn = new Set<number>();
  #shown = 0;
  #capacity: Subject<void> | undefined;
  /** The number of callbacks of the informer that run now. Only a subscription may call another one within a callback. */
  #depth = 0;
  #subscribing = 0;
  #acting = 0;
  #stopsDone = 0;

  constructor({ lingerMs, latencyMs, polled, scopes, compression }: WorldOptions) {
    this.#scopes = scopes;
    this.model = new LifeModel(lingerMs);
    this.server = new LifeServer({ latencyMs, polled, scheduler: this.time });
    this.informer = createSharedInformer(
      scopes.map((scope) => this.server.listerWatcher(scope)),
      {
        ...{ lingerMs, compression: compressions[compression] },
        scheduler: this.time,
        random: () => 0,
        // The server sends no bookmarks.
        idleTimeoutMs: Number.POSITIVE_INFINITY,
        indexers: { namespace: byNamespace, picky: (object) => this.#index(object) },
        demand: () => {
          this.#act('demand');
          return this.#capacity ?? null;
        },
        onUnhandledError: (error) => {
          if (!isOwn(error)) this.#fail(`reported: ${String(error)}`);
          this.#act('error');
        },
        onWarning: ({ type }) => this.#warned(type),
      },
    );
    this.server.onDenied = () => this.#deniedIn.add(this.informer.status.generation);
    this.#view = toView<Pod>()(this.informer.changes$);
  }

  /** Plans these calls for the next callback of this kind. */
  plan(callback: Callback, acts: readonly Act[]): void {
    const plans = this.#plans.get(callback) ?? [];
    plans.push(acts);
    this.#plans.set(callback, plans);
  }

  act(act: Act): void {
    const { informer, model, server } = this;
    switch (act.do) {
      case 'start':
        model.start();
        return informer.start();
      case 'stop':
        return this.#stop();
      case 'subscribe':
        return this.#subscribe(act.stream, act.messy);
      case 'deliver':
        return this.#subscribe('changes$', false, this.#policy(act.policy));
      case 'leave':
        return this.#leave(pick(this.consumers, act.at));
      case 'listen':
        return this.#listen(act.stream);
      case 'hush':
        return this.#hush(pick(this.#listening, act.at));
      case 'handle':
        return this.#handle(act.slow, this.#policy(act.policy), act.resyncPeriodMs);
      case 'remove':
        return this.#remove(pick(this.handlers, act.at), act.pending);
      case 'view':
        return this.#toggleView(act.at);
      case 'write':
        return server.write(act.at, act.end);
      case 'expire':
        return server.expire();
      case 'close':
        return server.close();
      case 'refuse': {
        const key = [...server.objects.keys()][act.at % Math.max(1, server.objects.size)] ?? '';
        if (act.on) this.#refused.add(key);
        else this.#refused.clear();
        return;
      }
      case 'capacity':
        return this.#setCapacity(act.open);
      case 'deny':
        server.denied = act.on;
        return;
      case 'ready':
        return this.#ready.next();
      case 'wait':
        return this.#wait(act);
      case 'throw':
        throw new Error('a consumer threw');
    }
  }

  /** The invariants that hold whenever no task is running. */
  check(): void {
    const { informer, model } = this;
    expect(this.wrong).toEqual([]);
    const { phase } = informer.status;
    const is = phase === 'idle' || phase === 'stopped' ? phase : 'running';
    expect([is, informer.isStopped]).toEqual([model.phase, model.phase === 'stopped']);
    expect(informer.status.generation).toBe(model.generation);
    if (model.phase !== 'running')
      expect([this.server.open, informer.hasSynced]).toEqual([0, false]);
    for (const { holder, completed, slow } of this.consumers) {
      if (!holder.left && (completed || !slow)) expect(completed).toBe(holder.completed);
    }
    const looked = this.handlers.some(({ removed }) => !removed);
    if (model.phase === 'idle' && !looked) expect(informer.indexer.size).toBe(0);
    for (const { last } of this.#listening) last();
    for (const wait of this.#waits) {
      if (wait.mustReject) expect(wait.outcome).toBe('Stopped');
      else if (wait.outcome === 'refused') {
        const runs = [...this.#deniedIn].filter((run) => run >= wait.generation);
        expect([wait.isPatient, runs.length > 0]).toEqual([false, true]);
      } else if (!wait.isPatient && this.#isBlocked) expect(wait.outcome).not.toBe('pending');
    }
  }

  /** Whether a wait for the sync must have been rejected unless it waits while blocked. */
  get #isBlocked(): boolean {
    const { status } = this.informer;
    // If the demand is closed, a received list may wait to be stored, and the forbidden request is the watch.
    if (this.model.phase !== 'running' || this.#capacity !== undefined) return false;
    return Object.values(status.scopes ?? [status]).some(
      ({ synced, blocked }) => !synced && blocked !== undefined,
    );
  }

  #warned(type: string): void {
    const { phase, generation } = this.informer.status;
    if (type === 'not-started' && (phase !== 'idle' || this.handlers.length === 0))
      this.#fail(`not started, though it is ${phase}`);
    if (type === 'blocked') {
      if (this.#shown > 0) this.#fail('warned of an error that a caller received');
      if (this.#warnedIn.has(generation)) this.#fail('warned twice in a run');
      this.#warnedIn.add(generation);
    }
    this.#act('warning');
  }

  async pass(ms: number): Promise<void> {
    await this.time.advance(ms);
    this.model.tick(this.time.now());
  }

  /** Ends all failures. Then every consumer has the state of the server, and a stop leaves nothing behind. */
  async end(): Promise<void> {
    const { informer, model, server } = this;
    this.#plans.clear();
    this.#refused.clear();
    this.server.denied = false;
    this.#setCapacity(true);
    await this.#settle();
    this.act({ do: 'start' });
    const fresh = this.consumers.length;
    this.act({ do: 'subscribe', stream: 'changes$', messy: false });
    await this.#settle();
    // Refused objects are accepted at the next list.
    server.expire();
    server.write(0);
    for (let round = 0; round < 3; round++) await this.#settle();
    this.check();
    expect(informer.status).toMatchObject({ phase: 'watching', synced: true, refused: 0 });
    const truth = this.#truth();
    expect(this.consumers[fresh]?.state?.objects).toEqual(truth);
    this.#agree(truth);
    model.stop();
    await informer.stop();
    await this.#settle();
    this.check();
    for (const { holder, completed } of this.consumers) expect(completed || holder.left).toBe(true);
    expect(this.#waits.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
    for (const leave of this.#viewed) leave();
    expect([server.open, this.time.pending]).toEqual([0, 0]);
  }

  #agree(truth: ReadonlyMap<string, Pod>): void {
    const { indexer } = this.informer;
    expect(new Map(indexer.list().map((object) => [metaNamespaceKeyFunc(object), object]))).toEqual(
      truth,
    );
    for (const namespace of ['a', 'b', 'c']) {
      expect(indexer.byIndex('namespace', namespace).length).toBe(
        [...truth.keys()].filter((key) => key.startsWith(`${namespace}/`)).length,
      );
    }
    for (const { state, holder } of this.consumers) {
      if (state !== undefined && !holder.left && !holder.completed) {
        expect(state.objects).toEqual(truth);
      }
    }
    for (const { state, removed } of this.handlers) {
      if (!removed) expect(state.objects).toEqual(truth);
    }
    if (this.#viewed.length > 0 && this.#viewHolder?.completed === false) {
      expect(new Set(this.#view.getSnapshot().rows)).toEqual(new Set(truth.values()));
    }
  }

  #truth(): Map<string, Pod> {
    const objects = this.#scopes.flatMap((scope) => this.server.inScope(scope));
    return new Map(objects.map((object) => [metaNamespaceKeyFunc(object), object]));
  }

  async #settle(): Promise<void> {
    // Faster than resyncs arrive.
    for (let round = 0; round < 40; round++) {
      this.#ready.next();
      await this.pass(round < 32 ? 50 : 5_000);
    }
  }

  #fail(what: string): void {
    this.wrong.push(what);
  }

  /** Called in each callback of the informer: it must not be within another, and makes the planned calls. */
  #called(callback: Callback, may: boolean, what: string): void {
    if (!may) this.#fail(`${what}: called when it must not be`);
    if (this.#depth > 0 && this.#subscribing === 0) this.#fail(`${what}: called within a callback`);
    const subscribing = this.#subscribing;
    this.#subscribing = 0;
    this.#depth++;
    try {
      this.#act(callback);
    } finally {
      this.#depth--;
      this.#subscribing = subscribing;
    }
  }

  #act(callback: Callback): void {
    const acts = this.#plans.get(callback)?.shift();
    // A linger may have ended since the last step. Whether one that ends at this moment has ended is taken from the informer.
    const nowMs = this.time.now();
    this.model.tick(this.informer.status.phase === 'idle' ? nowMs : nowMs - 1);
    this.#acting++;
    try {
      for (const act of acts ?? []) this.act(act);
    } finally {
      this.#acting--;
    }
  }

  #within<R>(subscribe: () => R): R {
    this.#subscribing++;
    try {
      return subscribe();
    } finally {
      this.#subscribing--;
    }
  }

  #index(object: Pod): readonly string[] {
    if (this.#refused.has(metaNamespaceKeyFunc(object))) throw new Error('refused');
    return [object.metadata.uid];
  }

  #policy(kind: (typeof POLICIES)[number]): DeliveryPolicy<Pod> {
    const ready = () => {
      this.#act('policy');
      return this.#ready;
    };
    switch (kind) {
      case 'none':
        return { kind: 'conflate' };
      case 'conflate':
        return { kind, ready };
      case 'drop':
        return { kind, limit: 1, ready };
      default: {
        const overflow = kind === 'buffer' ? 'conflate' : kind;
        return { kind: 'buffer', limit: 1, overflow, ready };
      }
    }
  }

  #stop(): void {
    const { indexer } = this.informer;
    const before = [...indexer.keys()];
    const readable = this.model.phase === 'running' || this.model.phase === 'stopped';
    const { generation } = this.model;
    this.model.stop();
    void this.informer.stop().then(() => this.#stopsDone++);
    // Outside of a callback a stop takes effect immediately, and the store stays readable until the next start, which may have been
    // in a callback of this stop.
    const isStopped = this.model.phase === 'stopped' && this.model.generation === generation;
    if (this.#acting > 0 || !readable || !isStopped) return;
    const after = [...indexer.keys()];
    if (after.join() !== before.join())
      this.#fail(`stop: the store was ${before}, and is ${after}`);
  }

  #subscribe(stream: (typeof STREAMS)[number], messy: boolean, policy?: DeliveryPolicy<Pod>): void {
    const name = `${policy?.kind ?? stream} ${this.consumers.length}`;
    const of = stream === 'changes$';
    const state = of ? new ConsumerState(name, (what) => this.#fail(what)) : undefined;
    const holder = this.model.subscribe();
    const slow = policy?.ready !== undefined;
    const consumer: Consumer = { holder, state, slow, subscription: undefined, completed: false };
    this.consumers.push(consumer);
    const source: Observable<unknown> =
      policy === undefined ? this.informer[stream] : deliver(this.informer, policy).changes$;
    const cleanup = () => {
      this.#act('cleanup');
      if (messy) throw new Error('a consumer threw');
    };
    const subscription = this.#within(() =>
      (messy ? source.pipe(finalize(cleanup)) : source).subscribe({
        next: (value: unknown) => {
          state?.set(value as Parameters<ConsumerState['set']>[0]);
          this.#called('next', !holder.left && !consumer.completed, name);
        },
        complete: () => {
          consumer.completed = true;
          this.#act('complete');
        },
      }),
    );
    consumer.subscription = subscription;
  }

  #leave(consumer: Consumer | undefined): void {
    // During the subscription there is no Subscription to unsubscribe yet.
    if (consumer?.subscription === undefined) return;
    this.model.leave(consumer.holder, this.time.now());
    try {
      consumer.subscription.unsubscribe();
    } catch (error) {
      if (!isOwn(error)) throw error;
    }
  }

  #listen(stream: (typeof OBSERVED)[number]): void {
    const { informer } = this;
    const source: Observable<unknown> =
      stream === 'metrics$' ? metricsOf(informer).metrics$ : informer[stream];
    let last: unknown;
    const shows = stream === 'status$' ? 1 : 0;
    this.#shown += shows;
    const left = finalize<unknown>(() => {
      this.#shown -= shows;
    });
    const subscription = this.#within(() =>
      source.pipe(left).subscribe((value: unknown) => {
        last = value;
        this.#called('observed', true, stream);
      }),
    );
    const now = () => {
      if (listening.isHushed) return;
      // A stop does not complete it, because the informer may run again.
      expect(subscription.closed).toBe(false);
      if (stream === 'synced$') expect(last).toBe(informer.status.synced);
      if (stream === 'status$') {
        const { phase, synced } = last as InformerStatus;
        expect([phase, synced]).toEqual([informer.status.phase, informer.status.synced]);
      }
    };
    const listening = { last: now, subscription, isHushed: false };
    this.#listening.push(listening);
  }

  #hush(listening: Listening | undefined): void {
    if (listening === undefined) return;
    listening.isHushed = true;
    listening.subscription.unsubscribe();
  }

  #handle(slow: boolean, delivery: DeliveryPolicy<Pod>, resyncPeriodMs: number): void {
    const name = `handler ${this.handlers.length}`;
    const handled: Handled = {
      state: new ConsumerState(name, (what) => this.#fail(what)),
      addedAfterStops: this.model.stops,
      registration: undefined,
      removed: false,
      running: 0,
    };
    this.handlers.push(handled);
    const handler = trackingHandler(handled.state, (kind) => {
      // A stop takes effect in its turn.
      const held = this.informer.isStopped && this.#stopsDone > handled.addedAfterStops;
      this.#called(kind, !handled.removed && handled.running === 0 && !held, `${name} ${kind}`);
      if (!slow) return undefined;
      handled.running++;
      return new Promise<void>((resolve) => this.time.schedule(() => resolve(), 7)).then(() => {
        handled.running--;
        this.#act('after await');
      });
    });
    const options = { delivery, resyncPeriodMs };
    handled.registration = addEventHandler(this.informer, handler, options);
    if (handled.removed) void handled.registration.remove();
  }

  #remove(handled: Handled | undefined, pending: 'drop' | 'drain'): void {
    if (handled?.registration === undefined) return;
    // After the removal with `drain` calls may still arrive, also after a stop; only their consistency is checked.
    if (pending === 'drop') handled.removed = true;
    else handled.addedAfterStops = Number.POSITIVE_INFINITY;
    void handled.registration.remove({ pending });
    if (pending === 'drain') this.handlers.splice(this.handlers.indexOf(handled), 1);
  }

  #toggleView(at: number): void {
    const leave = at % 2 === 0 ? undefined : this.#viewed.pop();
    if (leave !== undefined) {
      if (this.#viewed.length + this.#joining === 0) this.#leaveView();
      return leave();
    }
    // Until a stop that was called takes effect, new subscribers share the subscription that it completes (Q5).
    if (this.#acting > 0) return;
    const held = this.#viewHolder;
    if (held === undefined || held.left) this.#viewHolder = this.model.subscribe(true);
    // A subscriber of a view whose informer was stopped makes the view subscribe again, for all of its subscribers.
    else if (held.completed) {
      held.left = true;
      this.#viewHolder = this.model.subscribe(true);
    }
    this.#joining++;
    const joined = this.#within(() => this.#view.subscribe(() => this.#act('view')));
    this.#joining--;
    this.#viewed.push(joined);
  }

  #leaveView(): void {
    if (this.#viewHolder !== undefined) this.model.leave(this.#viewHolder, this.time.now());
  }

  #wait({ handler, do: _do, ...how }: Extract<Act, { do: 'wait' }>): void {
    const handled = handler === undefined ? undefined : pick(this.handlers, handler)?.registration;
    const { phase, generation } = this.model;
    const isPatient = how.whileBlocked === 'wait';
    const wait: Wait = {
      outcome: 'pending',
      mustReject: phase === 'stopped',
      isPatient,
      generation,
    };
    this.#waits.push(wait);
    (handled ?? this.informer).whenSynced(how).then(
      () => {
        wait.outcome = 'synced';
      },
      ({ reason, message }: { reason: string; message: string }) => {
        wait.outcome = message.includes('whileBlocked') ? 'refused' : reason;
      },
    );
  }

  #setCapacity(open: boolean): void {
    const capacity = this.#capacity;
    if (open) {
      this.#capacity = undefined;
      capacity?.next();
      capacity?.complete();
    } else this.#capacity ??= new Subject<void>();
  }
}

/** Whether an error was thrown by a consumer of this world, or wraps one. */
export function isOwn(error: unknown): boolean {
  return String(error).includes('Error: a consumer threw');
}

function pick<V>(all: readonly V[], at: number): V | undefined {
  return all[at % Math.max(1, all.length)];
}
