/** The warning about a handler of an informer that is not started. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  addEventHandler,
  createSharedInformer,
  type InformerWarning,
  type SharedInformerOptions,
} from 'rx-informer';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { type Pod, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';

function rig(options: SharedInformerOptions<Pod> = {}) {
  const time = new VirtualTime();
  const source = scriptedListWatch();
  const warnings: InformerWarning[] = [];
  const informer = createSharedInformer<Pod>(source, {
    ...{ name: 'pods', scheduler: time, idleTimeoutMs: Number.POSITIVE_INFINITY },
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  source.listed(1, pod('web', 1));
  return { time, source, informer, warnings };
}

describe('a handler of an informer that was not started', () => {
  it('I65: causes one warning after 10 s, with one timer for all handlers', async () => {
    const { time, informer, warnings } = rig();
    addEventHandler(informer, {}, { name: 'audit' });
    await time.advance(4_000);
    addEventHandler(informer, {});
    expect(time.pending).toBe(1);
    await time.advance(5_999);
    expect(warnings).toEqual([]);
    await time.advance(1);
    expect(warnings).toEqual([
      {
        ...{ type: 'not-started', informer: 'pods', subscriber: 'audit' },
        message:
          'audit (and 1 more) was added 10 s ago and is not called, because the informer was not started: call start()',
      },
    ]);
    addEventHandler(informer, {});
    await time.advance(60_000);
    expect([warnings.length, time.pending]).toEqual([1, 0]);
  });

  it.each<[string, (of: ReturnType<typeof rig>) => unknown]>([
    ['a start', ({ informer }) => informer.start()],
    ['a subscription, which starts the informer', ({ informer }) => informer.changes$.subscribe()],
    ['a stop', ({ informer }) => informer.stop()],
  ])('I65: causes no warning after %s', async (_name, act) => {
    const all = rig();
    addEventHandler(all.informer, {});
    await all.time.advance(9_999);
    act(all);
    await all.time.advance(60_000);
    expect(all.warnings).toEqual([]);
    await all.informer.stop();
    expect(all.time.pending).toBe(0);
  });

  it('I65: causes no warning once the last handler was removed', async () => {
    const { time, informer, warnings } = rig();
    const handlers = [addEventHandler(informer, {}), addEventHandler(informer, {})];
    for (const handler of handlers) {
      expect(time.pending).toBe(1);
      void handler.remove();
    }
    expect(time.pending).toBe(0);
    void addEventHandler(informer, {}).remove();
    await time.advance(60_000);
    expect([warnings, time.pending]).toEqual([[], 0]);
  });

  it('I65: causes no warning if the handler was added while the informer runs or is stopped', async () => {
    const { time, informer, warnings } = rig();
    informer.start();
    addEventHandler(informer, {});
    await time.advance(60_000);
    await informer.stop();
    addEventHandler(informer, {});
    await time.advance(60_000);
    expect([warnings, time.pending]).toEqual([[], 0]);
  });

  it('I65: causes a warning again after the informer ran and went idle', async () => {
    const { time, informer, warnings } = rig({ lingerMs: 0 });
    addEventHandler(informer, {});
    await time.advance(10_000);
    informer.changes$.subscribe().unsubscribe();
    await time.advance(60_000);
    expect(warnings).toHaveLength(1);
    addEventHandler(informer, {});
    await time.advance(10_000);
    expect(warnings).toHaveLength(2);
  });

  it('I65: the timer keeps no Node process running', async () => {
    const code = `
      import { addEventHandler, createSharedInformer } from 'rx-informer';
      const fail = () => { throw new Error('not requested') };
      addEventHandler(createSharedInformer({ list: fail, watch: fail }), {});
      process.on('exit', () => console.log('ended'));
    `;
    const options = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const script = [...options, '--input-type=module', '-e', code];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, script);
    // A process that the timer kept running would have printed its warning.
    expect([stdout, stderr]).toEqual(['ended\n', '']);
  });

  it('I65: the warning is printed on the console if there is no onWarning', async () => {
    vi.useFakeTimers();
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => {
      vi.useRealTimers();
      printed.mockRestore();
    });
    addEventHandler(createSharedInformer(scriptedListWatch()), {});
    await vi.advanceTimersByTimeAsync(10_000);
    expect(printed.mock.calls).toEqual([
      [expect.stringMatching(/^informer: handler 1 was added 10 s ago and is not called/)],
    ]);
  });
});
