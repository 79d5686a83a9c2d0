/** Model test of the drain against a plain queue: tasks that queue tasks, throw, or both. */

import { config } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { Drain } from '../../lib/rx/drain.ts';
import * as fc from '../support/fast-check.ts';
import { allReported } from '../support/reported-errors.ts';

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
