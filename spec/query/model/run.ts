/** Runs a scenario, and compares every consumer with the naive answer after each event. */
import { conflateByKey, liveFilter, liveMap, toView } from 'rx-informer';
import { inTurn } from 'rx-informer/testing';
import { BehaviorSubject } from 'rxjs';
import { filter } from 'rxjs/operators';
import { Clock } from '../../rx/clock.ts';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { expectSame, Mirror } from '../mirror.ts';
import { type Item, World } from '../world.ts';
import { InformedSource } from './informed-source.ts';
import { expectEqual, naiveOf } from './naive.ts';
import { type Event, oddUid, type Scenario, type Simple } from './scenario.ts';
import { type NaiveAnswer, type PipelineStep, type Sets, unordered } from './step.ts';
import { pipelineOf } from './steps.ts';

/** The most subscribers of one pipeline. */
const MOST = 4;

type Source = Pick<World, 'items' | 'changes$' | 'commit' | 'reset' | 'setSynced' | 'complete'>;

class Run {
  events = 0;
  readonly #time = new VirtualTime();
  readonly #clock = new Clock(this.#time, 1_000);
  readonly #isOpen = new BehaviorSubject(true);
  readonly #broken = new Set<string>();
  readonly #other: World;
  readonly #source: World | InformedSource;
  readonly #steps: readonly PipelineStep[];
  readonly #stream: Sets;
  readonly #allowsResets: boolean;
  readonly #mirrors: Mirror<Item>[] = [];
  readonly #view: ReturnType<typeof toView<Item, unknown>>;
  readonly #leaveView: () => void;
  /** What the next set causes. */
  #inside: Simple | undefined;

  constructor({ choices, source, hasOddIds, isFlaky }: Scenario) {
    const isInTurns = source === 'world in turns';
    const uidOf = hasOddIds ? oddUid : undefined;
    this.#other = new World(isInTurns, uidOf);
    const ready = () => (this.#isOpen.value ? null : this.#isOpen.pipe(filter((open) => open)));
    const around = { scheduler: this.#clock, ready, other: this.#other, varies: true };
    const start = choices[0]?.[1] ?? 0;
    this.#source = source === 'informer' ? new InformedSource(start) : new World(isInTurns, uidOf);
    const steps = pipelineOf(choices, around);
    // The first operator alone is asked again by a resync: the others are not, as no row has changed.
    if (isFlaky && source !== 'informer') steps.unshift(this.#flaky(start));
    this.#steps = steps;
    let stream = this.#source.changes$ as unknown as Sets;
    for (const each of steps) stream = each.apply(stream);
    this.#stream = stream;
    this.#allowsResets = steps.every(({ name }) => name === 'conflate');
    this.#join();
    this.#mirror(conflateByKey<Item, unknown>({ ready })(stream) as unknown as Sets);
    this.#view = toView(stream, { mutationGuard: 'off' });
    this.#leaveView = this.#view.subscribe(() => undefined);
  }

  get names(): readonly string[] {
    return this.#steps.map(({ name }) => name);
  }

  perform(event: Event): void {
    this.events++;
    if (event.do === 'together') {
      this.events += event.events.length - 1;
      inTurn(() => {
        for (const each of event.events) this.#simple(each);
      });
    } else if (event.do === 'folded') {
      this.events += event.events.length - 1;
      this.#isOpen.next(false);
      for (const each of event.events) this.#simple(each);
      this.#isOpen.next(true);
    } else if (event.do === 'within') {
      this.events++;
      this.#inside = event.inside;
      this.#simple(event.event);
      this.#inside = undefined;
    } else if (event.do === 'elapse') this.#time.elapse(event.ms);
    else if (event.do === 'back') this.#setBack(event.ms);
    else this.#simple(event);
    if (this.#source instanceof InformedSource) this.#source.settle();
  }

  check(): void {
    const naive = naiveOf(this.#source, this.#steps);
    for (const mirror of this.#mirrors) expectEqual(mirror, naive);
    this.#checkView(naive ?? unordered([]));
  }

  end(): void {
    const waits = this.#steps.some(({ isWaiting }) => isWaiting);
    for (const mirror of this.#mirrors) mirror.expectKeptOrders();
    this.#source.complete();
    this.#other.complete();
    for (const mirror of this.#mirrors) {
      if (!waits) expectSame('whether the stream has completed', mirror.completed, true);
      mirror.subscription.unsubscribe();
      if (mirror.error !== undefined) throw mirror.error;
    }
    this.#leaveView();
    expectSame('the timers that are left', this.#time.pending, 0);
  }

  #simple(event: Simple): void {
    if (event.do === 'turn') {
      const at = event.at % (this.#steps.length + 1);
      if (at < this.#steps.length) this.#steps[at]?.turn(event.to);
      else if (this.#source instanceof InformedSource) this.#source.turn(event.to);
    } else if (event.do === 'join') this.#join();
    else if (event.do === 'leave') this.#leave(event.which);
    else if (event.do === 'break') {
      for (const name of event.names) {
        if (event.isBroken) this.#broken.add(name);
        else this.#broken.delete(name);
      }
      this.#source.commit(
        event.names.map((name) => ({ name, what: 'again', n: 0, group: '' }) as const),
      );
    } else {
      const source: Source = event.on === 0 ? (this.#source as Source) : this.#other;
      if (event.do === 'commit') source.commit(event.steps);
      else if (event.do === 'reset') source.reset(event.items);
      else source.setSynced(event.synced);
    }
  }

  #join(): void {
    if (this.#mirrors.length < MOST) this.#mirror(this.#stream);
  }

  #mirror(stream: Sets): void {
    const afterSet = () => {
      const inside = this.#inside;
      this.#inside = undefined;
      if (inside !== undefined) this.#simple(inside);
    };
    this.#mirrors.push(new Mirror<Item>(stream, this.#allowsResets, afterSet));
  }

  #leave(which: number): void {
    const [mirror] = this.#mirrors.splice(which % Math.max(1, this.#mirrors.length), 1);
    mirror?.subscription.unsubscribe();
    if (mirror?.error !== undefined) throw mirror.error;
  }

  /** Sets the clock back, unless a row would be due again, which only its next evaluation could show. */
  #setBack(ms: number): void {
    const now = this.#clock.now();
    for (const [at, each] of this.#steps.entries()) {
      const before = naiveOf(this.#source, this.#steps.slice(0, at)) ?? unordered([]);
      if (each.dues?.(before).some((dueMs) => dueMs <= now && dueMs > now - ms)) return;
    }
    this.#clock.set(-ms);
  }

  #checkView(naive: NaiveAnswer): void {
    const { rows, total } = this.#view.getSnapshot();
    expectSame('the total of the view', total, naive.total);
    const shown = rows.map(({ metadata: { uid }, n }) => `${uid} ${n}`);
    const must = naive.rows.map(({ object: { metadata, n } }) => `${metadata.uid} ${n}`);
    if (!naive.ordered) {
      shown.sort();
      must.sort();
    }
    expectSame('the rows of the view', shown, must);
  }

  #flaky(start: number): PipelineStep {
    const scheduler = this.#clock;
    const checked = (object: Item) => {
      if (this.#broken.has(object.metadata.name)) throw new Error('broken');
      return object;
    };
    return {
      name: 'flaky',
      takes: 'unordered',
      apply: (source) =>
        start % 2 === 0
          ? (liveFilter<Item>((object) => checked(object) === object, { scheduler })(
              source as never,
            ) as Sets)
          : (liveMap<Item, Item, unknown>(checked, { scheduler })(source) as unknown as Sets),
      naive: ({ rows }) =>
        unordered(rows.filter(({ object }) => !this.#broken.has(object.metadata.name))),
      turn: () => undefined,
    };
  }
}

/** Runs a scenario, and returns the number of its events and its operators. Throws what differs. */
export function runScenario(scenario: Scenario): {
  readonly events: number;
  readonly names: readonly string[];
} {
  const run = new Run(scenario);
  run.check();
  for (const event of scenario.events) {
    run.perform(event);
    run.check();
  }
  run.end();
  return run;
}
