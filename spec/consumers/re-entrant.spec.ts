/**
 * Consumers that call the informer from within its callbacks, at random. Whatever they call, two witnesses receive the
 * same changes without gap or duplicate, and end with the state of the server.
 */

import {
  addEventHandler,
  type ChangeSet,
  createSharedInformer,
  deliver,
  type EventHandlerRegistration,
  metricsOf,
  type SharedInformer,
  toView,
} from 'rx-informer';
import { type Observable, Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { settle } from './rig.ts';
import { unhandled } from './unhandled.ts';

type Informer = SharedInformer<Pod>;

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
});
afterEach(() => errors.restore());

/** The places at which a callback is called. */
const PLACES = [
  'changes$',
  'added$',
  'updated$',
  'deleted$',
  'snapshot$',
  'status$',
  'metrics$',
  'indexer.snapshot$',
  'deliver',
  'handler',
  'async handler',
  'view',
  'items$',
] as const;
type Place = (typeof PLACES)[number];

/** The actions in a callback. */
const ACTIONS = [
  'write',
  'delete',
  'subscribe',
  'unsubscribe',
  'unsubscribe another',
  'add a handler',
  'remove a handler',
  'stop and start',
  'await a stop, then start',
  'read',
  'wait',
  'view',
] as const;
type Action = (typeof ACTIONS)[number];

const NAMES = ['a', 'b', 'c', 'd'];

/** A server with its objects. Writes are sent to the open watch. */
class Server {
  readonly source = scriptedListWatch();
  readonly objects = new Map<string, Pod>();
  version = 1;

  put(name: string): void {
    const there = this.objects.get(name);
    this.version++;
    const next = pod(name, this.version, there?.metadata.uid ?? `${name}-${this.version}`);
    this.objects.set(name, next);
    this.source.send(there === undefined ? added(next) : modified(next));
  }

  remove(name: string): void {
    const there = this.objects.get(name);
    if (there === undefined) return;
    this.objects.delete(name);
    this.version++;
    this.source.send(deleted(pod(name, this.version, there.metadata.uid)));
  }

  /** Answers the waiting list, if there is one. */
  list(): void {
    this.source.listed(this.version, ...this.objects.values());
  }
}

/** Applies the change sets that it receives, and records contradictions. */
class Witness {
  readonly held = new Map<string, Pod>();
  readonly wrong: string[] = [];
  #rev = -1;

  apply(set: ChangeSet<Pod>): void {
    if (set.reset) this.held.clear();
    else if (set.rev <= this.#rev) this.wrong.push(`rev ${set.rev} after ${this.#rev}`);
    this.#rev = set.rev;
    for (const { id, key, previous, object } of set.changes) {
      const had = this.held.get(id);
      if (previous !== had) this.wrong.push(`${key}: previous differs from the held object`);
      if (object === undefined) this.held.delete(id);
      else this.held.set(id, object);
    }
  }

  state(): string[] {
    return [...this.held.values()]
      .map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`)
      .sort();
  }
}

interface Step {
  readonly place: Place;
  readonly action: Action;
  readonly name: string;
}

const step: fc.Arbitrary<Step> = fc.record({
  place: fc.constantFrom(...PLACES),
  action: fc.constantFrom(...ACTIONS),
  name: fc.constantFrom(...NAMES),
});

async function play(steps: readonly Step[]) {
  const time = new VirtualTime();
  const server = new Server();
  for (const name of NAMES.slice(0, 2)) {
    server.version++;
    server.objects.set(name, pod(name, server.version));
  }
  const reported: unknown[] = [];
  const informer: Informer = createSharedInformer<Pod>(
    {
      watchList: false,
      list: (request) => {
        const list = server.source.list(request);
        queueMicrotask(() => server.list());
        return list;
      },
      watch: (request) => server.source.watch(request),
    },
    {
      scheduler: time,
      random: () => 0,
      onUnhandledError: (error) => reported.push(error),
      onWarning: () => {},
    },
  );
  // The remaining actions of each place. Each action is done once.
  const todo = new Map<Place, Step[]>();
  for (const one of steps) todo.set(one.place, [...(todo.get(one.place) ?? []), one]);
  const others: { unsubscribe(): void }[] = [];
  const registrations: EventHandlerRegistration[] = [];
  const witnesses: Witness[] = [];
  const witness = () => {
    const one = new Witness();
    witnesses.push(one);
    const listen = () => {
      informer.changes$.subscribe({
        next: (set) => one.apply(set),
        // A stop completes the subscription. The witness joins the next run.
        complete: () => queueMicrotask(listen),
      });
    };
    listen();
    return one;
  };
  /** A witness of one run, from the middle of a notification on. */
  const joining = () => {
    const one = new Witness();
    witnesses.push(one);
    let left = false;
    const joined = informer.changes$.subscribe((set) => {
      if (left) one.wrong.push('received a set after it unsubscribed');
      one.apply(set);
    });
    joined.add(() => {
      left = true;
    });
    return joined;
  };
  const removed = new Set<EventHandlerRegistration>();
  const addRemovable = () => {
    let own: EventHandlerRegistration | undefined;
    const check = () => {
      if (own !== undefined && removed.has(own)) {
        witnesses[0]?.wrong.push('a handler was called after its removal');
      }
    };
    own = addEventHandler(informer, { onAdd: check, onUpdate: check, onDelete: check });
    registrations.push(own);
  };
  let actions = 0;
  const act = ({ action, name }: Step, own: Subscription): unknown => {
    actions++;
    switch (action) {
      case 'write':
        return server.put(name);
      case 'delete':
        return server.remove(name);
      case 'subscribe':
        return others.push(joining(), informer.added$.subscribe());
      case 'unsubscribe':
        return own.unsubscribe();
      case 'unsubscribe another':
        return others.shift()?.unsubscribe();
      case 'add a handler':
        return addRemovable();
      case 'remove a handler': {
        const [registration] = registrations.splice(0, 1);
        if (registration === undefined) return undefined;
        removed.add(registration);
        return registration.remove();
      }
      case 'stop and start':
        informer.stop();
        return informer.start();
      case 'await a stop, then start':
        return informer.stop().then(() => informer.start());
      case 'read':
        return (
          informer.indexer.list().length + informer.indexer.byIndex('namespace', 'shop').length
        );
      case 'wait':
        return informer.whenAtLeast(String(server.version), { timeoutMs: 1_000 }).catch(() => {});
      case 'view': {
        const leave = informer.changes$.pipe(toView<Pod>()).subscribe(() => {});
        return others.push({ unsubscribe: leave });
      }
    }
  };
  const first = witness();
  const at = (place: Place, join: (callback: () => unknown) => Subscription) => {
    const own = new Subscription();
    own.add(
      join(() => {
        const next = todo.get(place)?.shift();
        return next === undefined ? undefined : act(next, own);
      }),
    );
    return own;
  };
  const streams = ['changes$', 'added$', 'updated$', 'deleted$', 'snapshot$', 'status$'] as const;
  for (const name of streams) {
    at(name, (callback) => (informer[name] as Observable<unknown>).subscribe(callback));
  }
  at('metrics$', (callback) => metricsOf(informer).metrics$.subscribe(callback));
  at('indexer.snapshot$', (callback) => informer.indexer.snapshot$.subscribe(callback));
  at('deliver', (callback) => deliver(informer, { kind: 'conflate' }).changes$.subscribe(callback));
  const view = informer.changes$.pipe(toView<Pod>());
  at('view', (callback) => new Subscription(view.subscribe(callback)));
  at('items$', (callback) => view.items$.subscribe(callback));
  for (const place of ['handler', 'async handler'] as const) {
    at(place, (callback) => {
      const callAction = () => {
        const done = callback();
        return place === 'handler' ? undefined : Promise.resolve(done).then(() => undefined);
      };
      const registration = addEventHandler(informer, {
        onAdd: callAction,
        onUpdate: callAction,
        onDelete: callAction,
      });
      return new Subscription(() => void registration.remove());
    });
  }
  const last = witness();
  informer.start();
  for (let turn = 0; turn < 6; turn++) {
    await time.advance(1_000);
    for (const name of NAMES) server.put(name);
    if (turn % 2 === 0) server.remove('a');
  }
  // There are no more actions. After the longest backoff everything must equal the state of the server.
  todo.clear();
  for (const registration of registrations) registration.remove();
  informer.start();
  await time.advance(60_000);
  await settle();
  server.put('a');
  await time.advance(1_000);
  const truth = [...server.objects.values()]
    .map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`)
    .sort();
  const store = informer.indexer
    .list()
    .map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`)
    .sort();
  const result = {
    truth,
    store,
    first: first.state(),
    last: last.state(),
    wrong: witnesses.flatMap(({ wrong }) => wrong),
    reported,
    actions,
  };
  return result;
}

describe('consumers that call the informer within its callbacks', () => {
  it('I1, I2, I3: every other subscriber receives the same changes, without gap or duplicate', async () => {
    let actions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const { truth, store, first, last, wrong, reported, actions: done } = await play(steps);
        actions += done;
        expect({ store, first, last, wrong, reported }).toEqual({
          store: truth,
          first: truth,
          last: truth,
          wrong: [],
          reported: [],
        });
        expect(await errors.reports()).toEqual([]);
      }),
      { numRuns: 250 },
    );
    expect(actions).toBeGreaterThan(500);
  }, 60_000);
});
