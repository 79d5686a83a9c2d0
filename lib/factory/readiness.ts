/**
 * Waiting for several informers, and saying who is missing and why. client-go: informers/factory.go,
 * WaitForCacheSync, which answers true or false and waits for ever on a resource that is not there.
 */
import { combineLatest, firstValueFrom, from, merge, type Observable } from 'rxjs';
import { endWith, filter, map, mergeMap } from 'rxjs/operators';
import type { InformerStatus } from '../informer/status/status.ts';
import type { SyncWaitOptions } from '../informer/waits.ts';
import { ApiError } from '../meta/api-error.ts';
import { checkedDuration } from '../rx/checked-option.ts';

/** What is asked of an informer here. */
export interface Awaited {
  readonly name: string;
  readonly informer: {
    readonly hasSynced: boolean;
    readonly isStopped: boolean;
    readonly status: InformerStatus;
    readonly status$: Observable<InformerStatus>;
    whenSynced(options?: SyncWaitOptions): Promise<void>;
  };
}

/** An informer that is not synced, and its latest status. */
export interface MissingInformer {
  readonly name: string;
  readonly status: InformerStatus;
}

/** Names who is missing, and why. `code` and `reason` are those of the cause where there is one for all. */
export class NotSyncedError extends ApiError {
  readonly missing: readonly MissingInformer[];

  /** `after` and `next` stand in the message: when the wait ended, and what can be done. */
  constructor(missing: readonly MissingInformer[], of: number, after: string, next = '') {
    const [first] = missing;
    const causes = missing.map(({ status }) => status.error);
    const cause = causes[0];
    const one = causes.every(
      (each) => each?.code === cause?.code && each?.reason === cause?.reason,
    );
    const who = missing.map(({ name, status }) => `${name} (${why(status)})`).join('; ');
    const count = of === 1 ? '' : `${missing.length} of ${of} informers not synced`;
    super({
      code: one && cause !== undefined ? cause.code : 0,
      reason: one && cause !== undefined ? cause.reason : 'NotObserved',
      message: `${count === '' ? `${first?.name ?? 'the informer'} is not synced` : count}${after}: ${who}${next}`,
      ...(cause === undefined ? {} : { cause }),
    });
    this.missing = missing;
  }
}

function why(status: InformerStatus): string {
  const { phase, error, blocked, scopes } = status;
  if (phase === 'idle') return 'it was not started';
  // Of several namespaces the one that fails is worth more than the worst phase.
  const failing = Object.entries(scopes ?? {}).filter(([, each]) => !each.synced);
  if (scopes !== undefined && failing.length > 0) {
    const parts = failing.map(([scope, each]) => {
      const reason = each.error === undefined ? '' : `: ${each.error.message}`;
      return `namespace ${scope} ${each.blocked ?? each.phase}${reason}`;
    });
    return parts.join(', ');
  }
  return `${blocked ?? phase}${error === undefined ? '' : `: ${error.message}`}`;
}

type Part = Pick<InformerStatus, 'phase' | 'synced' | 'blocked'>;

/** The collections of an informer, each with a list of its own: its scopes, if it has several. */
function partsOf(status: InformerStatus): readonly Part[] {
  if (status.phase === 'idle' || status.phase === 'stopped') return [];
  return status.scopes === undefined ? [status] : Object.values(status.scopes);
}

function isRefused(status: InformerStatus): boolean {
  return partsOf(status).some(({ synced, blocked }) => !synced && blocked !== undefined);
}

/** Whether each of its collections is synced, or it is known why not. */
function isAnswered(status: InformerStatus): boolean {
  const parts = partsOf(status);
  const isKnown = ({ phase, synced, blocked }: Part) =>
    synced || blocked !== undefined || phase === 'backoff' || phase === 'paused';
  return parts.length > 0 && parts.every(isKnown);
}

/**
 * Waits until all are synced, or one of them will not be: it is stopped, or the time is over. While one is refused, the
 * others have until their answer, so that all causes are known; a refusal that ends before that is none.
 */
function settled(
  informers: readonly Awaited[],
  { whileBlocked, ...options }: SyncWaitOptions,
): Promise<'over' | 'refused'> {
  const outcomes$ = merge(
    ...informers.map(({ informer }) => {
      const synced = informer.whenSynced({ ...options, whileBlocked: 'wait' });
      return from(
        synced.then(
          () => 'synced',
          () => 'over',
        ),
      );
    }),
  );
  const over$ = outcomes$.pipe(
    endWith('over'),
    filter((outcome) => outcome === 'over'),
    map(() => 'over' as const),
  );
  if (whileBlocked === 'wait') return firstValueFrom(over$);
  const refused$ = combineLatest(informers.map(({ informer }) => informer.status$)).pipe(
    // As they are after the callback under way, which may have restarted one.
    mergeMap(() => Promise.resolve()),
    map(() => informers.map(({ informer }) => informer.status)),
    filter((statuses) => statuses.some(isRefused) && statuses.every(isAnswered)),
    map(() => 'refused' as const),
  );
  return firstValueFrom(merge(refused$, over$));
}

/**
 * Resolves when all of them are synced. Rejects with a `TypeError` if `timeoutMs` is not a duration, and with a
 * {@link NotSyncedError} when `timeoutMs` are over, when the server refuses one of them and has answered for the others,
 * or when one of them is stopped or was, which then will not be: what a stop leaves in a store grows old.
 */
export async function whenAllSynced(
  informers: readonly Awaited[],
  options: SyncWaitOptions = {},
): Promise<void> {
  checkedDuration(options.timeoutMs ?? 0, 'timeoutMs');
  const isMissing = ({ informer }: Awaited) => informer.isStopped || !informer.hasSynced;
  const isOver = informers.some(({ informer }) => informer.isStopped);
  const how = isOver ? 'over' : await settled(informers, options);
  // All have the same time: what is known of each at this moment is why.
  const missing = informers
    .filter(isMissing)
    .map(({ name, informer }) => ({ name, status: informer.status }));
  // The last one may have become so in the very moment.
  if (missing.length === 0) return;
  const { timeoutMs } = options;
  const stopped = missing.some(({ status }) => status.phase === 'stopped');
  const inTime = stopped || how === 'refused' || timeoutMs === undefined;
  const next =
    how === 'refused' ? `. They keep trying; to wait for that, pass whileBlocked: 'wait'` : '';
  const after = inTime ? '' : ` after ${timeoutMs} ms`;
  throw new NotSyncedError(missing, informers.length, after, next);
}
