/** Queries that come and go over a source that changes all the time, and what they leave behind. */
import { VirtualTime } from '../../rx/virtual-time.ts';
import { World } from '../world.ts';
import { type PipelineStep, plainly, type Sets } from './step.ts';
import { pipelineOf } from './steps.ts';

const NAMES = Array.from({ length: 16 }, (_, at) => `n${at}`);
/** How many queries there are at a time, and after how many events one of them is replaced. */
const QUERIES = 3;
const EVENTS_A_QUERY = 50;
/** A parameter changes after this many events. */
const EVENTS_A_TURN = 7;

interface Query {
  readonly steps: readonly PipelineStep[];
  leave(): void;
}

/** A generator of numbers that a seed determines (mulberry32). */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Queries over one source. They read nothing of what they are sent. */
export class ComingsAndGoings {
  /** How many queries there were, and how many sets they have received. */
  queries = 0;
  sets = 0;
  readonly #number: (below: number) => number;
  readonly #world = new World(true);
  readonly #time = new VirtualTime();
  readonly #around = { ...plainly(this.#time), other: new World(true) };
  readonly #present: Query[] = [];
  #events = 0;

  constructor(seed: number) {
    this.#number = numbersOf(seed);
    while (this.#present.length < QUERIES) this.#come();
  }

  /** Lets so many more events happen. */
  run(events: number): void {
    for (const until = this.#events + events; this.#events < until; this.#events++) {
      this.#commit();
      if (this.#events % EVENTS_A_TURN === 0) this.#turn();
      if (this.#events % EVENTS_A_QUERY > 0) continue;
      this.#time.elapse(1);
      this.#present.splice(this.#number(QUERIES), 1)[0]?.leave();
      this.#come();
    }
  }

  end(): void {
    for (const { leave } of this.#present.splice(0)) leave();
  }

  get timers(): number {
    return this.#time.pending;
  }

  #come(): void {
    this.queries++;
    const length = 1 + this.#number(5);
    const choices = Array.from({ length }, () => [this.#number(1_000), this.#number(40)] as const);
    const steps = pipelineOf(choices, this.#around);
    const stream = steps.reduce((source, each) => each.apply(source), this.#world.changes$ as Sets);
    const subscription = stream.subscribe(() => this.sets++);
    this.#present.push({ steps, leave: () => subscription.unsubscribe() });
  }

  #commit(): void {
    const world = this.#number(8) === 0 ? this.#around.other : this.#world;
    const name = NAMES[this.#number(NAMES.length)] as string;
    const what = (['set', 'set', 'delete', 'recreate', 'again'] as const)[this.#number(5)] ?? 'set';
    world.commit([{ name, what, n: this.#number(10), group: 'abc'[this.#number(3)] as string }]);
  }

  #turn(): void {
    const { steps } = this.#present[this.#number(QUERIES)] as Query;
    steps[this.#number(steps.length)]?.turn(this.#number(20));
  }
}
