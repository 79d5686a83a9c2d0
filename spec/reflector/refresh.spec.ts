/** Lists that are asked for from outside. */
import { type ApiError, type ReflectOptions, type RefreshOrder, reflect } from 'rx-informer';
import { concat, NEVER, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { rig } from './rig.ts';
import { answer, brief, expired, opened, type Pod, script, whole } from './script.ts';

const open = concat(of(opened), NEVER);

function run(answers: Parameters<typeof script>[0], options: ReflectOptions<Pod> = {}) {
  const time = new VirtualTime();
  const scripted = script(answers);
  const refresh$ = new Subject<RefreshOrder>();
  const told: string[] = [];
  const subscription = reflect(scripted.listerWatcher, {
    scheduler: time,
    random: () => 0.5,
    refresh$,
    onRefreshed: (error?: ApiError) => told.push(`refreshed ${error?.code ?? 'well'}`),
    ...options,
  }).subscribe((deltas) => told.push(brief(deltas)));
  const order = (trustVersions = true) => refresh$.next({ trustVersions });
  return { time, told, order, refresh$, subscription, asked: scripted.asked };
}

describe('a list that is asked for from outside', () => {
  it('R25: says whether versions can be trusted, and one order that doubts them is enough', () => {
    const lists = [of(whole('5')), of(whole('6')), NEVER];
    const { told, order } = run({ lists, watches: [open] });
    order(false);
    expect(told).toEqual([')@5', ')@6!', 'refreshed well']);
    const waiting = run({ lists: [of(whole('5')), concat(NEVER)], watches: [open] });
    waiting.order();
    waiting.order(false);
    waiting.order();
    expect(waiting.asked).toEqual(['L0', 'W5', 'L']);
  });

  it('R25: doubts versions where one of the orders that a list answers does', async () => {
    const list = new Subject<ReturnType<typeof whole>>();
    const { told, order, time } = run({ lists: [of(whole('5')), list], watches: [open] });
    order();
    order(false);
    order();
    list.next(whole('6', ['a@6']));
    list.complete();
    await time.advance(0);
    expect(told).toEqual([')@5', '(a@6', ')@6!', 'refreshed well']);
  });

  it('R25: trusts versions again in the list after it', async () => {
    const { told, order, time } = run({ lists: [of(whole('5')), of(whole('6'))], watches: [open] });
    order(false);
    order();
    await time.advance(0);
    expect(told).toEqual([')@5', ')@6!', 'refreshed well', ')@6', 'refreshed well']);
  });

  it('R25, R9: is answered by the list that an expired version asks for', async () => {
    const watches = [throwError(() => answer(500)), throwError(() => expired), open];
    const { time, told, order, asked } = run({ lists: [of(whole('5')), of(whole('9'))], watches });
    order();
    await time.advance(5_000);
    expect(asked).toEqual(['L0', 'W5', 'W5', 'L', 'W9']);
    expect(told).toEqual([')@5', ')@9', 'refreshed well']);
  });

  it('R25: has failed when the reflector waits, and is not tried for ever', async () => {
    const lists = [of(whole('5')), throwError(() => answer(500)), of(whole('9'))];
    const { time, told, order, asked } = run({ lists, watches: [open] });
    order();
    await time.advance(60_000);
    expect(asked).toEqual(['L0', 'W5', 'L', 'L', 'W9']);
    expect(told).toEqual([')@5', 'x', 'refreshed 500', ')@9']);
  });

  it('R25, R16, R24: comes after a pause, when there is room', async () => {
    const door = new Subject<void>();
    const refresh$ = new Subject<RefreshOrder>();
    let room = true;
    const { time, touch, asked, status, told, ...paused } = rig({
      reflect: { refresh$, demand: () => (room ? null : door) },
    });
    await time.advance(1_000);
    room = false;
    for (let minute = 0; minute < 2; minute++) {
      touch('a');
      await time.advance(60_000);
    }
    expect(paused.statuses.at(-1)).toMatchObject({ phase: 'paused', live: false });
    refresh$.next({ trustVersions: true });
    expect(asked()).toBe('S');
    room = true;
    door.next();
    await time.advance(0);
    expect(asked()).toBe('S W3 S');
    expect(told.at(-1)).toBe('a@4)@4');
    paused.subscription.unsubscribe();
  });

  it('R25, R6: keeps to the pages that are due after three streams came to nothing', async () => {
    const time = new VirtualTime();
    const scripted = script(
      { lists: [of(whole('5'))], watches: [throwError(() => answer(500))] },
      { watchList: true },
    );
    const refresh$ = new Subject<RefreshOrder>();
    const subscription = reflect(scripted.listerWatcher, {
      ...{ scheduler: time, random: () => 0.5, refresh$ },
    }).subscribe();
    for (let second = 0; second < 3; second++) {
      await time.advance(100);
      refresh$.next({ trustVersions: true });
    }
    expect(scripted.asked.slice(0, 4)).toEqual(['S', 'S', 'S', 'L']);
    subscription.unsubscribe();
  });

  it('R25: orders that fail or end leave the run as it is', async () => {
    const { time, order, refresh$, asked, subscription } = run({
      lists: [of(whole('5')), of(whole('6'))],
      watches: [open],
    });
    order();
    refresh$.complete();
    await time.advance(1_000);
    expect([asked, subscription.closed]).toEqual([['L0', 'W5', 'L', 'W6'], false]);
  });
});
