/** Model test of the event recorder: whatever fails and when, the counts on the server are those of the recorded events. */

import { createClient, createEventRecorder } from 'rx-informer';
import { eventsV1Events, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';

const step = fc.record({
  pod: fc.constantFrom('web', 'db'),
  reason: fc.constantFrom('Synced', 'Broken', 'Slow'),
  type: fc.constantFrom('Normal', 'Warning'),
  waitMs: fc.constantFrom(0, 0, 1, 900, 29_000, 31_000, 61_000),
  trouble: fc.constantFrom('none', 'none', 'none', 'none', 'error', 'refused', 'forgotten'),
});

describe('an event recorder', () => {
  it('N12: counts each event once, in any order of events and failures', async () => {
    let recorded = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const scheduler = new VirtualTime();
        const server = createFakeApiServer({ resources: [pods, eventsV1Events], scheduler });
        const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
        const dropped: unknown[] = [];
        let draws = 0;
        const recorder = createEventRecorder(client, {
          component: 'model',
          scheduler,
          // Names of events contain random numbers, which must differ.
          random: () => (++draws * 0.618034) % 1,
          onDropped: (error) => dropped.push(error),
        });
        const tally = new Map<string, number>();
        const objects = new Map(
          ['web', 'db'].map((name) => [
            name,
            server.objects.create(pods, { metadata: { namespace: 'shop', name } }),
          ]),
        );
        let forgotten = false;
        for (const { pod, reason, type, waitMs, trouble } of steps) {
          if (trouble === 'error') server.faults.failNext(undefined, { status: 503 });
          if (trouble === 'refused') {
            const fault = server.faults.refuse();
            scheduler.schedule(() => fault.heal(), 5_000);
          }
          if (trouble === 'forgotten') {
            // The server deletes events after an hour.
            forgotten = true;
            for (const { metadata } of server.objects.list(eventsV1Events)) {
              server.objects.delete(eventsV1Events, metadata);
            }
          }
          const object = objects.get(pod);
          if (object !== undefined)
            recorder.event(object, { type, reason, message: 'again' } as const);
          const key = `${pod} ${type} ${reason}`;
          tally.set(key, (tally.get(key) ?? 0) + 1);
          recorded++;
          await scheduler.advance(waitMs);
        }
        await scheduler.advance(200_000);
        const closed = recorder.close();
        await scheduler.advance(30_000);
        await closed;
        expect(dropped).toEqual([]);
        expect(scheduler.pending).toBe(0);
        const counted = new Map<string, number>();
        for (const { regarding, type, reason, series } of server.objects.list(eventsV1Events)) {
          const key = `${regarding?.name} ${type} ${reason}`;
          counted.set(key, (counted.get(key) ?? 0) + (series?.count ?? 1));
        }
        if (!forgotten) expect(counted).toEqual(tally);
        else
          for (const [key, count] of counted)
            expect(count).toBeLessThanOrEqual(tally.get(key) ?? 0);
      }),
      { numRuns: 120 },
    );
    expect(recorded).toBeGreaterThan(300);
  });
});
