import { marbles } from 'rx-informer/testing';
import { config, NEVER, Observable, Subject, throwError } from 'rxjs';
import { take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { Drain, inDrain } from '../../lib/rx/drain.ts';
import { type MachineEffect, machine } from '../../lib/rx/machine.ts';
import { allReported } from '../support/errors.ts';

/** Runs `act` and returns the errors that were reported as unhandled. */
async function reported(act: () => void): Promise<string[]> {
  const errors: string[] = [];
  config.onUnhandledError = (error) => errors.push(String(error));
  act();
  await allReported();
  config.onUnhandledError = null;
  return errors;
}

describe('a drain', () => {
  it('I2: processes each value of a stream completely before the next, and the completion last', () => {
    const source = new Subject<number>();
    const log: string[] = [];
    source.pipe(inDrain(new Drain())).subscribe({
      next: (value) => {
        log.push(`begin ${value}`);
        if (value === 1) source.next(2);
        if (value === 2) source.complete();
        log.push(`end ${value}`);
      },
      complete: () => log.push('|'),
    });
    source.next(1);
    expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', '|']);
  });
});

type Effect = MachineEffect<string, string>;
/** A machine whose state is its log, with one rule per input. */
function run(start: Effect[], rules: Record<string, Effect[]>): Observable<string> {
  return machine<string, string, Effect, string>({
    start: () => ['', start],
    next: (state, input) => [`${state}${input}`, rules[input] ?? []],
    perform: (effect) => effect,
  });
}
const slot = (source: Observable<string> | null, name = 's'): Effect => ({
  slot: name,
  run: source === null ? null : () => source,
});

describe('a machine', () => {
  it('cancels the source in a slot when the slot is filled or emptied', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold<string>('--a---a');
      const second = cold<string>('--b---b');
      const rules = { a: [{ emit: 'A' }, slot(second)], b: [{ emit: 'B' }, slot(null)] };
      expectObservable(run([slot(first)], rules), '^ 20ms !').toBe('--A-B');
      expectSubscriptions(first.subscriptions).toBe('^-!');
      expectSubscriptions(second.subscriptions).toBe('--^-!');
    });
  });

  it('does not touch other slots', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold<string>('--a');
      const other = cold<string>('----b');
      const rules = { a: [slot(NEVER)], b: [{ emit: 'B' }, { complete: true } as const] };
      expectObservable(run([slot(first), slot(other, 'o')], rules)).toBe('----(B|)');
      expectSubscriptions(other.subscriptions).toBe('^---!');
    });
  });

  it('does not recurse if a source emits while it is subscribed', () => {
    let depth = 0;
    let deepest = 0;
    let left = 20_000;
    const source = new Observable<string>((subscriber) => {
      deepest = Math.max(deepest, ++depth);
      subscriber.next(left-- > 0 ? 'again' : 'done');
      depth--;
    });
    const log: string[] = [];
    const rules = { again: [slot(source)], done: [{ emit: 'done' }] };
    run([slot(source)], rules).subscribe((value) => log.push(value));
    expect([deepest, log]).toEqual([1, ['done']]);
  });

  it('ignores emissions of a cancelled source', () => {
    const late = new Subject<string>();
    const log: string[] = [];
    const twice = new Observable<string>((subscriber) => {
      subscriber.next('swap');
      subscriber.next('late');
    });
    const rules = { swap: [slot(late)], late: [{ emit: 'late' }], ok: [{ emit: 'ok' }] };
    run([slot(twice)], rules).subscribe((value) => log.push(value));
    late.next('ok');
    expect(log).toEqual(['ok']);
  });

  it('calls onEnter before the effects of a step and onSettled after them', () => {
    const log: string[] = [];
    const input = new Subject<string>();
    machine<string, string, Effect, string>({
      start: () => ['0', [slot(input)]],
      next: (_state, value) => [value, [{ emit: value }, { act: () => void log.push('act') }]],
      perform: (effect) => effect,
      onEnter: (state) => log.push(`enter ${state}`),
      onSettled: (state) => log.push(`settled ${state}`),
    }).subscribe((value) => log.push(`emit ${value}`));
    input.next('1');
    expect(log).toEqual(['enter 0', 'settled 0', 'enter 1', 'emit 1', 'act', 'settled 1']);
  });

  it('does not perform the remaining effects if an emission unsubscribes', () => {
    const log: string[] = [];
    const act = { act: () => void log.push('act') };
    machine<string, string, Effect, string>({
      start: () => ['', [{ emit: 'a' }, act]],
      next: (state) => [state, []],
      perform: (effect) => effect,
      onSettled: () => log.push('settled'),
    })
      .pipe(take(1))
      .subscribe((value) => log.push(value));
    expect(log).toEqual(['a']);
  });

  it('an error of a source is an error of the run', () => {
    const log: unknown[] = [];
    run([slot(throwError(() => 'oops'))], {}).subscribe({ error: (error) => log.push(error) });
    expect(log).toEqual(['oops']);
  });

  it('I70: reports an error of a source that is cancelled, fills its slot, and empties the others', async () => {
    let open = 0;
    const throwing = new Observable<string>((subscriber) => {
      open++;
      subscriber.next('a');
      return () => {
        open--;
        throw new Error('teardown');
      };
    });
    const other = new Observable<string>(() => {
      open++;
      return () => open--;
    });
    const log: string[] = [];
    const rules: Record<string, Effect[]> = {
      a: [slot(other), slot(throwing, 'x'), slot(other, 'y'), { emit: 'A' }],
      aa: [],
    };
    const errors = await reported(() => {
      const running = machine<string, string, Effect, string>({
        start: () => ['', [slot(throwing)]],
        next: (state, input) => [`${state}${input}`, rules[`${state}${input}`] ?? []],
        perform: (effect) => effect,
      }).subscribe((value) => log.push(value));
      running.unsubscribe();
    });
    expect([log, open, errors.length]).toEqual([['A'], 0, 2]);
  });

  it('each subscription is a separate run with its own slots', () => {
    const source = new Subject<string>();
    const output = run([slot(source)], { a: [{ emit: 'A' }] });
    const log: string[] = [];
    const one = output.subscribe((value) => log.push(`1${value}`));
    const two = output.subscribe((value) => log.push(`2${value}`));
    source.next('a');
    one.unsubscribe();
    source.next('a');
    two.unsubscribe();
    expect(log).toEqual(['1A', '2A', '2A']);
    expect(source.observed).toBe(false);
  });
});
