/**
 * Waiting for several informers, and saying who is missing and why. client-go: informers/factory.go,
 * WaitForCacheSync, which answers true or false and waits for ever on a resource that is not there.
 */
import type { InformerStatus } from '../informer/status.ts';
import type { WaitOptions } from '../informer/waits.ts';
import { ApiError } from '../meta/api-error.ts';
import { checkedDuration } from '../rx/checked-option.ts';

/** What is asked of an informer here. */
export interface Awaited {
  readonly name: string;
  readonly informer: {
    readonly hasSynced: boolean;
    readonly isStopped: boolean;
    readonly status: InformerStatus;
    whenSynced(options?: WaitOptions): Promise<void>;
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

  constructor(missing: readonly MissingInformer[], of: number, after: string) {
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
      message: `${count === '' ? `${first?.name ?? 'the informer'} is not synced` : count}${after}: ${who}`,
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

/**
 * Resolves when all of them are synced. Rejects with a `TypeError` if `timeoutMs` is not a duration, and with a
 * {@link NotSyncedError} when `timeoutMs` are over, or when one of them is stopped or was, which then will not be: what
 * a stop leaves in a store grows old.
 */
export async function whenAllSynced(
  informers: readonly Awaited[],
  options: WaitOptions = {},
): Promise<void> {
  checkedDuration(options.timeoutMs ?? 0, 'timeoutMs');
  const isMissing = ({ informer }: Awaited) => informer.isStopped || !informer.hasSynced;
  if (!informers.some(({ informer }) => informer.isStopped)) {
    const all = Promise.all(informers.map(({ informer }) => informer.whenSynced(options)));
    await all.catch(() => undefined);
  }
  // All have the same time: what is known of each at this moment is why.
  const missing = informers
    .filter(isMissing)
    .map(({ name, informer }) => ({ name, status: informer.status }));
  // The last one may have become so in the very moment.
  if (missing.length === 0) return;
  const { timeoutMs } = options;
  const stopped = missing.some(({ status }) => status.phase === 'stopped');
  const after = stopped || timeoutMs === undefined ? '' : ` after ${timeoutMs} ms`;
  throw new NotSyncedError(missing, informers.length, after);
}
