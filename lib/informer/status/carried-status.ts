/** Which informers a stream reads, so that a view at the end of a pipe shows their status without being told. */
import type { Observable } from 'rxjs';
import type { InformerStatus } from './status.ts';

const carried = /* @__PURE__ */ new WeakMap<object, Observable<InformerStatus>>();

/** Notes the status of the informer that a stream of change sets belongs to. Returns the stream. */
export function carryStatus<S extends object>(stream: S, status$: Observable<InformerStatus>): S {
  carried.set(stream, status$);
  return stream;
}

/** The status of the informer that exactly this stream belongs to. */
export function carriedStatus(stream: object): Observable<InformerStatus> | undefined {
  return carried.get(stream);
}
