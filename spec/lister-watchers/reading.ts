/** Reads a ListerWatcher: lists, and records a watch and the state that follows from it. */
import {
  type ApiError,
  compareResourceVersion,
  type KubernetesObject,
  type ListerWatcher,
  type ListMeta,
  type ListPart,
  type ListRequest,
  type WatchEvent,
  type WatchRequest,
  type WatchSignal,
} from 'rx-informer';
import type { Observable, Subscription } from 'rxjs';
import { expect } from 'vitest';
import { validatedPart, validatedSignal } from '../../lib/list-watch/validate-response.ts';
import { lineOf, type State } from './history.ts';
import { until, violated, type World } from './world.ts';

type Source = ListerWatcher<KubernetesObject>;

/** The state of a received object. */
export function stateOf({ metadata = {} }: KubernetesObject): State {
  const { namespace, name, uid = '', resourceVersion = '', labels = {} } = metadata;
  return { key: `${namespace}/${name}`, uid, resourceVersion, value: labels['value'] ?? '' };
}

/** Whether a version is at least as new as another one. */
export function isAtLeast(version: string, other: string): boolean {
  const order = compareResourceVersion(version, other);
  return order === 0 || order === 1;
}

/** A request in progress, and how it ends. */
class Reading {
  error: ApiError | undefined;
  isComplete = false;
  /** The number of emissions after the subscription was closed. */
  late = 0;

  protected follow<V>(
    world: World,
    source$: Observable<V>,
    next: (value: V) => void,
  ): Subscription {
    let isLate = false;
    const noting =
      <A>(note: (value: A) => void) =>
      (value: A) => {
        if (isLate) this.late += 1;
        try {
          note(value);
        } catch (error) {
          violated(world, error);
        }
      };
    const subscription = source$.subscribe({
      next: noting(next),
      error: noting((error: ApiError) => {
        this.error = error;
      }),
      complete: noting<void>(() => {
        this.isComplete = true;
      }),
    });
    subscription.add(() => {
      isLate = !this.isOver;
    });
    return subscription;
  }

  get isOver(): boolean {
    return this.isComplete || this.error !== undefined;
  }
}

/** A LIST in progress. */
export class Listing extends Reading {
  readonly states: State[] = [];
  metadata: ListMeta | undefined;
  readonly subscription: Subscription;

  constructor(world: World, source: Source, request: Partial<ListRequest<KubernetesObject>> = {}) {
    super();
    const list$ = source.list({ resourceVersion: '', ...request });
    this.subscription = this.follow(world, list$, (part: ListPart<KubernetesObject>) => {
      const { items, metadata } = validatedPart(part);
      for (const item of items) this.states.push(stateOf(item));
      this.metadata = metadata ?? this.metadata;
    });
  }

  get lines(): string[] {
    return this.states.map(lineOf).sort();
  }
}

/** Lists the collection, and throws the error of the list. */
export async function listed(
  world: World,
  source: Source,
  request: Partial<ListRequest<KubernetesObject>> = {},
): Promise<Listing & { readonly metadata: ListMeta }> {
  const listing = new Listing(world, source, request);
  await until(world, 'the list ends', () => listing.isOver);
  if (listing.error !== undefined) throw listing.error;
  expect(listing.metadata, 'the metadata of the last part').toBeDefined();
  return listing as Listing & { readonly metadata: ListMeta };
}

/** One received event, or one difference that a poll shows. */
export interface Received extends State {
  readonly isInitial: boolean;
}

/** A WATCH in progress. */
export class Watching extends Reading {
  readonly events: Received[] = [];
  readonly state: Map<string, State>;
  readonly bookmarks: string[] = [];
  /** The number of events that had arrived when the end mark of a streaming list arrived. */
  endMarkAt: number | undefined;
  signals = 0;
  /** The newest version that the watch has shown. */
  version: string;
  isOpened = false;
  readonly subscription: Subscription;
  readonly #polls: boolean;

  constructor(
    world: World,
    source: Source,
    from: { readonly states?: Iterable<State>; readonly version: string },
    request: Partial<WatchRequest<KubernetesObject>> = {},
  ) {
    super();
    this.#polls = world.traits.polls === true;
    this.version = from.version;
    this.state = new Map([...(from.states ?? [])].map((state) => [state.key, state]));
    const watch$ = source.watch({ resourceVersion: from.version, timeoutSeconds: 300, ...request });
    this.subscription = this.follow(world, watch$, (signal) =>
      this.#receive(validatedSignal(signal)),
    );
  }

  #receive(signal: WatchSignal<KubernetesObject>): void {
    this.signals += 1;
    if (signal.kind === 'opened') this.isOpened = true;
    if (signal.kind === 'listed') this.#polled(signal.items.map(stateOf), signal.resourceVersion);
    if (signal.kind !== 'events') return;
    expect(this.isOpened, 'the watch is answered before its first event').toBe(true);
    for (const event of signal.events) this.#event(event);
  }

  #event(event: WatchEvent<KubernetesObject>): void {
    if (event.type === 'ERROR') {
      this.error = event.error;
      return;
    }
    if (event.type === 'REFUSED') throw new Error(`${event.key} was refused`);
    if (event.type === 'BOOKMARK') {
      this.#moved(event.resourceVersion, 'a bookmark');
      this.bookmarks.push(event.resourceVersion);
      if (event.initialEventsEnd) this.endMarkAt = this.events.length;
      return;
    }
    if (event.type === 'DELETED') {
      const before = this.state.get(event.key);
      const uid = event.object?.metadata?.uid ?? before?.uid ?? '';
      // The version of a deletion is newer than the state that it ends.
      if (before !== undefined)
        expect(isAtLeast(before.resourceVersion, event.resourceVersion)).toBe(false);
      this.#moved(event.resourceVersion, `the deletion of ${event.key}`);
      this.#record({ key: event.key, uid, resourceVersion: event.resourceVersion });
      this.state.delete(event.key);
      return;
    }
    const state = stateOf(event.object);
    expect(event.key).toBe(state.key);
    this.#moved(state.resourceVersion, `${event.type} ${lineOf(state)}`);
    this.#record(state);
    this.state.set(state.key, state);
  }

  #polled(states: readonly State[], resourceVersion: string): void {
    const next = new Map(states.map((state) => [state.key, state]));
    for (const [key, before] of this.state) {
      if (next.has(key)) continue;
      const { value: _value, ...gone } = before;
      this.#record(gone);
    }
    for (const [key, state] of next) {
      if (this.state.get(key)?.resourceVersion !== state.resourceVersion) this.#record(state);
    }
    this.state.clear();
    for (const [key, state] of next) this.state.set(key, state);
    this.version = resourceVersion;
  }

  #record(state: State): void {
    this.events.push({ ...state, isInitial: this.#isInitial });
  }

  /** Whether the events of a watch without a version are its initial ones, which have no order. */
  get #isInitial(): boolean {
    return this.version === '' || this.version === '0';
  }

  #moved(version: string, by: string): void {
    if (this.#isInitial) {
      if (by === 'a bookmark') this.version = version;
      return;
    }
    expect(isAtLeast(version, this.version), `${by} at ${version} follows ${this.version}`).toBe(
      true,
    );
    this.version = version;
  }

  /** The events as lines: a poll shows differences in any order, so they are sorted. */
  get lines(): string[] {
    const lines = this.events.map(lineOf);
    return this.#polls ? lines.sort() : lines;
  }

  get truth(): string[] {
    return [...this.state.values()].map(lineOf).sort();
  }
}
