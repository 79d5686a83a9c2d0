/** One page of names and versions: a request, read to its end. */
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

/** Lists metadata: what a {@link ListerWatcher} needs for an audit. */
export type MetadataLister = NonNullable<ListerWatcher<unknown>['listMetadata']>;

/** A page as it came. */
export interface ReceivedPage {
  readonly objects: AuditedPage;
  readonly resourceVersion: string;
  /** The token of the next page. */
  readonly next: string | undefined;
}

type Read = ListPart<PartialObjectMetadata> | { readonly turn: RequestTurn };

/**
 * Asks for one page. Emits it once and completes; errors with an {@link ApiError}, also if nothing comes for
 * `timeoutMs` or if the page names no version that can be compared. Unsubscribing aborts the request.
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
        ApiError.local('Silent', `nothing came from the server for ${Math.round(idleMs / 1000)} s`),
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
