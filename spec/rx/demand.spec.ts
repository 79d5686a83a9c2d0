/** Demands: how stages ask before they read, and the ready-made ones `atMostEvery`, `animationFrames` and `whenDrained`. */

import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import {
  allOf,
  animationFrames,
  atMostEvery,
  type ChangeSet,
  conflateByKey,
  type Demand,
  timeSlice,
  unlimited,
  whenDrained,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { EMPTY, of, Subject, throwError, timer } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { reliable, untilOpen } from '../../lib/rx/demand.ts';
import { type Pod, pod } from '../delta/pods.ts';
import { eventually } from '../support/patience.ts';
import { VirtualTime } from './virtual-time.ts';

describe('a combined demand', () => {
  it('X8: is open when all parts are open', () => {
    expect(allOf()()).toBeNull();
    expect(allOf(unlimited, unlimited)()).toBeNull();
    expect(allOf(unlimited, () => of(0))()).not.toBeNull();
  });

  it('X8: signals when a part signals, and asks all parts again, in order', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    const closed = { first: true, second: true };
    const demand = allOf(
      () => (closed.first ? first : null),
      () => (closed.second ? second : null),
    );
    const received: unknown[] = [];
    const wait = () =>
      demand()?.subscribe({
        next: () => received.push('signal'),
        complete: () => received.push('|'),
      });
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    closed.first = false;
    first.next();
    expect([first.observed, received.splice(0)]).toEqual([false, ['signal', '|']]);
    wait();
    expect([first.observed, second.observed]).toEqual([false, true]);
    closed.first = true;
    closed.second = false;
    second.next();
    expect(received.splice(0)).toEqual(['signal', '|']);
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    closed.first = false;
    first.next();
    expect(demand()).toBeNull();
  });

  it('X8: keeps the signal of a part that only knows signals until the other parts are open', () => {
    const time = new VirtualTime();
    let full = true;
    const drained = new Subject<void>();
    const demand = allOf(
      () => timer(200, time),
      () => (full ? drained : null),
    );
    demand()?.subscribe();
    time.elapse(200);
    demand()?.subscribe();
    expect(drained.observed).toBe(true);
    full = false;
    drained.next();
    expect(demand()).toBeNull();
    expect(demand()).not.toBeNull();
  });

  it('X8: treats a completion as capacity', () => {
    const received: unknown[] = [];
    const demand = allOf(
      () => EMPTY,
      () => EMPTY,
    );
    demand()?.subscribe((value) => received.push(value));
    expect(received.length).toBe(1);
  });

  it('X8: unsubscribes from its parts when it is unsubscribed', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    const demand = allOf(
      () => first,
      () => second,
    );
    demand()?.subscribe().unsubscribe();
    demand()?.subscribe();
    first.next();
    demand()?.subscribe().unsubscribe();
    expect([first.observed, second.observed]).toEqual([false, false]);
  });

  it('X8: does not ask the parts behind a closed one', () => {
    const behind = vi.fn<Demand>(() => null);
    allOf(() => of(0), behind)();
    expect(behind).not.toHaveBeenCalled();
  });
});

/** Counts the steps of a consumer that always has work, in 1000 ms of virtual time. */
function steps(demandOf: (time: VirtualTime) => Demand) {
  const time = new VirtualTime();
  const source = new Subject<ChangeSet<Pod>>();
  let asked = 0;
  const demand = demandOf(time);
  const delivered: number[] = [];
  const ready = () => {
    asked++;
    return demand();
  };
  const subscription = source
    .pipe(conflateByKey({ ready }))
    .subscribe(() => delivered.push(time.now()));
  for (let ms = 0; ms < 1_000; ms += 10) {
    source.next(changeSet({ added: [pod(`p${ms}`, 1)] }));
    time.elapse(10);
  }
  subscription.unsubscribe();
  return { delivered, asked, pending: time.pending };
}

describe('a demand', () => {
  it('X8: is asked again after its signal, and stays closed while it returns another Observable', () => {
    let isOpen = true;
    const signal = new Subject<void>();
    const source = new Subject<ChangeSet<Pod>>();
    const seen: number[] = [];
    source
      .pipe(conflateByKey({ ready: () => (isOpen ? null : signal) }))
      .subscribe(({ changes }) => seen.push(changes.length));
    const send = (name: string) => source.next(changeSet({ added: [pod(name, 1)] }));
    const reopen = () => {
      isOpen = true;
      signal.next();
      isOpen = false;
    };
    send('a');
    isOpen = false;
    send('b');
    reopen();
    send('c');
    for (let times = 0; times < 3; times++) signal.next();
    send('d');
    expect(seen).toEqual([1, 1]);
    reopen();
    expect(seen).toEqual([1, 1, 2]);
  });

  it('X8: a demand that counts its answers is served exactly as often as it says', () => {
    const counting = (time: VirtualTime): Demand => {
      let last = Number.NEGATIVE_INFINITY;
      return () => {
        const left = last + 200 - time.now();
        if (left > 0) return timer(left, time);
        last = time.now();
        return null;
      };
    };
    expect(steps(counting).delivered).toEqual([0, 200, 400, 600, 800, 1_000]);
    expect(steps((time) => allOf(counting(time))).delivered).toEqual([
      0, 200, 400, 600, 800, 1_000,
    ]);
    expect(steps((time) => allOf(allOf(unlimited), counting(time))).delivered).toEqual([
      0, 200, 400, 600, 800, 1_000,
    ]);
  });

  it('X8: a demand that always returns an Observable is served once per signal', () => {
    const paced = steps((time) => () => timer(200, time));
    expect(paced).toEqual({ delivered: [200, 400, 600, 800, 1000], asked: 10, pending: 0 });
    expect(steps((time) => allOf(() => timer(200, time))).delivered).toEqual(paced.delivered);
    let first = true;
    const thenPaced = (time: VirtualTime) => () => {
      if (!first) return timer(300, time);
      first = false;
      return null;
    };
    expect(steps(thenPaced).delivered).toEqual([0, 310, 610, 910]);
  });

  it('X8: a signal within `subscribe` counts as `null`, so nothing spins', () => {
    let times = 0;
    expect(steps(() => () => of(0)).delivered).toHaveLength(100);
    // It has shown that it can return `null` after a signal.
    const mixed = steps(
      (time) => () => (times++ === 1 ? null : times === 1 ? timer(5, time) : of(0)),
    );
    expect(mixed.delivered).toHaveLength(100);
  });

  it('X8: a transport and a watch that waits also ask again', async () => {
    const door = new Subject<void>();
    const answers = [door, null, door, door, null];
    const opened: number[] = [];
    const capacity = untilOpen(() => answers.shift() ?? null);
    capacity()?.subscribe({ complete: () => opened.push(answers.length) });
    door.next();
    capacity()?.subscribe({ complete: () => opened.push(answers.length) });
    door.next();
    door.next();
    expect(opened).toEqual([3, 0]);
    const failing = untilOpen(() => {
      if (opened.length < 3) return door;
      throw new Error('boom');
    });
    let failure: unknown;
    failing()?.subscribe({ error: (error) => (failure = error) });
    opened.push(0);
    door.next();
    expect(failure).toEqual(new Error('boom'));
  });

  it('R22: a demand that throws or errors is reported and counts as open', () => {
    const reported: unknown[] = [];
    let asked = 0;
    const broken = () => {
      asked++;
      if (asked % 2 === 0) throw 'thrown';
      return throwError(() => 'errored');
    };
    const capacity = untilOpen(reliable(broken, (error) => reported.push(error)));
    let opened = 0;
    for (let times = 0; times < 4; times++) {
      const wait = capacity();
      if (wait === null) opened++;
      else wait.subscribe({ complete: () => opened++ });
    }
    expect([opened, asked, reported]).toEqual([4, 4, ['errored', 'thrown', 'errored', 'thrown']]);
  });
});

describe('a time slice', () => {
  const sliced = () => {
    const time = new VirtualTime();
    return { time, demand: timeSlice({ budgetMs: 8, scheduler: time }) };
  };

  it('X8, X23: is open for its budget, yields for one turn, then starts a new slice', async () => {
    const { time, demand } = sliced();
    const asked: boolean[] = [];
    for (let ms = 0; ms < 20; ms++) {
      asked.push(demand() === null);
      time.jump(1);
    }
    // 8 ms of work, one turn, and 8 ms again from the first call after it.
    expect(asked.map((wait, at) => (wait ? -1 : at)).filter((at) => at >= 0)).toEqual([8, 17]);
  });

  it('X8: also yields after one long piece of work', () => {
    const { time, demand } = sliced();
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
    time.jump(500);
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
  });

  it('X8: treats a clock that is set back as a new slice', () => {
    const { time, demand } = sliced();
    time.jump(100);
    expect(demand()).toBeNull();
    time.jump(-50);
    expect(demand()).toBeNull();
  });

  it('X8: yields for one action of the scheduler', async () => {
    const { time, demand } = sliced();
    demand();
    time.jump(8);
    const received: string[] = [];
    demand()?.subscribe({
      next: () => received.push('capacity'),
      complete: () => received.push('|'),
    });
    expect([received, time.pending]).toEqual([[], 1]);
    await time.advance(0);
    expect([received, time.pending]).toEqual([['capacity', '|'], 0]);
    time.jump(8);
    demand();
    time.jump(8);
    demand()?.subscribe().unsubscribe();
    expect(time.pending).toBe(0);
  });
});

/** A consumer of change sets behind a demand, and the times at which it was served. */
function consumer(ready: Demand, time: VirtualTime) {
  const source = new Subject<ChangeSet<Pod>>();
  const served: number[] = [];
  const subscription = source
    .pipe(conflateByKey({ ready }))
    .subscribe(() => served.push(time.now()));
  let sent = 0;
  const send = () => source.next(changeSet({ added: [pod(`p${sent++}`, 1)] }));
  return { send, served, subscription };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('atMostEvery', () => {
  it('X23: serves at most once a period, immediately after an idle one', () => {
    const time = new VirtualTime();
    const { send, served, subscription } = consumer(atMostEvery(200, { scheduler: time }), time);
    for (let ms = 0; ms < 1_000; ms += 10) {
      send();
      time.elapse(10);
    }
    expect(served.splice(0)).toEqual([0, 200, 400, 600, 800, 1_000]);
    time.elapse(550);
    expect([served.splice(0), time.pending]).toEqual([[], 0]);
    send();
    send();
    time.elapse(1_000);
    expect(served).toEqual([1_550, 1_750]);
    send();
    send();
    subscription.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('X23: a timer that fires early costs no second delivery', () => {
    const time = new VirtualTime();
    const early = Object.assign(Object.create(time) as VirtualTime, {
      schedule: ((work: never, delay = 0, state?: never) =>
        time.schedule(work, Math.max(0, delay - 1), state)) as VirtualTime['schedule'],
    });
    const { send, served } = consumer(atMostEvery(200, { scheduler: early }), time);
    for (let ms = 0; ms < 600; ms += 10) {
      send();
      time.elapse(10);
    }
    expect(served).toEqual([0, 199, 398, 597]);
  });

  it('X23: throws a TypeError on an invalid period; an infinite one opens once', () => {
    for (const periodMs of [-1, Number.NaN, '5' as never]) {
      expect(() => atMostEvery(periodMs)).toThrow(
        /^atMostEvery: periodMs is (-1|NaN|"5"); it must be 0 or more milliseconds$/,
      );
    }
    const time = new VirtualTime();
    const { send, served } = consumer(
      atMostEvery(Number.POSITIVE_INFINITY, { scheduler: time }),
      time,
    );
    for (let times = 0; times < 3; times++) send();
    time.elapse(2 ** 40);
    expect([served, time.pending]).toEqual([[0], 0]);
  });
});

describe('animationFrames', () => {
  it('X23: serves once a frame, in the frame', async () => {
    const frames: (() => void)[] = [];
    const cancelled: number[] = [];
    vi.stubGlobal('requestAnimationFrame', (call: () => void) => frames.push(call));
    vi.stubGlobal('cancelAnimationFrame', (handle: number) => cancelled.push(handle));
    const { send, served, subscription } = consumer(animationFrames(), new VirtualTime());
    for (let times = 0; times < 3; times++) send();
    expect([frames.length, served.length]).toEqual([1, 0]);
    frames[0]?.();
    send();
    send();
    expect([frames.length, served.length]).toEqual([2, 1]);
    subscription.unsubscribe();
    frames[1]?.();
    expect([served.length, cancelled.includes(2)]).toEqual([1, true]);
  });

  it('X23: serves without frames, as in a hidden tab and in Node', async () => {
    const { send, served, subscription } = consumer(animationFrames(), new VirtualTime());
    send();
    await eventually(() => expect(served.length).toBe(1));
    vi.stubGlobal('requestAnimationFrame', () => 1);
    vi.stubGlobal('cancelAnimationFrame', () => undefined);
    send();
    await eventually(() => expect(served.length).toBe(2));
    subscription.unsubscribe();
  });

  it('X23: takes its frames from a scheduler', () => {
    const time = new VirtualTime();
    const { send, served } = consumer(animationFrames({ scheduler: time }), time);
    for (let ms = 0; ms < 100; ms += 2) {
      send();
      time.elapse(2);
    }
    expect(served).toEqual([16, 32, 48, 64, 80, 96]);
    time.elapse(1_000);
    expect(time.pending).toBe(0);
  });
});

describe('whenDrained', () => {
  it('X23: is open while a stream of Node accepts data', async () => {
    const writes: (() => void)[] = [];
    const stream = new Writable({
      highWaterMark: 2,
      write: (_chunk, _encoding, done) => void writes.push(done),
    });
    const capacity = untilOpen(whenDrained(stream));
    expect(capacity()).toBeNull();
    stream.write('abc');
    let opened = 0;
    capacity()?.subscribe({ complete: () => opened++ });
    capacity()?.subscribe().unsubscribe();
    expect([opened, stream.listenerCount('drain')]).toEqual([0, 1]);
    writes[0]?.();
    await eventually(() => expect(opened).toBe(1));
    expect([capacity(), stream.listenerCount('drain')]).toEqual([null, 0]);
  });

  it('X23: of several consumers of one stream, those wait on for which there is no capacity left', () => {
    const stream = Object.assign(new EventEmitter(), { writableNeedDrain: true });
    const served: string[] = [];
    for (const name of ['a', 'b']) {
      untilOpen(whenDrained(stream))()?.subscribe({
        complete: () => {
          served.push(name);
          stream.writableNeedDrain = true;
        },
      });
    }
    for (const name of ['a', 'b']) {
      stream.writableNeedDrain = false;
      stream.emit('drain');
      // The one that was served has filled the buffer again.
      expect(served.splice(0)).toEqual([name]);
    }
  });

  it('X23: is open while the writer of a web stream accepts data, and errors if the stream fails', async () => {
    const writes: (() => void)[] = [];
    const stream = new WritableStream({
      write: () => new Promise<void>((resolve) => void writes.push(resolve)),
    });
    const writer = stream.getWriter();
    const capacity = untilOpen(whenDrained(writer));
    await writer.ready;
    expect(capacity()).toBeNull();
    writer.write('a').catch(() => undefined);
    let opened = 0;
    capacity()?.subscribe({ complete: () => opened++ });
    await eventually(() => expect(writes.length).toBe(1));
    expect(opened).toBe(0);
    writes[0]?.();
    await eventually(() => expect(opened).toBe(1));
    const failed = new WritableStream({
      start: (controller) => controller.error(new Error('cut')),
    });
    let failure: unknown;
    whenDrained(failed.getWriter())()?.subscribe({ error: (error) => (failure = error) });
    await eventually(() => expect(failure).toEqual(new Error('cut')));
  });

  it('X23: asks a closed writer no more than once', async () => {
    const writer = new WritableStream().getWriter();
    await writer.close();
    const ready = whenDrained(writer);
    const { send, served } = consumer(ready, new VirtualTime());
    send();
    await eventually(() => expect(served.length).toBe(1));
    expect(ready()).toBeNull();
  });
});
