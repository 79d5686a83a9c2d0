/** Spans of reconciles, with a tracer that implements the types of OpenTelemetry and records its calls. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Context, Exception, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import {
  createController,
  type ReconcileObject,
  type ReconcileRequest,
  TerminalError,
  type TracedOptions,
  traced,
} from 'rx-informer';
import { config, NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';
import { type Pod, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

class RecordedSpan implements Span {
  readonly attributes: Attributes = {};
  readonly exceptions: Exception[] = [];
  status: unknown;
  ends = 0;
  readonly name: string;
  readonly parent: RecordedSpan | undefined;

  constructor(name: string, parent: RecordedSpan | undefined) {
    this.name = name;
    this.parent = parent;
  }

  spanContext = () => ({ traceId: '', spanId: '', traceFlags: 1 });
  setAttribute = () => this;
  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }
  addEvent = () => this;
  addLink = () => this;
  addLinks = () => this;
  setStatus(status: object): this {
    this.status = status;
    return this;
  }
  updateName = () => this;
  end(): void {
    this.ends += 1;
  }
  isRecording = () => this.ends === 0;
  recordException(exception: Exception): void {
    this.exceptions.push(exception);
  }
}

class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  readonly active = new AsyncLocalStorage<RecordedSpan>();

  startSpan(name: string, { root = false, attributes = {} }: SpanOptions = {}): RecordedSpan {
    const span = new RecordedSpan(name, root ? undefined : this.active.getStore());
    this.spans.push(span.setAttributes(attributes));
    return span;
  }

  startActiveSpan<F extends (span: Span) => unknown>(
    name: string,
    ...rest: [F] | [SpanOptions, F] | [SpanOptions, Context, F]
  ): ReturnType<F> {
    const act = rest.at(-1) as F;
    const span = this.startSpan(name, rest.length > 1 ? (rest[0] as SpanOptions) : {});
    return this.active.run(span, () => act(span) as ReturnType<F>);
  }
}

const REQUEST: ReconcileRequest<Pod> = {
  ...{ key: 'a', name: { namespace: '', name: 'a' }, object: undefined, reasons: ['source'] },
  ...{ attempt: 1, queuedMs: 0, signal: new AbortController().signal },
};

/** A controller of the Pod shop/a, whose reconciles are traced. */
function rig(reconcile: ReconcileObject<Pod>, options?: TracedOptions) {
  const tracer = new RecordingTracer();
  const scheduler = new VirtualTime();
  const { source, informer } = scriptedInformer({ name: 'webs', scheduler });
  const types: string[] = [];
  const controller = createController<Pod>({
    for: informer,
    scheduler,
    reconcile: traced<Pod>(tracer, reconcile, options),
    // Of a reconcile that ignores its signal.
    onUnhandledError: () => undefined,
  });
  controller.outcomes$.subscribe(({ type }) => types.push(type));
  source.listed(7, pod('a', 5));
  controller.start();
  return { tracer, controller, scheduler, types };
}

describe('traced', () => {
  it('N33: a reconcile has a span with its object, the version and the reasons', async () => {
    const { tracer, controller, types } = rig(() => undefined, { name: 'reconcile webs' });
    await controller.whenReady();
    expect(tracer.spans.map(({ name, attributes, ends }) => ({ name, attributes, ends }))).toEqual([
      {
        name: 'reconcile webs',
        attributes: {
          'reconcile.key': 'shop/a',
          'reconcile.reasons': ['for:added'],
          'reconcile.attempt': 1,
          'reconcile.queued_ms': 0,
          'k8s.object.name': 'a',
          'k8s.namespace.name': 'shop',
          'k8s.object.uid': pod('a', 5).metadata.uid,
          'k8s.object.resource_version': '5',
          'reconcile.result': 'ok',
        },
        ends: 1,
      },
    ]);
    expect(types).toEqual(['ok']);
    await controller.stop();
  });

  it('N33: a failure is the status, the exception and the result of the span, and is retried', async () => {
    const failures = [
      ...[new Error('the disk is full'), 'no Error', Object.create(null)],
      new TerminalError('never'),
    ];
    const unshown = 'something that cannot be shown';
    const { tracer, controller, scheduler, types } = rig(async () => {
      throw failures.shift();
    });
    await controller.whenReady();
    await scheduler.advance(1_000);
    expect(types).toEqual(['failed', 'failed', 'failed', 'gaveUp']);
    expect(tracer.spans.map(({ status }) => status)).toEqual(
      ['the disk is full', 'no Error', unshown, 'never'].map((message) => ({ code: 2, message })),
    );
    expect(tracer.spans.flatMap(({ exceptions }) => exceptions.map(String))).toEqual([
      'Error: the disk is full',
      'no Error',
      unshown,
      'TerminalError: never',
    ]);
    expect(
      tracer.spans.map(({ attributes, ends }) => [
        attributes['reconcile.attempt'],
        attributes['reconcile.reasons'],
        attributes['reconcile.result'],
        attributes['reconcile.terminal'],
        ends,
      ]),
    ).toEqual([
      [1, ['for:added'], 'error', false, 1],
      [2, ['retry'], 'error', false, 1],
      [3, ['retry'], 'error', false, 1],
      [4, ['retry'], 'error', true, 1],
    ]);
    await controller.stop();
  });

  it('N33: the span says whether and when the key runs again, however the result is returned', async () => {
    const results: ReturnType<ReconcileObject<Pod>>[] = [
      { requeueAfterMs: 50 },
      Promise.resolve({ requeue: true }),
      of({ requeueAfterMs: 1 }, { requeueAfterMs: 70 }),
      throwError(() => new Error('of an Observable')),
    ];
    const { tracer, controller, scheduler } = rig(() => results.shift());
    await controller.whenReady();
    await scheduler.advance(1_000);
    expect(
      tracer.spans.map(({ attributes, ends }) => [
        attributes['reconcile.result'],
        attributes['reconcile.requeue_after_ms'],
        ends,
      ]),
    ).toEqual([
      ['requeue', 50, 1],
      ['requeue', undefined, 1],
      ['requeue', 70, 1],
      ['error', undefined, 1],
      ['ok', undefined, 1],
    ]);
    await controller.stop();
  });

  it('N33: an Observable that is unsubscribed ends its span without an error', async () => {
    const { tracer, controller, scheduler } = rig(() => NEVER);
    await controller.whenReady();
    expect(tracer.spans[0]?.ends).toBe(0);
    const stopped = controller.stop({ drainMs: 5 });
    await scheduler.advance(20);
    await stopped;
    const [{ attributes, ends, status } = expect.fail('no span')] = tracer.spans;
    expect([attributes['reconcile.result'], ends, status]).toEqual(['aborted', 1, undefined]);
  });

  it('N33: the span is active in what the reconcile awaits, and has no parent unless `root` is false', async () => {
    for (const root of [undefined, false]) {
      const tracer = new RecordingTracer();
      const seen: unknown[] = [];
      const reconcile = traced<Pod>(
        tracer,
        async () => {
          await Promise.resolve();
          seen.push(tracer.active.getStore());
        },
        { root },
      );
      const boot = tracer.startSpan('boot');
      await tracer.active.run(boot, () => reconcile('a', REQUEST) as Promise<void>);
      expect(seen).toEqual([tracer.spans[1]]);
      expect(tracer.spans[1]?.parent).toBe(root === undefined ? undefined : boot);
    }
  });

  it('N33: a tracer that throws is reported, and the reconcile runs once', async () => {
    const reports: string[] = [];
    config.onUnhandledError = (error) => reports.push(error.message);
    onTestFinished(() => {
      config.onUnhandledError = null;
    });
    const fail = (what: string) => () => {
      throw new Error(what);
    };
    const span = new RecordedSpan('', undefined);
    const tracers = [
      { startActiveSpan: fail('before') },
      {
        startActiveSpan: <R>(_: string, __: object, act: (of: Span) => R): R => {
          act(span);
          throw new Error('after');
        },
      },
      {
        startActiveSpan: <R>(_: string, __: object, act: (of: Span) => R): R =>
          act(Object.assign(new RecordedSpan('', undefined), { setAttributes: fail('span') })),
      },
    ];
    let calls = 0;
    for (const tracer of tracers) {
      const reconcile = traced<Pod>(tracer, () => {
        calls += 1;
        return { requeueAfterMs: calls };
      });
      expect(reconcile('a', REQUEST)).toEqual({ requeueAfterMs: calls });
    }
    expect(calls).toBe(3);
    await allReported();
    expect(reports).toEqual(['before', 'after', 'span']);
    expect(() => traced({} as never, () => undefined)).toThrow(
      /the first argument is \{\}; it must be a tracer, such as trace.getTracer/,
    );
  });

  it('N33: a lazy thenable does its work once', async () => {
    let works = 0;
    const lazy: PromiseLike<undefined> = {
      // biome-ignore lint/suspicious/noThenProperty: this is the thenable under test.
      then: (resolve, reject) => {
        works += 1;
        return Promise.resolve(undefined).then(resolve, reject);
      },
    };
    const { controller, types } = rig(() => lazy as Promise<undefined>);
    await controller.whenReady();
    await new Promise((resolve) => setImmediate(resolve));
    expect([works, types]).toEqual([1, ['ok']]);
    await controller.stop();
  });

  it('N33: a traced reconcile that reads no signal creates none, and an Observable is subscribed once', () => {
    let subscriptions = 0;
    const work = new Observable<undefined>((subscriber) => {
      subscriptions += 1;
      subscriber.complete();
    });
    const tracer = new RecordingTracer();
    const request = Object.defineProperty({ ...REQUEST }, 'signal', {
      get: () => expect.fail('the signal was read'),
    });
    (traced<Pod>(tracer, () => work)('a', request) as typeof work).subscribe();
    expect([subscriptions, tracer.spans[0]?.ends]).toEqual([1, 1]);
  });
});
