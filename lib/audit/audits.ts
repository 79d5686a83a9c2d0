/** The audits of one run, one per ListerWatcher, and their merged status. */
import { BehaviorSubject, EMPTY, merge, type Observable, Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { RefreshOrder } from '../reflector/reflect-options.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import { checkedPeriod } from '../rx/checked-option.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import { audit } from './audit.ts';
import type { MetadataLister } from './pages.ts';
import { type AuditStatus, mergeAudits, unaudited } from './status.ts';

const LEAST_PERIOD_MS = 60_000;

/** The `audit` option: whether and how often an informer compares its store with the server. */
export interface AuditOptions {
  /**
   * Every lost event is detected and repaired within this time, in milliseconds, after the watch has shown a later
   * version. At least 60000. `Infinity` turns the audit off.
   */
  readonly periodMs: number;
}

/** The inputs of {@link Audits} beside the ListerWatchers. */
export interface AuditsParts<T extends KubernetesObject> extends AuditOptions {
  readonly store: KnownObjects<T>;
  readonly timing: ResolvedTiming;
  readonly requestTimeoutMs: number;
}

/** Validates the period. Throws a `TypeError` that names the option if the period is too short or not a number. */
export function checkedAudit({ periodMs }: AuditOptions): AuditOptions {
  return { periodMs: checkedPeriod(periodMs, 'audit.periodMs', LEAST_PERIOD_MS) };
}

/** The `audit` of an informer's status before the audit begins. */
export function initialAudit<T>(
  listerWatchers: readonly ListerWatcher<T>[],
): AuditStatus | 'unsupported' {
  const supported = listerWatchers.every(({ listMetadata }) => listMetadata !== undefined);
  return supported ? unaudited : 'unsupported';
}

/** The audits of one run. The stages of the run report their progress to it. */
export class Audits<T extends KubernetesObject> {
  readonly #received = new Subject<readonly Delta<T>[]>();
  readonly #committed = new Subject<readonly Delta<T>[]>();
  readonly #live: readonly BehaviorSubject<boolean>[];
  readonly #orders: readonly Subject<RefreshOrder>[];
  /** The merged status of all audits, which run while this is subscribed. Never completes or errors. */
  readonly status$: Observable<AuditStatus>;

  constructor(listerWatchers: readonly ListerWatcher<T>[], parts: AuditsParts<T>) {
    this.#live = listerWatchers.map(() => new BehaviorSubject(false));
    this.#orders = listerWatchers.map(() => new Subject());
    const statuses: AuditStatus[] = listerWatchers.map(() => unaudited);
    const each = listerWatchers.map((listerWatcher, at) =>
      audit<T>({
        ...parts,
        scope: listerWatcher.scope,
        listMetadata: (request) =>
          (listerWatcher as { readonly listMetadata: MetadataLister }).listMetadata(request),
        received$: this.#received,
        committed$: this.#committed,
        live$: this.#live[at] as BehaviorSubject<boolean>,
        repair: () => this.#orders[at]?.next({ trustVersions: false }),
      }).pipe(
        map((status) => {
          statuses[at] = status;
          return mergeAudits(statuses);
        }),
      ),
    );
    this.status$ = merge(...each);
  }

  /** The repairing lists that the reflector of the ListerWatcher at this index must make. */
  orders(at: number): Observable<RefreshOrder> {
    return this.#orders[at] ?? EMPTY;
  }

  /** Takes the deltas that a reflector has emitted, before their commit. */
  received(deltas: readonly Delta<T>[]): void {
    this.#received.next(deltas);
  }

  /** Takes the deltas that the store has committed. */
  committed(deltas: readonly Delta<T>[]): void {
    this.#committed.next(deltas);
  }

  /** Takes the new status of the reflector at this index. */
  onStatus(at: number, { live }: ReflectorStatus): void {
    this.#live[at]?.next(live);
  }
}
