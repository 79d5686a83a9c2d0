/** Tests the periods of resyncs, and what a relist tells of unchanged objects. */

import { ApiError, addEventHandler, createSharedInformer, type InformerWarning } from 'rx-informer';

import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

import { pod, scriptedInformer, scriptedListWatch } from '../support/scripted-list-watch.ts';
import { logging } from './handler-rig.ts';

const expired = () => ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);

describe('resyncs', () => {
  it.each([
    [0, 0],
    [0, 1000],
    [1000, 0],
    [1000, 1000],
  ])(
    'I18, I21: a relist reports the difference to all handlers, and unchanged objects only as resyncs: informer %i, handler %i (TestSharedInformerWatchDisruption)',
    async (resyncPeriodMs, other) => {
      const time = new VirtualTime();
      const { source, informer } = scriptedInformer({
        scheduler: time,
        resyncPeriodMs,
        backoff: () => 0,
      });
      const never: string[] = [];
      const own: string[] = [];
      const inherits: string[] = [];
      addEventHandler(informer, logging(never), { resyncPeriodMs: 0 });
      addEventHandler(informer, logging(own), { resyncPeriodMs: other });
      addEventHandler(informer, logging(inherits));
      source.listed(1, pod('p1', 1), pod('p2', 2));
      informer.start();
      await time.advance(500);
      source.listed(9, pod('p1', 1), pod('p2', 4), pod('p3', 3));
      source.fail(expired());
      await time.advance(1);
      const first = ['+p1@1* initial', '+p2@2* initial', '~p2@2>4 relist', '+p3@3 relist'];
      expect([never, own, inherits]).toEqual([first, first, first]);
      await time.advance(500);
      const resynced = [...first, '~p1@1>1 resync', '~p2@4>4 resync', '~p3@3>3 resync'];
      expect(never).toEqual(first);
      expect(own).toEqual(other === 0 ? first : resynced);
      expect(inherits).toEqual(resyncPeriodMs === 0 ? first : resynced);
      await informer.stop();
    },
  );

  it('I18: a shorter period on a running informer is raised to the shortest period at the start of the run (TestResyncCheckPeriod)', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const warnings: InformerWarning[] = [];
    const informer = createSharedInformer(source, {
      name: 'pods',
      scheduler: time,
      resyncPeriodMs: 20_000,
      onWarning: (warning) => warnings.push(warning),
    });
    const ticks: string[] = [];
    const listen = (name: string, resyncPeriodMs: number) =>
      addEventHandler(
        informer,
        { onUpdate: () => ticks.push(`${name}@${time.now()}`) },
        { name, resyncPeriodMs },
      );
    listen('before', 5000);
    source.listed(1, pod('web', 1));
    informer.start();
    listen('hasty', 2000);
    listen('calm', 7000);
    listen('never', 0);
    await time.advance(10_000);
    expect(ticks).toEqual([
      'before@5000',
      'hasty@5000',
      'calm@7000',
      'before@10000',
      'hasty@10000',
    ]);
    expect(warnings).toMatchObject([
      { type: 'resync-raised', informer: 'pods', subscriber: 'hasty' },
    ]);
    expect(warnings[0]?.message).toMatch(
      /every 2000 ms\. The informer is already running with a check period of 5000 ms/,
    );
    await informer.stop();
  });

  it('I18: a handler that joins a run without a check period keeps its period', async () => {
    const time = new VirtualTime();
    for (const never of [undefined, 0, Number.POSITIVE_INFINITY]) {
      const { source, informer } = scriptedInformer({
        scheduler: time,
        ...(never === undefined ? {} : { resyncPeriodMs: never }),
      });
      source.listed(1, pod('web', 1));
      informer.start();
      const began = time.now();
      const ticks: number[] = [];
      const onUpdate = () => ticks.push(time.now() - began);
      addEventHandler(informer, { onUpdate }, { resyncPeriodMs: 2000 });
      await time.advance(5000);
      expect(ticks).toEqual([2000, 4000]);
      await informer.stop();
    }
  });
});
