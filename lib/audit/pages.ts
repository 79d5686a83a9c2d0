/** Requests one page of the metadata of a collection, and reads it completely. */
import { defer, Observable, type SchedulerLike } from 'rxjs';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { ListMeta, ListPart } from '../decode/watch-event.ts';
import type { ListerWatcher, ListRequest, RequestTurn } from '../list-watch/lister-watcher.ts';
import { validatedPart } from '../list-watch/validate-answer.ts';
import { ApiError } from '../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import { uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import { idleTimeout } from '../rx/idle-timeout.ts';
import type { AuditedPage, AuditedState } from './round.ts';

/** The method of a {@link ListerWatcher} that an audit needs. */
export type MetadataLister = NonNullable<ListerWatcher<unknown>['listMetadata']>;

/** A page that was read completely. */
export interface ReceivedPage {
  readonly objects: AuditedPage;
  readonly resourceVersion: string;
  /** The token of the next page. */
  readonly next: string | undefined;
}

type Read = ListPart<PartialObjectMetadata> | { readonly turn: RequestTurn };

/**
 * Requests one page. Emits the page and completes. Errors with an {@link ApiError} if the request fails, if nothing is
 * received for `timeoutMs` milliseconds, or if the page has no version that can be compared. Unsubscribing aborts the
 * request.
 */
export function auditPage(
  listMetadata: MetadataLister,
  request: ListRequest<PartialObjectMetadata>,
  options: { readonly scheduler: SchedulerLike; readonly timeoutMs: number },
): Observable<ReceivedPage> {
  const read = new Observable<Read>((parts) =>
    defer(() => listMetadata({ ...request, onTurn: (turn) => parts.next({ turn }) })).subscribe(
      parts,
    ),
  ).pipe(
    idleTimeout<Read>({
      scheduler: options.scheduler,
      limitMs: () => options.timeoutMs,
      waitingMs: () => undefined,
      pauseLimitMs: Number.POSITIVE_INFINITY,
      isQueued: (part) => 'turn' in part && part.turn === 'queued',
      error: (_, idleMs) =>
        ApiError.local('Silent', `the server sent nothing for ${Math.round(idleMs / 1000)} s`),
    }),
  );
  return new Observable<ReceivedPage>((subscriber) => {
    const objects = new Map<string, AuditedState>();
    let meta: ListMeta | undefined;
    return read.subscribe({
      next: (part) => {
        if ('turn' in part) return;
        try {
          const { items, metadata } = validatedPart(part);
          for (const item of items) {
            const state = { uid: uidOf(item), resourceVersion: versionOf(item) };
            objects.set(metaNamespaceKeyFunc(item), state);
          }
          meta = metadata ?? meta;
        } catch (error) {
          subscriber.error(ApiError.from(error, 'the audit'));
        }
      },
      error: (error) => subscriber.error(ApiError.from(error, 'the audit')),
      complete: () => {
        const { resourceVersion = '', continue: next } = meta ?? {};
        if (isResourceVersion(resourceVersion)) {
          subscriber.next({ objects, resourceVersion, next });
          subscriber.complete();
          return;
        }
        const message = 'the audit: a page has no version that can be compared with the store';
        subscriber.error(ApiError.local('Unexpected', message));
      },
    });
  });
}
