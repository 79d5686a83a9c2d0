/** The audits of one run: one for each ListerWatcher, and what they say together. */
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

/** How an informer compares its store with the server. */
export interface AuditOptions {
  /** Every lost event is found and healed within this time, in milliseconds, at least 60000. `Infinity`: never. */
  readonly periodMs: number;
}

/** What {@link Audits} takes beside the ListerWatchers. */
export interface AuditsParts<T extends KubernetesObject> extends AuditOptions {
  readonly store: KnownObjects<T>;
  readonly timing: ResolvedTiming;
  readonly requestTimeoutMs: number;
}

/** Throws a `TypeError` that names the option if the period is too short. */
export function checkedAudit({ periodMs }: AuditOptions): AuditOptions {
  return { periodMs: checkedPeriod(periodMs, 'audit.periodMs', LEAST_PERIOD_MS) };
}

/** What an informer's status says of an audit that has not begun. */
export function auditOf<T>(
  listerWatchers: readonly ListerWatcher<T>[],
): AuditStatus | 'unsupported' {
  const supported = listerWatchers.every(({ listMetadata }) => listMetadata !== undefined);
  return supported ? unaudited : 'unsupported';
}

/** The audits of one run, and where its stages tell them what happens. */
export class Audits<T extends KubernetesObject> {
  readonly #received = new Subject<readonly Delta<T>[]>();
  readonly #committed = new Subject<readonly Delta<T>[]>();
  readonly #live: readonly BehaviorSubject<boolean>[];
  readonly #orders: readonly Subject<RefreshOrder>[];
  /** Audits for as long as it is subscribed; tells what all of them have found. Never completes or errors. */
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
        heal: () => this.#orders[at]?.next({ trustVersions: false }),
      }).pipe(
        map((status) => {
          statuses[at] = status;
          return mergeAudits(statuses);
        }),
      ),
    );
    this.status$ = merge(...each);
  }

  /** The lists that heal, for the reflector of the ListerWatcher at this place. */
  orders(at: number): Observable<RefreshOrder> {
    return this.#orders[at] ?? EMPTY;
  }

  /** The reflectors said this; it waits for its commit. */
  received(deltas: readonly Delta<T>[]): void {
    this.#received.next(deltas);
  }

  /** The store shows this now. */
  committed(deltas: readonly Delta<T>[]): void {
    this.#committed.next(deltas);
  }

  /** A reflector says this of itself. */
  told(at: number, { live }: ReflectorStatus): void {
    this.#live[at]?.next(live);
  }
}
