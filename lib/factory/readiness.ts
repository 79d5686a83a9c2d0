/**
 * Waits until several informers are synced, and reports those that are not, with the causes. client-go: informers/factory.go,
 * WaitForCacheSync, which returns true or false and waits for ever for a resource that does not exist.
 */
import { combineLatest, firstValueFrom, from, merge, type Observable } from 'rxjs';
import { endWith, filter, map, mergeMap } from 'rxjs/operators';
import { checkedDuration, ifGiven } from '../checks/checked-option.ts';
import type { InformerStatus } from '../informer/status/status.ts';
import type { SyncWaitOptions } from '../informer/waits.ts';
import { ApiError } from '../meta/api-error.ts';

/** The part of an informer that is awaited. */
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

/** Names the informers that are not synced, with the causes. `code` and `reason` are those of the cause, if all causes agree. */
export class NotSyncedError extends ApiError {
  readonly missing: readonly MissingInformer[];

  /** `after` says in the message when the wait ended, and `next` what the user can do. */
  constructor(missing: readonly MissingInformer[], of: number, after: string, next = '') {
    const [first] = missing;
    const causes = missing.map(({ status }) => status.error);
    const cause = causes[0];
    const one = causes.every(
      (each) => each?.code === cause?.code && each?.reason === cause?.reason,
    );
    const names = missing.map(({ name, status }) => `${name} (${why(status)})`).join('; ');
    const count = of === 1 ? '' : `${missing.length} of ${of} informers not synced`;
    super({
      code: one && cause !== undefined ? cause.code : 0,
      reason: one && cause !== undefined ? cause.reason : 'NotObserved',
      message: `${count === '' ? `${first?.name ?? 'the informer'} is not synced` : count}${after}: ${names}${next}`,
      cause,
    });
    this.missing = missing;
  }
}

function why(status: InformerStatus): string {
  const { phase, error, blocked, scopes } = status;
  if (phase === 'idle') return 'it was not started';
  // With several namespaces, the status of the failing one says more than the combined phase.
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

type ListedState = Pick<InformerStatus, 'phase' | 'synced' | 'blocked'>;

/** The collections of an informer that are listed separately: its scopes, if it has several. */
function listedStates(status: InformerStatus): readonly ListedState[] {
  if (status.phase === 'idle' || status.phase === 'stopped') return [];
  return status.scopes === undefined ? [status] : Object.values(status.scopes);
}

function isRefused(status: InformerStatus): boolean {
  return listedStates(status).some(({ synced, blocked }) => !synced && blocked !== undefined);
}

/** Whether each collection of the informer is synced, or has a known reason why it is not. */
function isDecided(status: InformerStatus): boolean {
  const parts = listedStates(status);
  const isKnown = ({ phase, synced, blocked }: ListedState) =>
    synced || blocked !== undefined || phase === 'backoff' || phase === 'paused';
  return parts.length > 0 && parts.every(isKnown);
}

/**
 * Waits until all are synced, one is stopped, or the timeout has passed. If one is refused, waits until the outcome of each of the
 * others is known, so that all causes are known; a refusal that ends before that does not count.
 */
function outcomeOf(
  informers: readonly Awaited[],
  { whileBlocked, ...options }: SyncWaitOptions,
): Promise<'ended' | 'refused'> {
  const outcomes$ = merge(
    ...informers.map(({ informer }) => {
      const synced = informer.whenSynced({ ...options, whileBlocked: 'wait' });
      return from(
        synced.then(
          () => 'synced',
          () => 'ended',
        ),
      );
    }),
  );
  const ended$ = outcomes$.pipe(
    endWith('ended'),
    filter((outcome) => outcome === 'ended'),
    map(() => 'ended' as const),
  );
  if (whileBlocked === 'wait') return firstValueFrom(ended$);
  const refused$ = combineLatest(informers.map(({ informer }) => informer.status$)).pipe(
    // Reads the statuses after the current callback, which may restart an informer.
    mergeMap(() => Promise.resolve()),
    map(() => informers.map(({ informer }) => informer.status)),
    filter((statuses) => statuses.some(isRefused) && statuses.every(isDecided)),
    map(() => 'refused' as const),
  );
  return firstValueFrom(merge(refused$, ended$));
}

/**
 * Resolves when all of them are synced. Rejects with a `TypeError` if `timeoutMs` is not a duration. Rejects with a
 * {@link NotSyncedError} when `timeoutMs` has passed, when the server refuses one of them and has answered for the others, or if
 * one of them is stopped, because the store of a stopped informer becomes outdated.
 */
export async function whenAllSynced(
  informers: readonly Awaited[],
  options: SyncWaitOptions = {},
): Promise<void> {
  ifGiven(checkedDuration, options.timeoutMs, 'whenSynced: timeoutMs');
  const isMissing = ({ informer }: Awaited) => informer.isStopped || !informer.hasSynced;
  const hasEnded = informers.some(({ informer }) => informer.isStopped);
  const how = hasEnded ? 'ended' : await outcomeOf(informers, options);
  // All waits have the same timeout, so the current status of each informer is the cause.
  const missing = informers
    .filter(isMissing)
    .map(({ name, informer }) => ({ name, status: informer.status }));
  // The last informer may have synced at this moment.
  if (missing.length === 0) return;
  const { timeoutMs } = options;
  const stopped = missing.some(({ status }) => status.phase === 'stopped');
  const inTime = stopped || how === 'refused' || timeoutMs === undefined;
  const next =
    how === 'refused' ? `. They keep trying; to wait for that, pass whileBlocked: 'wait'` : '';
  const after = inTime ? '' : ` after ${timeoutMs} ms`;
  throw new NotSyncedError(missing, informers.length, after, next);
}
