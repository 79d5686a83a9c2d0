/** Random graphs of live operators over long collections, compared with the naive answer. */

import { inTurn } from 'rx-informer/testing';
import { config, type Subscription } from 'rxjs';
import { beforeAll, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { SlicesOfTime } from './engine/slices-of-time.ts';
import { expectSame, Mirror } from './mirror.ts';
import { type GraphNode, graphOf, naiveOfGraph } from './model/graph.ts';
import { type GraphEvent, type GraphScenario, graphScenario } from './model/graph-scenario.ts';
import { expectEqual } from './model/naive.ts';
import { pick, plainly } from './model/step.ts';
import { type Item, World } from './world.ts';

// Runs a scenario of a graph. Whenever no computation is in progress, each subscriber must hold the naive answer.

/** What a run has tried. */
interface GraphRan {
  /** The events that came while a computation was in progress. */
  readonly during: number;
  /** The events within a set that a subscriber received. */
  readonly within: number;
}

/** How often a subscriber acts within the sets that one event causes: each act causes sets, too. */
const MOST_ACTS = 3;
const MOST_SUBSCRIBERS = 3;
/** Events that change one source or the parameters of one node. */
const ONE_CHANGE: readonly GraphEvent['do'][] = ['commit', 'reset', 'synced', 'turn'];

class GraphRun {
  readonly #scheduler = new SlicesOfTime();
  /** The events of the running turn. Those within an event wait for its end, as writes to an informer do. */
  #queued: GraphEvent[] | undefined;
  readonly #worlds: readonly World[];
  readonly #nodes: readonly GraphNode[];
  readonly #last: GraphNode;
  readonly #mirrors: Mirror<Item>[] = [];
  readonly #actor: Subscription | undefined;
  #actsLeft = 0;
  #during = 0;
  #within = 0;

  constructor({ choices, sizes, isInTurns, actor }: GraphScenario) {
    this.#worlds = sizes.map(() => new World(isInTurns));
    for (const [on, size] of sizes.entries()) this.#refill(on, size, 1);
    this.#nodes = graphOf(choices, this.#worlds, plainly(this.#scheduler));
    this.#last = this.#nodes.at(-1) as GraphNode;
    this.#join();
    if (actor !== undefined) this.#actor = this.#act(actor.at, actor.acts);
  }

  run(events: readonly GraphEvent[]): GraphRan {
    this.#check();
    for (const event of events) {
      this.#during += Math.min(1, this.#scheduler.waiting);
      this.#actsLeft = MOST_ACTS;
      const before = this.#mirrors.map(({ sets }) => sets.length);
      this.#apply(event);
      this.#check();
      if (ONE_CHANGE.includes(event.do) && this.#actsLeft === MOST_ACTS) this.#checkOnce(before);
    }
    this.#scheduler.run();
    this.#check();
    this.#end();
    return { during: this.#during, within: this.#within };
  }

  #apply(event: GraphEvent): void {
    if (event.do === 'slices') this.#scheduler.run(event.most);
    else if (event.do === 'join') this.#join();
    else if (event.do === 'leave') this.#leave(event.which);
    else this.#changeInOrder(event);
  }

  #changeInOrder(event: GraphEvent): void {
    if (this.#queued !== undefined) {
      this.#queued.push(event);
      return;
    }
    const queued = [event];
    inTurn(() => {
      this.#queued = queued;
      for (const each of queued) this.#change(each);
      this.#queued = undefined;
    });
  }

  #change(event: GraphEvent): void {
    if (event.do === 'commit') pick(this.#worlds, event.on).commit(event.steps);
    else if (event.do === 'reset') pick(this.#worlds, event.on).reset(event.items);
    else if (event.do === 'synced') pick(this.#worlds, event.on).setSynced(event.synced);
    else if (event.do === 'turn') pick(this.#nodes, event.at).turn?.(event.to);
    else if (event.do === 'refill') this.#refill(event.on, event.size, event.by);
    else if (event.do === 'together') {
      inTurn(() => {
        for (const each of event.events) this.#change(each);
      });
    }
  }

  #refill(on: number, size: number, by: number): void {
    const world = pick(this.#worlds, on);
    const names = [...world.items.keys()];
    world.commit(names.map((name) => ({ name, what: 'delete', n: 0, group: 'a' })));
    world.commit(
      Array.from({ length: size }, (_, at) => ({
        name: `n${at}`,
        what: 'set',
        n: (at * by) % 10,
        group: pick(['a', 'b', 'c'], at),
      })),
    );
  }

  #join(): void {
    if (this.#mirrors.length >= MOST_SUBSCRIBERS) return;
    this.#mirrors.push(new Mirror<Item>(this.#last.stream, this.#last.passesResets));
  }

  #leave(which: number): void {
    if (this.#mirrors.length < 2) return;
    const [mirror] = this.#mirrors.splice(which % this.#mirrors.length, 1);
    mirror?.subscription.unsubscribe();
  }

  #act(at: number, acts: readonly GraphEvent[]): Subscription {
    const node = this.#nodes.at(-1 - (at % this.#nodes.length)) as GraphNode;
    return node.stream.subscribe(() => {
      const act = acts[this.#within];
      if (act === undefined || this.#actsLeft === 0) return;
      this.#actsLeft--;
      this.#within++;
      this.#apply(act);
    });
  }

  #check(): void {
    for (const { error } of this.#mirrors) if (error !== undefined) throw this.#wrong(error);
    if (this.#scheduler.waiting > 0) return;
    const naive = naiveOfGraph(this.#nodes);
    for (const mirror of this.#mirrors) {
      try {
        expectEqual(mirror, naive);
      } catch (error) {
        throw this.#wrong(error);
      }
    }
  }

  /** A change reaches a node on several ways, but the node emits once, after all of them. */
  #checkOnce(before: readonly number[]): void {
    for (const [at, { sets }] of this.#mirrors.entries()) {
      const more = sets.length - (before[at] ?? 0);
      if (more > 1) throw this.#wrong(`${more} sets of one change`);
    }
  }

  #wrong(error: unknown): Error {
    return new Error(`${this.#last.name} is wrong: ${String(error)}`, { cause: error });
  }

  /** Both sources complete, and so does each subscriber. */
  #end(): void {
    this.#actsLeft = 0;
    for (const world of this.#worlds) world.complete();
    this.#scheduler.run();
    this.#check();
    for (const { completed, subscription } of this.#mirrors) {
      expectSame(`whether ${this.#last.name} is complete`, completed, true);
      subscription.unsubscribe();
    }
    this.#actor?.unsubscribe();
    expectSame('the computations that are left', this.#scheduler.waiting, 0);
  }
}

function runGraph(scenario: GraphScenario): GraphRan {
  return new GraphRun(scenario).run(scenario.events);
}

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

it('Q20: graphs hold the naive answer once their computations are finished, and emit once for one change', () => {
  let during = 0;
  let within = 0;
  const property = fc.property(graphScenario, (each) => {
    const ran = runGraph(each);
    during += ran.during;
    within += ran.within;
  });
  fc.assert(property, { numRuns: 80 });
  // The scenarios reach what they are for: events during computations, and within sets.
  expect(during).toBeGreaterThan(20);
  expect(within).toBeGreaterThan(20);
});
