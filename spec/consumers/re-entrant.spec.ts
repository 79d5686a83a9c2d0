/**
 * Consumers that do things to the informer from within its callbacks, at random: whatever they do, two witnesses hear
 * one story without gap or duplicate, and end where the server is.
 */

import fc from 'fast-check';
import {
  type ChangeSet,
  createSharedInformer,
  type EventHandlerRegistration,
  type SharedInformer,
  toView,
} from 'rx-informer';
import { type Observable, Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
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

/** Where a callback is. */
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

/** What is done there. */
const DEEDS = [
  'write',
  'delete',
  'subscribe',
  'leave',
  'throw out another',
  'add a handler',
  'remove a handler',
  'stop and start',
  'await a stop, then start',
  'read',
  'wait',
  'view',
] as const;
type Deed = (typeof DEEDS)[number];

const NAMES = ['a', 'b', 'c', 'd'];

/** The server: what it holds, written through the open watch. */
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

  /** Answers a list that waits, if one does. */
  list(): void {
    this.source.listed(this.version, ...this.objects.values());
  }
}

/** Believes what it is told, and notices what cannot be. */
class Witness {
  readonly held = new Map<string, Pod>();
  readonly wrong: string[] = [];
  #rev = -1;

  hear(set: ChangeSet<Pod>): void {
    if (set.reset) this.held.clear();
    else if (set.rev <= this.#rev) this.wrong.push(`rev ${set.rev} after ${this.#rev}`);
    this.#rev = set.rev;
    for (const { id, key, previous, object } of set.changes) {
      const had = this.held.get(id);
      if (previous !== had) this.wrong.push(`${key}: had another before`);
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
  readonly deed: Deed;
  readonly name: string;
}

const step: fc.Arbitrary<Step> = fc.record({
  place: fc.constantFrom(...PLACES),
  deed: fc.constantFrom(...DEEDS),
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
  // What is still to be done in each place: once each.
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
        next: (set) => one.hear(set),
        // A stop ends it; it joins the next generation.
        complete: () => queueMicrotask(listen),
      });
    };
    listen();
    return one;
  };
  /** Hears one generation, from the middle of a notification on. */
  const joining = () => {
    const one = new Witness();
    witnesses.push(one);
    let left = false;
    const joined = informer.changes$.subscribe((set) => {
      if (left) one.wrong.push('heard after it left');
      one.hear(set);
    });
    joined.add(() => {
      left = true;
    });
    return joined;
  };
  const removed = new Set<EventHandlerRegistration>();
  const addRemovable = () => {
    let own: EventHandlerRegistration | undefined;
    const tell = () => {
      if (own !== undefined && removed.has(own)) witnesses[0]?.wrong.push('told after its removal');
    };
    own = informer.addEventHandler({ onAdd: tell, onUpdate: tell, onDelete: tell });
    registrations.push(own);
  };
  let deeds = 0;
  const act = ({ deed, name }: Step, own: Subscription): unknown => {
    deeds++;
    switch (deed) {
      case 'write':
        return server.put(name);
      case 'delete':
        return server.remove(name);
      case 'subscribe':
        return others.push(joining(), informer.added$.subscribe());
      case 'leave':
        return own.unsubscribe();
      case 'throw out another':
        return others.shift()?.unsubscribe();
      case 'add a handler':
        return addRemovable();
      case 'remove a handler': {
        const [registration] = registrations.splice(0, 1);
        if (registration === undefined) return undefined;
        removed.add(registration);
        return informer.removeEventHandler(registration);
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
  const streams = [
    'changes$',
    'added$',
    'updated$',
    'deleted$',
    'snapshot$',
    'status$',
    'metrics$',
  ] as const;
  for (const name of streams) {
    at(name, (callback) => (informer[name] as Observable<unknown>).subscribe(callback));
  }
  at('indexer.snapshot$', (callback) => informer.indexer.snapshot$.subscribe(callback));
  at('deliver', (callback) => informer.deliver({ kind: 'conflate' }).changes$.subscribe(callback));
  const view = informer.changes$.pipe(toView<Pod>());
  at('view', (callback) => new Subscription(view.subscribe(callback)));
  at('items$', (callback) => view.items$.subscribe(callback));
  for (const place of ['handler', 'async handler'] as const) {
    at(place, (callback) => {
      const answer = () => {
        const done = callback();
        return place === 'handler' ? undefined : Promise.resolve(done).then(() => undefined);
      };
      const registration = informer.addEventHandler({
        onAdd: answer,
        onUpdate: answer,
        onDelete: answer,
      });
      return new Subscription(() => void informer.removeEventHandler(registration));
    });
  }
  const last = witness();
  informer.start();
  for (let turn = 0; turn < 6; turn++) {
    await time.advance(1_000);
    for (const name of NAMES) server.put(name);
    if (turn % 2 === 0) server.remove('a');
  }
  // Nobody acts any more: all is to be what the server has, after a wait of any backoff.
  todo.clear();
  for (const registration of registrations) informer.removeEventHandler(registration);
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
    deeds,
  };
  return result;
}

describe('consumers that act within callbacks', () => {
  it('I1, I2, I3: whatever they do, the others hear one story', async () => {
    let deeds = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const { truth, store, first, last, wrong, reported, deeds: done } = await play(steps);
        deeds += done;
        expect({ store, first, last, wrong, reported }).toEqual({
          store: truth,
          first: truth,
          last: truth,
          wrong: [],
          reported: [],
        });
        expect(await errors.heard()).toEqual([]);
      }),
      { numRuns: 250 },
    );
    expect(deeds).toBeGreaterThan(500);
  }, 60_000);
});
