/** Which stream a stream was made from, so that what is known of the one may be looked up for the other. */
import type { Observable } from 'rxjs';

const sources = /* @__PURE__ */ new WeakMap<object, Observable<unknown>>();

/** Notes that a stream passes the values of another one on. Operators of RxJS need no note. Returns the stream. */
export function notedSource<S extends object>(stream: S, source: Observable<unknown>): S {
  sources.set(stream, source);
  return stream;
}

/** The stream that a stream was made from, by an operator of RxJS or as noted; `undefined` if it was made otherwise. */
export function sourceOf(stream: Observable<unknown>): Observable<unknown> | undefined {
  // RxJS keeps the source of an operator in this field.
  const { source } = stream as unknown as { readonly source?: Observable<unknown> };
  return sources.get(stream) ?? source;
}
