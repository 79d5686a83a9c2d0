/** Refreshes: lists that are requested from outside the reflector. */
import { type ApiError, type ReflectOptions, type RefreshOrder, reflect } from 'rx-informer';
import { concat, NEVER, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { rig } from './rig.ts';
import { answer, brief, expired, listPart, opened, type Pod, script } from './script.ts';

const open = concat(of(opened), NEVER);

function run(answers: Parameters<typeof script>[0], options: ReflectOptions<Pod> = {}) {
  const time = new VirtualTime();
  const scripted = script(answers);
  const refresh$ = new Subject<RefreshOrder>();
  const emitted: string[] = [];
  const subscription = reflect(scripted.listerWatcher, {
    scheduler: time,
    random: () => 0.5,
    refresh$,
    onRefreshed: (error?: ApiError) => emitted.push(`refreshed ${error?.code ?? 'ok'}`),
    ...options,
  }).subscribe((deltas) => emitted.push(brief(deltas)));
  const order = (trustVersions = true) => refresh$.next({ trustVersions });
  return { time, emitted, order, refresh$, subscription, requested: scripted.requested };
}

describe('a refresh', () => {
  it('I81: the list of a refresh that does not trust versions does not trust them, and several refreshes share one list', () => {
    const lists = [of(listPart('5')), of(listPart('6')), NEVER];
    const { emitted, order } = run({ lists, watches: [open] });
    order(false);
    expect(emitted).toEqual([')@5', ')@6!', 'refreshed ok']);
    const waiting = run({ lists: [of(listPart('5')), concat(NEVER)], watches: [open] });
    waiting.order();
    waiting.order(false);
    waiting.order();
    expect(waiting.requested).toEqual(['L0', 'W5', 'L']);
  });

  it('I81: a list does not trust versions if one of the refreshes that it serves does not', async () => {
    const list = new Subject<ReturnType<typeof listPart>>();
    const { emitted, order, time } = run({ lists: [of(listPart('5')), list], watches: [open] });
    order();
    order(false);
    order();
    list.next(listPart('6', ['a@6']));
    list.complete();
    await time.advance(0);
    expect(emitted).toEqual([')@5', '(a@6', ')@6!', 'refreshed ok']);
  });

  it('I81: the list of the next refresh trusts versions again', async () => {
    const { emitted, order, time } = run({
      lists: [of(listPart('5')), of(listPart('6'))],
      watches: [open],
    });
    order(false);
    order();
    await time.advance(0);
    expect(emitted).toEqual([')@5', ')@6!', 'refreshed ok', ')@6', 'refreshed ok']);
  });

  it('I81, R9: the list after an expired version serves the refresh', async () => {
    const watches = [throwError(() => answer(500)), throwError(() => expired), open];
    const { time, emitted, order, requested } = run({
      lists: [of(listPart('5')), of(listPart('9'))],
      watches,
    });
    order();
    await time.advance(5_000);
    expect(requested).toEqual(['L0', 'W5', 'W5', 'L', 'W9']);
    expect(emitted).toEqual([')@5', ')@9', 'refreshed ok']);
  });

  it('I81: a refresh has failed when the reflector begins to wait, and is not reported again', async () => {
    const lists = [of(listPart('5')), throwError(() => answer(500)), of(listPart('9'))];
    const { time, emitted, order, requested } = run({ lists, watches: [open] });
    order();
    await time.advance(60_000);
    expect(requested).toEqual(['L0', 'W5', 'L', 'L', 'W9']);
    expect(emitted).toEqual([')@5', 'x', 'refreshed 500', ')@9']);
  });

  it('I81, R16, I80: a refresh during a pause is sent when the demand opens', async () => {
    const door = new Subject<void>();
    const refresh$ = new Subject<RefreshOrder>();
    let room = true;
    const { time, touch, requested, status, emitted, ...paused } = rig({
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
    expect(requested()).toBe('S');
    room = true;
    door.next();
    await time.advance(0);
    expect(requested()).toBe('S W3 S');
    expect(emitted.at(-1)).toBe('a@4)@4');
    paused.subscription.unsubscribe();
  });

  it('I81, R6: a refresh sends the LIST in pages that is due after three failed streaming lists', async () => {
    const time = new VirtualTime();
    const scripted = script(
      { lists: [of(listPart('5'))], watches: [throwError(() => answer(500))] },
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
    expect(scripted.requested.slice(0, 4)).toEqual(['S', 'S', 'S', 'L']);
    subscription.unsubscribe();
  });

  it('I81: the run continues after `refresh$` has completed', async () => {
    const { time, order, refresh$, requested, subscription } = run({
      lists: [of(listPart('5')), of(listPart('6'))],
      watches: [open],
    });
    order();
    refresh$.complete();
    await time.advance(1_000);
    expect([requested, subscription.closed]).toEqual([['L0', 'W5', 'L', 'W6'], false]);
  });
});
