/**
 * `traced`: a span of OpenTelemetry for each reconcile. Only the few members of the official API that it calls are
 * declared, so no program needs `@opentelemetry/api` to compile, and a bundle that does not import this file contains nothing of it.
 */

import { isObservable, Observable } from 'rxjs';
import { check } from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownError } from '../meta/shown-text.ts';
import { isThenable } from '../rx/is-thenable.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { type ReconcileResult, type RunEnd, TerminalError } from '../work-queue/reconcile-run.ts';
import type { ReconcileObject, ReconcileRequest } from './controller.ts';
import { reporterOf } from './reconcile-report.ts';

/** The attributes of a span. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

/** The members of OpenTelemetry's `Span` that {@link traced} calls. */
export interface ReconcileSpan {
  setAttributes(attributes: SpanAttributes): unknown;
  /** The code is that of `SpanStatusCode.ERROR`. */
  setStatus(status: { code: 2; message?: string }): unknown;
  recordException(error: Error | string): void;
  end(): void;
}

/** The member of OpenTelemetry's `Tracer` that {@link traced} calls. `trace.getTracer('my-controller')` of `@opentelemetry/api` is one. */
export interface ReconcileTracer {
  startActiveSpan<R>(
    name: string,
    options: { root?: boolean; attributes?: SpanAttributes },
    act: (span: ReconcileSpan) => R,
  ): R;
}

/** Options of {@link traced}. */
export interface TracedOptions {
  /** The name of the spans. @defaultValue 'reconcile' */
  readonly name?: string | undefined;
  /**
   * Whether each span begins a trace of its own. Otherwise its parent is the span that is active when the reconcile begins,
   * which may be an unrelated one: that in which the informer was started. @defaultValue true
   */
  readonly root?: boolean | undefined;
}

type Returned = ReturnType<ReconcileObject<KubernetesObject>>;

function attributesOf<T extends KubernetesObject>(
  key: string,
  { name, object, reasons, attempt, queuedMs }: ReconcileRequest<T>,
): SpanAttributes {
  const { uid, resourceVersion } = object?.metadata ?? {};
  return {
    'reconcile.key': key,
    'reconcile.reasons': [...reasons],
    'reconcile.attempt': attempt,
    'reconcile.queued_ms': queuedMs,
    'k8s.object.name': name.name,
    ...(name.namespace && { 'k8s.namespace.name': name.namespace }),
    ...(uid && { 'k8s.object.uid': uid }),
    ...(resourceVersion && { 'k8s.object.resource_version': resourceVersion }),
  };
}

function attributesAtEnd(end: RunEnd): SpanAttributes {
  if ('aborted' in end) return { 'reconcile.result': 'aborted' };
  if ('error' in end) {
    return {
      'reconcile.result': 'error',
      'reconcile.terminal': end.error instanceof TerminalError,
    };
  }
  const { requeue, requeueAfterMs = 0 } = end.result ?? {};
  if (requeueAfterMs > 0) {
    return { 'reconcile.result': 'requeue', 'reconcile.requeue_after_ms': requeueAfterMs };
  }
  return { 'reconcile.result': requeue ? 'requeue' : 'ok' };
}

/** A span, and who receives the errors of the tracing library. */
interface Traced {
  readonly span: ReconcileSpan;
  readonly report: (error: unknown) => void;
}

/** Ends the span. An error of the tracing library is reported and does not reach the reconcile. */
function endSpan({ span, report }: Traced, end: RunEnd): void {
  const safely = (act: () => void) => reportingErrors(act, report)();
  safely(() => span.setAttributes(attributesAtEnd(end)));
  if ('error' in end) {
    const { error } = end;
    const message = shownError(error);
    safely(() => span.recordException(error instanceof Error ? error : message));
    safely(() => span.setStatus({ code: 2, message }));
  }
  safely(() => span.end());
}

/** Ends the span with the Observable: when it completes, errors or is unsubscribed. */
function observed(span: Traced, work: Observable<ReconcileResult>): typeof work {
  return new Observable((subscriber) => {
    let last: ReconcileResult;
    let end: RunEnd = { aborted: true };
    const following = work.subscribe({
      next: (result) => {
        last = result;
        subscriber.next(result);
      },
      error: (error: unknown) => {
        end = { error };
        subscriber.error(error);
      },
      complete: () => {
        end = { result: last };
        subscriber.complete();
      },
    });
    following.add(() => endSpan(span, end));
    return following;
  });
}

/** Calls `work`, and ends the span with what it returns. Returns a function that returns or throws the same. */
function within(span: Traced, work: () => Returned): () => Returned {
  let returned: Returned;
  try {
    returned = work();
    // Once, because each call of the `then` of a lazy thenable may do its work again.
    if (isThenable<ReconcileResult>(returned)) returned = Promise.resolve(returned);
  } catch (error) {
    endSpan(span, { error });
    return () => {
      throw error;
    };
  }
  if (isObservable(returned)) {
    const following = observed(span, returned);
    return () => following;
  }
  if (isThenable<ReconcileResult>(returned)) {
    returned.then(
      (result) => endSpan(span, { result }),
      (error: unknown) => endSpan(span, { error }),
    );
  } else endSpan(span, { result: returned });
  return () => returned;
}

/**
 * Makes a reconcile function that records a span of OpenTelemetry for each reconcile. The span is active while `reconcile` is
 * called and in what it awaits, so that spans of its requests are children. It ends when the reconcile ends. An Observable is
 * subscribed after the call, and its span also ends when it is unsubscribed.
 *
 * Attributes at the start: `reconcile.key`, `reconcile.reasons`, `reconcile.attempt`, `reconcile.queued_ms`, `k8s.object.name`,
 * `k8s.namespace.name`, and of an existing object `k8s.object.uid` and `k8s.object.resource_version`. At the end:
 * `reconcile.result` (`ok`, `requeue`, `error`, `aborted`), `reconcile.requeue_after_ms`, and of an error `reconcile.terminal`,
 * the exception and the status. An error that the tracer throws is reported, and the reconcile runs.
 *
 * Throws a `TypeError` if `tracer` is not a tracer.
 *
 * @example
 * ```ts
 * import { createClient, createController, createListWatch, createSharedInformer, traced } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { trace } from '@opentelemetry/api';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const controller = createController({
 *   for: createSharedInformer(createListWatch(client, pods)),
 *   reconcile: traced(trace.getTracer('my-controller'), async (key, { object }) => {
 *     if (object === undefined) console.log(`${key} is gone`);
 *   }),
 * });
 * controller.status.phase; // => 'idle'
 * ```
 */
export function traced<T extends KubernetesObject>(
  tracer: ReconcileTracer,
  reconcile: ReconcileObject<T>,
  options: TracedOptions = {},
): ReconcileObject<T> {
  const must = "a tracer, such as trace.getTracer('my-controller') of @opentelemetry/api";
  check(typeof tracer?.startActiveSpan === 'function', 'traced: the first argument', tracer, must);
  const { name = 'reconcile', root = true } = options;
  return (key, request) => {
    const work = () => reconcile(key, request);
    const report = reporterOf(request, 'traced', key);
    let ended: (() => Returned) | undefined;
    try {
      const attributes = attributesOf(key, request);
      tracer.startActiveSpan(name, { root, attributes }, (span) => {
        ended = within({ span, report }, work);
      });
    } catch (error) {
      report(error);
    }
    return (ended ?? work)();
  };
}
