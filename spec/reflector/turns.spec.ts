/** Requests that the client ends although nothing has failed, and tries that a change of the network makes earlier. */
import { ApiError, type ReflectorStatus, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, NEVER, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answer, brief, events, listPart, opened, script } from './script.ts';

const half = { random: () => 0.5 };
const yielded = ApiError.local('Yielded', 'others have their turn');
const queued = { kind: 'queued', reason: 'it is the turn of others' } as const;
const sending = { kind: 'sending' } as const;

describe('a request that yields', () => {
  it('R28: a watch resumes at its last version, without a wait, an error or a count', () => {
    marbles(({ cold, scheduler, flush }) => {
      const values = { o: opened, q: queued, s: sending, e: events('~a@5') };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('oe 8ms #', values, yielded), cold('q 99ms s-o', values)],
      });
      const statuses: ReflectorStatus[] = [];
      const errors: ApiError[] = [];
      const run = reflect(scripted.listerWatcher, {
        ...{ scheduler, ...half },
        onStatus: (status) => void statuses.push(status),
        onError: (error) => {
          errors.push(error);
          return 'stop';
        },
      }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 1_000);
      flush();
      expect(
        statuses.map(({ phase, waitingFor, staleSinceMs }) => [phase, waitingFor, staleSinceMs]),
      ).toEqual([
        ['listing', undefined, 0],
        ['connecting', undefined, 0],
        ['watching', undefined, undefined],
        ['queued', undefined, 10],
        ['queued', 'it is the turn of others', 10],
        ['connecting', undefined, 10],
        ['watching', undefined, undefined],
      ]);
      expect(scripted.requested).toEqual(['L0', 'W1', 'W5']);
      expect(statuses.at(-1)).toMatchObject({ attempt: 0, reconnects: 0, relists: 0 });
      expect(errors).toEqual([]);
    });
  });

  it('R28: a list begins again', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({
        lists: [cold('-#', undefined, yielded), of(listPart('7'))],
        watches: [concat(of(opened), NEVER)],
      });
      const emitted: string[] = [];
      const statuses: ReflectorStatus[] = [];
      const run = reflect(scripted.listerWatcher, {
        ...{ scheduler, ...half },
        onStatus: (status) => void statuses.push(status),
      }).subscribe((deltas) => emitted.push(brief(deltas)));
      scheduler.schedule(() => run.unsubscribe(), 100);
      flush();
      expect(statuses.map(({ phase }) => phase)).toEqual(['listing', 'connecting', 'watching']);
      expect(scripted.requested).toEqual(['L0', 'L0', 'W7']);
      expect(statuses.at(-1)).toMatchObject({ attempt: 0, relists: 0 });
    });
  });

  it('R15, R28, R32: a wait for a turn is not a silence of the server', () => {
    marbles(({ cold, scheduler, flush }) => {
      const values = { q: queued, s: sending, o: opened };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('q 30m s-o', values)],
      });
      const statuses: ReflectorStatus[] = [];
      const onStatus = (status: ReflectorStatus) => void statuses.push(status);
      const run = reflect(scripted.listerWatcher, { scheduler, ...half, onStatus }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 31 * 60_000);
      flush();
      expect(statuses.map(({ phase, error }) => [phase, error])).toEqual(
        ['listing', 'connecting', 'queued', 'connecting', 'watching', 'watching'].map((each) => [
          each,
          undefined,
        ]),
      );
    });
  });
});

describe('a network that may have changed', () => {
  it('R29: a wait before a retry ends, but not before Retry-After', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const busy = ApiError.fromStatus({ code: 429, message: 'wait' }, 429, { retryAfterMs: 500 });
      const scripted = script({
        lists: [cold('#', undefined, answer(500)), cold('#', undefined, busy), of(listPart('1'))],
        watches: [concat(of(opened), NEVER)],
      });
      const seen: [number, string][] = [];
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half, backoff: () => 60_000 },
        onStatus: ({ phase }) => void seen.push([scheduler.now(), phase]),
      }).subscribe();
      for (const atMs of [100, 200, 300]) scheduler.schedule(() => awake$.next(), atMs);
      scheduler.schedule(() => run.unsubscribe(), 2_000);
      flush();
      expect(seen.filter(([, phase]) => phase === 'listing').map(([atMs]) => atMs)).toEqual([
        ...[0, 100, 600],
      ]);
      expect(seen.at(-1)).toEqual([600, 'watching']);
    });
  });

  it('R29, I71: what was emitted is stale since the server was last heard, not since the network changed', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [
          cold('o 9999ms a', { o: opened, a: { kind: 'alive' } }),
          cold('9ms o', { o: opened }),
        ],
      });
      const seen: unknown[] = [];
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half },
        onStatus: ({ phase, live, staleSinceMs }) => seen.push([phase, live, staleSinceMs]),
      }).subscribe();
      scheduler.schedule(() => awake$.next(), 50_000);
      scheduler.schedule(() => run.unsubscribe(), 60_000);
      flush();
      expect(seen.slice(-4)).toEqual([
        ['watching', true, undefined],
        ['connecting', false, 10_000],
        ['watching', false, 10_000],
        ['watching', true, undefined],
      ]);
    });
  });

  it('R29: an open watch is requested again, but not one that waits or is new', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const values = { o: opened, q: queued };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('o', values), cold('q', values)],
      });
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half },
      }).subscribe();
      for (const atMs of [500, 5_000, 50_000]) scheduler.schedule(() => awake$.next(), atMs);
      scheduler.schedule(() => run.unsubscribe(), 60_000);
      flush();
      expect(scripted.requested).toEqual(['L0', 'W1', 'W1']);
    });
  });
});
