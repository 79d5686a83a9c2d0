/** The ready-made demands: `atMostEvery`, `animationFrames` and `whenDrained`. */
import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import {
  animationFrames,
  atMostEvery,
  type ChangeSet,
  conflateByKey,
  type Demand,
  whenDrained,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { untilOpen } from '../../lib/rx/demand.ts';
import { type Pod, pod } from '../delta/pods.ts';
import { eventually } from '../support/patience.ts';
import { VirtualTime } from './virtual-time.ts';

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
