/** How every ListerWatcher must treat its subscribers: aborts, cold Observables, demand, and an informer over it. */
import { createSharedInformer } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import { BehaviorSubject, filter, type Observable, take } from 'rxjs';
import { expect } from 'vitest';
import { History, lineOf, type State } from './history.ts';
import { Listing, listed, stateOf, Watching } from './reading.ts';
import { type Register, shows } from './scenario.ts';
import { quiet, until } from './world.ts';

/** A demand that a test opens and closes. */
function gate(isOpen: boolean) {
  const open$ = new BehaviorSubject(isOpen);
  const demand = (): Observable<unknown> | null =>
    open$.value ? null : open$.pipe(filter(Boolean), take(1));
  return { demand, set: (open: boolean) => open$.next(open) };
}

/** Registers the scenarios of subscriptions. */
export function subscriptions(it: Register): void {
  it('W6: unsubscribing from a list or a watch aborts its request, and nothing is emitted afterwards', async (world) => {
    const history = new History(world);
    for (let at = 0; at < 5; at++) await history.put(`a/x${at}`, '1');
    await world.settle();
    const source = world.listerWatcher();
    const { states, metadata } = await listed(world, source);
    const from = { states, version: metadata.resourceVersion };
    const immediate = [new Listing(world, source), new Watching(world, source, from)];
    for (const { subscription } of immediate) subscription.unsubscribe();
    const watching = new Watching(world, source, from);
    await until(world, 'the watch is answered', () => watching.isOpened);
    const atFirst = new Watching(world, source, from);
    await until(world, 'the second watch is answered', () => atFirst.isOpened);
    await history.put('a/x0', '2');
    await until(world, 'an event arrives', () => watching.events.length > 0);
    for (const { subscription } of [watching, atFirst]) subscription.unsubscribe();
    const seen = [...immediate, watching, atFirst];
    await history.put('a/x0', '3');
    await quiet(world);
    expect(seen.map(({ late }) => late)).toEqual([0, 0, 0, 0]);
    await until(
      world,
      'the server answers no request',
      async () => (await world.openRequests()) === 0,
    );
  });

  it('W6: nothing is requested before the subscription, and each subscription is a request of its own', async (world) => {
    const history = new History(world);
    await history.put('a/x', '1');
    await world.settle();
    const source = world.listerWatcher();
    const list$ = source.list({ resourceVersion: '' });
    const { metadata } = await listed(world, source);
    const watch$ = source.watch({
      resourceVersion: metadata.resourceVersion,
      timeoutSeconds: 300,
    });
    await quiet(world);
    expect(await world.openRequests()).toBe(0);
    await history.put('a/y', '1');
    await world.settle();
    const { lines } = await listed(world, { ...source, list: () => list$ });
    expect(lines).toEqual(history.truth());
    const from = { states: history.states.slice(0, 1), version: metadata.resourceVersion };
    const watching = [0, 1].map(
      () => new Watching(world, { ...source, watch: () => watch$ }, from),
    );
    for (const watch of watching) {
      await shows(world, watch, history.states.slice(1), history.truth());
    }
    watching[0]?.subscription.unsubscribe();
    await history.put('a/z', '1');
    if (watching[1]) await shows(world, watching[1], history.states.slice(1), history.truth());
    watching[1]?.subscription.unsubscribe();
  });

  it('W89: while the demand is closed, no object of a list and at most the events that were already requested arrive; when it opens, everything arrives', async (world) => {
    const history = new History(world);
    for (let at = 0; at < 5; at++) await history.put(`a/x${at}`, '1');
    await world.settle();
    const source = world.listerWatcher();
    const { states, metadata } = await listed(world, source);
    const closed = gate(false);
    const listing = new Listing(world, source, { demand: closed.demand });
    await quiet(world);
    expect([listing.states.length, listing.isComplete]).toEqual([0, false]);
    closed.set(true);
    await until(world, 'the list ends', () => listing.isComplete);
    expect(listing.lines).toEqual(history.truth());

    const { readAhead } = world.traits;
    const demanded = gate(false);
    const from = { states, version: metadata.resourceVersion };
    const watching = new Watching(world, source, from, { demand: demanded.demand });
    const before = history.states.length;
    await history.put('a/x0', '2');
    await quiet(world);
    expect(watching.events.length).toBeLessThanOrEqual(readAhead);
    demanded.set(true);
    await shows(world, watching, history.states.slice(before), history.truth());
    demanded.set(false);
    await quiet(world);
    const { length } = watching.events;
    for (let at = 0; at < readAhead + 5; at++) {
      await history.put(`b/y${at}`, '1');
      await world.pass(5);
    }
    await quiet(world);
    expect(watching.events.length - length).toBeLessThanOrEqual(readAhead);
    demanded.set(true);
    await shows(world, watching, history.states.slice(before), history.truth());
    watching.subscription.unsubscribe();
  });
}

/** Registers the scenario of an informer. */
export function informers(it: Register): void {
  it('W94: an informer over the ListerWatcher reaches the state of the server after any history of changes, lost connections and forgotten versions, and its change sets add up to its store', async (world) => {
    const random = seededRandom(94);
    const history = new History(world);
    const { scheduler, traits } = world;
    const informer = createSharedInformer(world.listerWatcher(), {
      ...(scheduler === undefined ? {} : { scheduler }),
      onWarning: () => undefined,
      lingerMs: 0,
    });
    const folded = new Map<string, State>();
    const told = informer.changes$.subscribe(({ changes, reset }) => {
      if (reset) folded.clear();
      for (const { key, object } of changes) {
        if (object === undefined) folded.delete(key);
        else folded.set(key, stateOf(object));
      }
    });
    const keys = ['a/x', 'a/y', 'b/x', 'b/y', 'c/z'];
    const isLive = () => informer.status.live;
    for (let step = 0; step < 160; step++) {
      // The last changes arrive over one watch, because a later list would repair everything that was lost before.
      if (step === 120) await until(world, 'the informer is live', isLive);
      const key = keys[Math.floor(random() * keys.length)] ?? '';
      const dice = random();
      if (dice < 0.6) await history.put(key, `${step}`);
      else if (dice < 0.85 && history.current.has(key)) await history.remove(key);
      else if (dice < 0.88) await world.advance();
      else if (dice < 0.91 && step < 120 && traits.expires === true) await world.compact();
      else if (dice < 0.95 && step < 120) await world.disconnect();
      else await world.pass(Math.ceil(random() * 50));
    }
    const lines = () => informer.indexer.list().map(stateOf).map(lineOf).sort();
    const isEqual = () => informer.status.synced && lines().join() === history.truth().join();
    const seen = () => `${informer.status.phase}\n${lines().join()}\n${history.truth().join()}`;
    await until(world, 'the store is the state of the server', isEqual, seen);
    expect([...folded.values()].map(lineOf).sort()).toEqual(history.truth());
    told.unsubscribe();
    await informer.stop();
    await until(
      world,
      'the server answers no request',
      async () => (await world.openRequests()) === 0,
    );
  });
}
