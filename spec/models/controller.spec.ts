/**
 * Model test of a controller: changes, starts, stops, and leads won and lost, in any order, also from within a reconcile and from
 * listeners of outcomes and status. No key has two runs at the same time, nothing runs without the lead, and nothing is lost.
 */

import {
  createController,
  type LeaderElector,
  type ReconcileObject,
  type ReconcileResult,
} from 'rx-informer';
import { BehaviorSubject, type Observable, timer } from 'rxjs';
import { finalize, map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { Clock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import { modified, type Pod, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
/** Longer than the runs that may follow each other without a turn of the event loop. */
const BUSY_MS = 9;
/** Longer than any run, so that every run is waited for. */
const DRAIN_MS = 50;

const aRun = fc.record({
  ms: fc.integer({ min: 0, max: 8 }),
  how: fc.constantFrom('sync', 'busy', 'busy', 'promise', 'deaf promise', 'observable'),
  answer: fc.constantFrom('ok', 'ok', 'ok', 'fail', 'requeue'),
});
const aStep = fc.record({
  waitMs: fc.integer({ min: 0, max: 6 }),
  what: fc.constantFrom('touch', 'touch', 'touch', 'lead', 'lose', 'start', 'stop', 'stop start'),
  name: fc.constantFrom(...NAMES),
  from: fc.constantFrom('outside', 'outside', 'a reconcile', 'an outcome', 'a status'),
});
type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never;
const aStory = fc.record({
  elected: fc.boolean(),
  concurrency: fc.integer({ min: 1, max: 3 }),
  steps: fc.array(aStep, { maxLength: 30 }),
  runs: fc.array(aRun, { maxLength: 60 }),
});
type Story = typeof aStory extends fc.Arbitrary<infer S> ? S : never;

interface Run {
  readonly key: string;
  readonly signal: AbortSignal;
}

function staged({ elected, concurrency, runs }: Story) {
  const scheduler = new VirtualTime();
  const clock = new Clock(scheduler);
  /** The busy runs since the event loop has turned. */
  let inARow = 0;
  const { source, informer } = scriptedInformer({ scheduler });
  source.listed(1, ...NAMES.map((name) => pod(name, 1)));
  informer.start();
  const leading$ = new BehaviorSubject(true);
  const script = [...runs];
  const wrong: string[] = [];
  const inHand = new Set<Run>();
  const asked = new Map(NAMES.map((name) => [`shop/${name}`, 0]));
  const done = new Map<string, number>();
  const waiting: Step[] = [];
  let tick = 1;
  let version = 1;
  let on = false;
  let stops = 0;

  const stop = () => {
    stops += 1;
    const mine = stops;
    void controller.stop({ drainMs: DRAIN_MS }).then(() => {
      if (on || mine < stops || inHand.size === 0) return;
      wrong.push(`stopped, and ${[...inHand].map(({ key }) => key)} still running`);
    });
  };
  const act = ({ what, name }: Step): void => {
    tick += 1;
    if (what === 'touch') {
      version += 1;
      asked.set(`shop/${name}`, tick);
      source.send(modified(pod(name, version)));
    } else if (what === 'lead') leading$.next(true);
    else if (what === 'lose') {
      leading$.next(false);
      // The lead may have been regained already, by a callback that was notified of the loss.
      if (!elected || leading$.value) return;
      for (const { key, signal } of inHand) {
        if (!signal.aborted) wrong.push(`${key} still runs without the lead`);
      }
    } else {
      for (const word of what.split(' ')) {
        on = word === 'start';
        if (on) controller.start();
        else stop();
      }
    }
  };
  const actFrom = (place: Step['from']) => {
    const at = waiting.findIndex(({ from }) => from === place);
    if (at >= 0) act(waiting.splice(at, 1)[0] as Step);
  };
  const reconcile: ReconcileObject<Pod> = (key, { signal, object }) => {
    const { ms, how, answer } = script.shift() ?? { ms: 0, how: 'sync', answer: 'ok' };
    if ([...inHand].some((run) => run.key === key)) wrong.push(`${key} has two runs`);
    if (elected && !leading$.value) wrong.push(`${key} begins without the lead`);
    const run: Run = { key, signal };
    inHand.add(run);
    tick += 1;
    const begun = object?.metadata.resourceVersion === undefined ? 0 : tick;
    actFrom('a reconcile');
    const finish = (): ReconcileResult => {
      if (answer === 'fail') throw new Error('scripted');
      done.set(key, begun);
      return answer === 'requeue' ? { requeueAfterMs: 3 } : undefined;
    };
    const later$: Observable<ReconcileResult> = timer(ms, scheduler).pipe(
      map(finish),
      finalize(() => inHand.delete(run)),
    );
    if (how === 'observable') {
      if (signal.aborted) inHand.delete(run);
      return later$;
    }
    if (how === 'busy') {
      // It keeps the thread.
      clock.set(BUSY_MS);
      if (inARow++ === 0) scheduler.schedule(() => (inARow = 0));
      if (inARow > 2) wrong.push(`${key}: ${inARow} busy runs keep timers waiting`);
    }
    if (how === 'sync' || how === 'busy') {
      inHand.delete(run);
      return finish();
    }
    return new Promise<ReconcileResult>((resolve, reject) => {
      const working = later$.subscribe({ next: resolve, error: reject });
      if (how === 'deaf promise') return;
      const abort = () => {
        working.unsubscribe();
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
    });
  };
  const controller = createController<Pod>({
    name: 'model',
    for: informer,
    scheduler: clock,
    concurrency,
    reconcile,
    ...(elected ? { leaderElection: { leading$ } as unknown as LeaderElector } : {}),
  });
  const listen = () => {
    controller.outcomes$.subscribe({ next: () => actFrom('an outcome'), complete: listen });
    controller.status$.subscribe(() => actFrom('a status'));
  };
  listen();
  return {
    scheduler,
    informer,
    controller,
    leading$,
    wrong,
    inHand,
    asked,
    done,
    act,
    waiting,
    isOn: () => on,
  };
}

describe('a controller', () => {
  it('N2, N8, N19, N21: in any order of calls loses no key, runs none twice at the same time, and ends', async () => {
    let reconciled = 0;
    await fc.assert(
      fc.asyncProperty(aStory, async (story) => {
        const stage = staged(story);
        const { scheduler, controller, leading$, wrong, inHand, asked, done, act, waiting } = stage;
        act({ what: 'start' } as Step);
        for (const step of story.steps) {
          await scheduler.advance(step.waitMs);
          if (step.from === 'outside') act(step);
          else waiting.push(step);
        }
        waiting.length = 0;
        const off = !stage.isOn();
        await scheduler.advance(1e7);
        if (off) expect([inHand.size, controller.status.phase]).toEqual([0, 'stopped']);
        leading$.next(true);
        controller.start();
        await scheduler.advance(1e7);
        expect(wrong).toEqual([]);
        expect([controller.status.phase, controller.working, inHand.size]).toEqual([
          'running',
          [],
          0,
        ]);
        for (const [key, at] of asked) expect(done.get(key) ?? 0).toBeGreaterThan(at);
        reconciled += done.size;
        const stopped = controller.stop();
        await scheduler.advance(0);
        await stopped;
        await stage.informer.stop();
        expect([scheduler.pending, leading$.observed]).toEqual([0, false]);
      }),
      { numRuns: 80, endOnFailure: true },
    );
    expect(reconciled).toBeGreaterThan(150);
  });
});
