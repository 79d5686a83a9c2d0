/** Sources of a status for hooks: of rows, and of an informer. */
import type { Observable } from 'rxjs';
import type { InformerStatus } from '../informer/status/status.ts';
import { blockingError, NO_RESULT, type StatusResult } from './row-result.ts';
import type { RowSource } from './row-source.ts';

/** What `useSyncExternalStore` takes. */
export interface StatusSource {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => StatusResult;
}

/** The status of a source of rows, which changes less often than the rows. */
export function statusOfRows(source: RowSource<unknown>): StatusSource {
  let shown: StatusResult | undefined;
  const getSnapshot = (): StatusResult => {
    const { synced, status, error } = source.getSnapshot();
    if (shown?.synced !== synced || shown.status !== status || shown.error !== error) {
      shown = Object.freeze({ synced, status, error });
    }
    return shown;
  };
  return { subscribe: source.subscribe, getSnapshot };
}

/** The part of an informer that is read. */
export interface InformerWithStatus {
  readonly status$: Observable<InformerStatus>;
  readonly status: InformerStatus;
}

/** The status of an informer over any number of stops and starts. Does not start it. */
export function statusOfInformer(informer: InformerWithStatus): StatusSource {
  // That of the last transition, because `informer.status` is another object at each reading.
  let of: InformerStatus = informer.status;
  let shown: StatusResult | undefined;
  const getSnapshot = (): StatusResult => {
    const { refusedRows } = NO_RESULT.status;
    const status = Object.freeze({ ...of, refusedRows });
    shown ??= Object.freeze({ synced: of.synced, status, error: blockingError(of) });
    return shown;
  };
  const subscribe = (listener: () => void): (() => void) => {
    let isSubscribing = true;
    const subscription = informer.status$.subscribe((status) => {
      if (status !== of) shown = undefined;
      of = status;
      if (!isSubscribing) listener();
    });
    isSubscribing = false;
    return () => subscription.unsubscribe();
  };
  return { subscribe, getSnapshot };
}
