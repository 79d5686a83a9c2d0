/** Model test of a view that was given its informer's status: in the last run of the informer it shows the current objects. */

import { createSharedInformer, deliver, toView } from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import type { Pod } from '../support/scripted-list-watch.ts';
import { LifeServer } from './life-server.ts';

const CALLS = ['start', 'stop', 'ready', 'write', 'expire', 'look', 'leave'] as const;
type Call = (typeof CALLS)[number];
const calls = fc.array(fc.constantFrom(...CALLS), { maxLength: 4 });
const step = fc.record({
  within: fc.constantFrom('none', 'listener', 'status$', 'items$'),
  calls,
  passMs: fc.constantFrom(0, 0, 1, 50),
});

describe('the lifecycle of a view', () => {
  it('Q5: in any order of calls a view with subscribers shows the next run', async () => {
    const options = fc.record({
      lingerMs: fc.constantFrom(0, 10, Number.POSITIVE_INFINITY),
      latencyMs: fc.constantFrom(0, 3),
      slow: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(options, fc.array(step, { maxLength: 15 }), async (of, steps) => {
        const scheduler = new VirtualTime();
        const { lingerMs, latencyMs, slow } = of;
        const server = new LifeServer({ latencyMs, polled: false, scheduler });
        const informer = createSharedInformer(server.listerWatcher(undefined), {
          ...{ lingerMs, scheduler },
          random: () => 0,
        });
        const ready = new Subject<void>();
        const changes$ = slow
          ? deliver(informer, { kind: 'conflate', ready: () => ready }).changes$
          : informer.changes$;
        const view = toView<Pod>({ status$: informer.status$ })(changes$);
        const leaves: (() => void)[] = [];
        const planned = new Map<string, Call[]>();
        let at = 0;
        const call = (what: Call) => {
          if (what === 'start') informer.start();
          else if (what === 'stop') void informer.stop();
          else if (what === 'ready') ready.next();
          else if (what === 'write') server.write(at++, at % 3 === 0);
          else if (what === 'expire') server.expire();
          else if (what === 'look') leaves.push(view.subscribe(() => within('listener')));
          else leaves.pop()?.();
        };
        const within = (callback: string) => {
          for (const each of planned.get(callback)?.splice(0) ?? []) call(each);
        };
        view.subscribe(() => within('listener'));
        for (const { within: callback, calls: acts, passMs } of steps) {
          informer.status$.subscribe(() => within('status$'));
          view.items$.subscribe(() => within('items$')).add(() => within('items$'));
          if (callback === 'none') for (const each of acts) call(each);
          else planned.set(callback, [...acts]);
          await scheduler.advance(passMs);
        }
        planned.clear();
        informer.start();
        for (let round = 0; round < 12; round++) {
          ready.next();
          await scheduler.advance(3_000);
        }
        expect(new Set(view.getSnapshot().rows)).toEqual(new Set(server.objects.values()));
        await informer.stop();
        expect([server.open, scheduler.pending]).toEqual([0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});
