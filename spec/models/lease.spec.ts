/** Model tests of the lease that keeps a run alive while it is held and for the linger time, and of the drain against a plain queue. */

import { config, Observable, type Subscriber } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { Drain } from '../../lib/rx/drain.ts';
import { type Lease, lease } from '../../lib/rx/sharing/lease.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';
import * as fc from '../support/fast-check.ts';

const LINGER_MS = 100;

interface Model {
  /** Holders, by the run that they hold. */
  held: number[];
  run: number;
  active: boolean;
  /** When the run ends, if no holder is added. */
  endsAtMs: number | undefined;
  nowMs: number;
  ends: string[];
}

class Real {
  readonly time = new VirtualTime();
  readonly releases: (() => void)[] = [];
  readonly ends: string[] = [];
  starts = 0;
  subscribed = 0;
  own: Subscriber<unknown> | undefined;
  readonly lease: Lease = lease(
    new Observable((subscriber) => {
      this.subscribed++;
      this.own = subscriber;
      return () => this.subscribed--;
    }),
    {
      lingerMs: LINGER_MS,
      scheduler: this.time,
      drain: new Drain(),
      onStart: () => this.starts++,
      onEnd: (why) => this.ends.push(why),
    },
  );
}

function finish(model: Model, why: string): void {
  if (!model.active) return;
  model.active = false;
  model.endsAtMs = undefined;
  model.ends.push(why);
}

function check(model: Model, real: Real): void {
  expect(real.lease.active).toBe(model.active);
  expect(real.subscribed).toBe(model.active ? 1 : 0);
  expect(real.starts).toBe(model.run);
  expect(real.ends).toEqual(model.ends);
  // The linger is the only timer.
  expect(real.time.pending).toBe(model.endsAtMs === undefined ? 0 : 1);
}

type Command = fc.AsyncCommand<Model, Real>;
const command = (
  text: string,
  act: (model: Model, real: Real) => void | Promise<void>,
): Command => ({
  check: () => true,
  async run(model, real) {
    await act(model, real);
    check(model, real);
  },
  toString: () => text,
});

const acquire = fc.constant(
  command('acquire', (model, real) => {
    if (!model.active) {
      model.active = true;
      model.run++;
    }
    model.endsAtMs = undefined;
    model.held.push(model.run);
    real.releases.push(real.lease.acquire());
  }),
);
// A second release, or one by a holder of an earlier run, must have no effect.
const release = fc.nat(20).map((at) =>
  command(`release ${at}`, (model, real) => {
    const { length } = model.held;
    if (length === 0) return;
    const index = at % length;
    const held = model.held[index];
    model.held[index] = -1;
    real.releases[index]?.();
    if (held !== model.run || !model.active) return;
    if (!model.held.includes(model.run)) model.endsAtMs = model.nowMs + LINGER_MS;
  }),
);
const wait = fc.constantFrom(1, 60, 99, 100, 101, 300).map((ms) =>
  command(`wait ${ms}`, async (model, real) => {
    model.nowMs += ms;
    if (model.endsAtMs !== undefined && model.endsAtMs <= model.nowMs) finish(model, 'linger');
    await real.time.advance(ms);
  }),
);
const end = fc.constant(
  command('end', (model, real) => {
    finish(model, 'ended');
    real.lease.end();
  }),
);
const complete = fc.constant(
  command('complete', (model, real) => {
    const { own } = real;
    if (!model.active || own === undefined) return;
    finish(model, 'complete');
    own.complete();
  }),
);

describe('a lease', () => {
  it('I5: runs while this run has a holder and for the linger time afterwards, in any order of calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands([acquire, acquire, release, release, release, wait, end, complete], {
          size: '+1',
        }),
        async (commands) => {
          const model: Model = {
            held: [],
            run: 0,
            active: false,
            endsAtMs: undefined,
            nowMs: 0,
            ends: [],
          };
          const real = new Real();
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns: 300 },
    );
  });
});

interface Task {
  readonly throws: boolean;
  readonly queues: readonly Task[];
}

const { task } = fc.letrec<{ task: Task }>((tie) => ({
  task: fc.record({
    throws: fc.boolean(),
    queues: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant([]),
      fc.array(tie('task'), { maxLength: 3 }),
    ),
  }),
}));

describe('a drain', () => {
  it('I2: runs all tasks in the order in which they were queued, never one within another, and reports their errors', async () => {
    const before = config.onUnhandledError;
    let reported = 0;
    let thrown = 0;
    config.onUnhandledError = () => {
      reported++;
    };
    try {
      fc.assert(
        fc.property(fc.array(task, { maxLength: 5 }), (tasks) => {
          const expected: Task[] = [];
          for (const first of tasks) {
            // Breadth first: a task that another task queues runs after all tasks that are waiting.
            const waiting = [first];
            for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
              expected.push(next);
              waiting.push(...next.queues);
            }
          }
          const drain = new Drain();
          const done: Task[] = [];
          let inside = 0;
          const perform = (one: Task) => {
            expect(inside).toBe(0);
            inside++;
            done.push(one);
            for (const next of one.queues) drain.run(() => perform(next));
            inside--;
            if (!one.throws) return;
            thrown++;
            throw new Error('no');
          };
          for (const one of tasks) drain.run(() => perform(one));
          expect(done.length).toBe(expected.length);
          expect(done.every((one, at) => one === expected[at])).toBe(true);
          const later = vi.fn();
          drain.run(later);
          expect(later).toHaveBeenCalledTimes(1);
        }),
      );
      // rxjs reports errors in a separate task.
      await allReported();
      expect(reported).toBe(thrown);
      expect(thrown).toBeGreaterThan(0);
    } finally {
      config.onUnhandledError = before;
    }
  });
});
