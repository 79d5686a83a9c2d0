/**
 * Compares a store with its server, again and again, while its watch is live. A watch can lose an event without anybody
 * noticing; what it lost is found here.
 *
 * A round asks for the collection's metadata exactly at the version of the store, so that nothing in flight differs. If
 * the server no longer has that version, the round asks for the newest one and compares once the store has reached it.
 */
import { Observable, Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import { auditPage, type MetadataLister, type ReceivedPage } from './pages.ts';
import { endOf, PendingDeletions } from './pending-deletions.ts';
import { Round } from './round.ts';
import { AuditSchedule } from './schedule.ts';
import { type AuditStatus, unaudited } from './status.ts';

/** Objects a page. */
const PAGE = 500;
const SHOWN = 10;

/** What an audit compares, and how it learns of changes. */
export interface AuditParts<T extends KubernetesObject> {
  readonly listMetadata: MetadataLister;
  readonly scope: string | undefined;
  readonly store: KnownObjects<T>;
  readonly periodMs: number;
  readonly requestTimeoutMs: number;
  readonly timing: ResolvedTiming;
  /** What the reflectors say, before it waits for its commit. */
  readonly received$: Observable<readonly Delta<T>[]>;
  /** What the store has committed. */
  readonly committed$: Observable<readonly Delta<T>[]>;
  /** Whether the watch of this scope is live; emits its state when it is subscribed. */
  readonly live$: Observable<boolean>;
  /** Orders a list in which content decides. */
  heal(): void;
}

class Auditor<T extends KubernetesObject> {
  readonly #of: AuditParts<T>;
  readonly #tell: (status: AuditStatus) => void;
  readonly #passedMs: () => number;
  readonly #pace: AuditSchedule;
  /** The timer, or the request. */
  #task = new Subscription();
  #status = unaudited;
  #live = false;
  /** A page is due, but the watch is not live. */
  #due = false;
  /** How far the store is in this scope; '' before its first list. */
  #version = '';
  readonly #ends = new PendingDeletions();
  #round: Round<T> | undefined;
  #beganMs = 0;
  #beganAt = '';
  #token: string | undefined;
  /** The token replaces one that expired, and has brought nothing yet. */
  #renewed = false;
  /** The server does not have the version of the store. */
  #newest = false;
  /** A page of a version that the store has not reached. */
  #held: ReceivedPage | undefined;
  #healing = false;
  /** Until then the server wants no request of the audit: its Retry-After. */
  #quietUntilMs = 0;
  #stopped = false;

  constructor(of: AuditParts<T>, tell: (status: AuditStatus) => void) {
    this.#of = of;
    this.#tell = tell;
    this.#passedMs = stopwatch(of.timing.scheduler);
    this.#pace = new AuditSchedule(of.periodMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#task.unsubscribe();
  }

  live(live: boolean): void {
    this.#live = live;
    if (!live && this.#held !== undefined) {
      this.#held = undefined;
      this.#task.unsubscribe();
      this.#due = true;
    }
    if (live && this.#due) this.#goWhenWanted();
  }

  received(deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      if (delta.type !== 'deleted') continue;
      const version = endOf(delta);
      this.#round?.end(delta.key, version);
      this.#ends.add(delta.key, version);
    }
  }

  committed(deltas: readonly Delta<T>[]): void {
    const { scope } = this.#of;
    for (const delta of deltas) {
      if ('key' in delta) {
        if (!inScope(delta.key, scope)) continue;
        if (delta.type === 'added' || delta.type === 'updated') this.#move(versionOf(delta.object));
        else if (delta.type === 'refused') this.#move(delta.refused.resourceVersion);
        else if (delta.type === 'deleted') this.#move(endOf(delta));
      } else if (delta.type === 'bookmark' || delta.type === 'replaced') {
        if ((delta.scope || undefined) !== (scope || undefined)) continue;
        if (delta.type === 'bookmark') this.#move(delta.resourceVersion);
        else this.#listed(delta.resourceVersion);
      }
    }
    this.#ends.reached(this.#version);
    if (this.#round === undefined) return;
    for (const delta of deltas) {
      if (delta.type === 'deleted') this.#round.end(delta.key, endOf(delta));
    }
    if (this.#held !== undefined && !isOlder(this.#version, this.#held.resourceVersion)) {
      this.#compare(this.#held, this.#round);
    }
  }

  #move(version: string): void {
    if (version !== '' && !isOlder(version, this.#version)) this.#version = version;
  }

  /** A list is as good as a round, and it takes the store to another state: the next round begins after it. */
  #listed(version: string): void {
    const { random } = this.#of.timing;
    // Of another history, whose versions would never be reached.
    if (isOlder(version, this.#version)) this.#ends.clear();
    this.#version = version;
    this.#forget();
    this.#wait(this.#pace.afterList(this.#healing, random()));
    this.#healing = false;
  }

  #forget(): void {
    this.#round = undefined;
    this.#token = undefined;
    this.#renewed = false;
    this.#held = undefined;
    this.#newest = false;
    this.#due = false;
    this.#task.unsubscribe();
  }

  /** At once, unless the server wants to be left alone for now. */
  #goWhenWanted(): void {
    if (this.#quietUntilMs <= this.#passedMs()) this.#go();
    else this.#wait(0);
  }

  #wait(leastMs: number): void {
    const delayMs = Math.max(leastMs, this.#quietUntilMs - this.#passedMs());
    this.#task.unsubscribe();
    // Whoever was told the status may have stopped the informer.
    if (this.#stopped) return;
    const { scheduler } = this.#of.timing;
    this.#task = longTimer(delayMs, scheduler).subscribe(() => this.#go());
  }

  #go(): void {
    if (this.#isLate()) return;
    if (this.#held !== undefined) {
      // It has waited for as long as rounds are apart.
      const { resourceVersion } = this.#held;
      this.#forget();
      const message = `the audit: the watch has not reached version ${resourceVersion} of the list`;
      this.#fail(ApiError.local('Silent', message));
      return;
    }
    if (this.#round === undefined) {
      this.#round = new Round(this.#of.store, this.#of.scope);
      for (const [key, version] of this.#ends) this.#round.end(key, version);
      this.#beganMs = this.#passedMs();
      this.#beganAt = this.#version;
    }
    this.#ask(this.#round);
  }

  #ask(round: Round<T>): void {
    const { listMetadata, timing, requestTimeoutMs } = this.#of;
    const exact = { resourceVersion: this.#version, resourceVersionMatch: 'Exact' as const };
    const from =
      this.#token !== undefined
        ? { resourceVersion: '', continue: this.#token }
        : this.#newest || this.#version === ''
          ? { resourceVersion: '' }
          : exact;
    const { scheduler } = timing;
    this.#task.unsubscribe();
    // Held before it is subscribed: a lister that answers synchronously must not be forgotten.
    const task = new Subscription();
    this.#task = task;
    task.add(
      auditPage(
        listMetadata,
        { ...from, limit: PAGE },
        { scheduler, timeoutMs: requestTimeoutMs },
      ).subscribe({
        next: (page) => this.#received(page, round),
        error: (error: ApiError) => this.#refused(error),
      }),
    );
  }

  #received(page: ReceivedPage, round: Round<T>): void {
    if (this.#isLate()) return;
    this.#pace.succeeded();
    this.#renewed = false;
    const { resourceVersion: version, next } = page;
    if (isOlder(version, this.#beganAt)) this.#wentBack(version);
    else if (next !== undefined && next === this.#token) {
      this.#forget();
      this.#fail(ApiError.local('Unexpected', 'the audit: the server repeated a continue token'));
    } else if (isOlder(this.#version, version)) {
      this.#held = page;
      this.#wait(this.#pace.betweenMs);
    } else this.#compare(page, round);
  }

  /** Nothing is asked or compared while the watch is not live: the page is asked for when it is again. */
  #isLate(): boolean {
    this.#due = !this.#live;
    return this.#due;
  }

  /** The server has another history now, or an older server answered: the list that heals finds out which. */
  #wentBack(version: string): void {
    const message = `the audit: the server is at version ${version}, behind ${this.#beganAt} of the store`;
    const { differed } = this.#status;
    const error = ApiError.local('Unexpected', message);
    this.#show({ ...this.#status, differed: differed + 1, error });
    this.#forget();
    this.#wait(this.#pace.betweenMs);
    this.#order();
  }

  #compare(page: ReceivedPage, round: Round<T>): void {
    this.#held = undefined;
    const { objects, resourceVersion, next } = page;
    round.page(objects, resourceVersion);
    if (next === undefined) {
      round.finish();
      this.#conclude(round);
      return;
    }
    this.#token = next;
    const pagesLeft = Math.ceil(round.left / Math.max(1, objects.size));
    this.#wait(this.#pace.afterPage(this.#passedMs() - this.#beganMs, pagesLeft));
  }

  #conclude({ compared, differed }: Round<T>): void {
    const { error: _error, ...before } = this.#status;
    this.#show({
      ...before,
      lastAt: this.#of.timing.scheduler.now(),
      compared: before.compared + compared,
      differed: before.differed + differed.length,
      ...(differed.length === 0 ? {} : { differedKeys: differed.slice(0, SHOWN) }),
    });
    this.#forget();
    this.#wait(this.#pace.afterRound(this.#passedMs() - this.#beganMs));
    if (differed.length > 0) this.#order();
  }

  /** Orders the list that heals. A committed list takes back the timer of the next round. */
  #order(): void {
    if (this.#stopped) return;
    this.#healing = true;
    this.#of.heal();
  }

  /** A request failed: what to ask next, and when. */
  #refused(error: ApiError): void {
    const { retryAfterMs } = error;
    if (retryAfterMs !== undefined) this.#quietUntilMs = this.#passedMs() + retryAfterMs;
    if (this.#isLate()) return;
    const token = error.isExpired ? error.status?.metadata?.continue : undefined;
    if (this.#token !== undefined && token && !this.#renewed) {
      // The server forgot the version of the pages before; from the same key on it shows a newer one.
      this.#token = token;
      this.#renewed = true;
      this.#goWhenWanted();
      return;
    }
    const answered = error.code >= 400 && error.code < 500 && error.code !== 429;
    const unavailable = answered || error.isTooLargeResourceVersion;
    if (this.#token === undefined && !this.#newest && unavailable && !isDenied(error)) {
      this.#newest = true;
      this.#goWhenWanted();
      return;
    }
    // The round goes on with the same page if that can help.
    if (!error.retryable) this.#forget();
    this.#fail(error);
  }

  #fail(error: ApiError): void {
    this.#show({ ...this.#status, error });
    this.#wait(this.#pace.afterFailure());
  }

  #show(status: AuditStatus): void {
    this.#status = status;
    this.#tell(status);
  }
}

/** Whether another version would be refused as well. */
function isDenied({ code }: ApiError): boolean {
  return code === 401 || code === 403 || code === 404 || code === 405 || code === 406;
}

/**
 * Audits one collection for as long as it is subscribed. Emits a status after each comparison and each failure; never
 * completes or errors. Nothing is compared or requested while the watch is not live.
 */
export function audit<T extends KubernetesObject>(parts: AuditParts<T>): Observable<AuditStatus> {
  return new Observable<AuditStatus>((subscriber) => {
    const auditor = new Auditor(parts, (status) => subscriber.next(status));
    subscriber.add(() => auditor.stop());
    subscriber.add(parts.received$.subscribe((deltas) => auditor.received(deltas)));
    subscriber.add(parts.committed$.subscribe((deltas) => auditor.committed(deltas)));
    subscriber.add(parts.live$.subscribe((live) => auditor.live(live)));
  });
}
