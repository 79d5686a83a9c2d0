/**
 * Compares a store with its server periodically while the watch is live, to find events that the watch lost silently.
 *
 * A round requests the collection's metadata exactly at the version of the store, so that changes in flight do not
 * count as differences. If the server no longer has that version, the round requests the newest one and compares it
 * once the store has reached it.
 */
import { Subscription } from 'rxjs';
import { versionOfDeletion } from '../delta/outdated-deletions.ts';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import { auditPage, type MetadataLister, PageCursor, type ReceivedPage } from './pages.ts';
import { PendingDeletions } from './pending-deletions.ts';
import { Repairs } from './repairs.ts';
import { Round } from './round.ts';
import { AuditSchedule } from './schedule.ts';
import { type AuditStatus, SHOWN_KEYS, unaudited } from './status.ts';

/** Objects per page. */
const PAGE = 500;

/** The inputs of an audit. */
export interface AuditParts<T extends KubernetesObject> {
  readonly listMetadata: MetadataLister;
  readonly scope: string | undefined;
  readonly store: KnownObjects<T>;
  readonly periodMs: number;
  readonly requestTimeoutMs: number;
  readonly timing: ResolvedTiming;
  /** Requests a list that compares the contents of objects, not their versions. */
  repair(): void;
  /** Receives the status after each comparison and each failure. */
  publish(status: AuditStatus): void;
}

/** The error of a round whose differences were there before the last list, too. */
function notRepaired(keys: readonly string[]): ApiError {
  const message =
    `the audit: lists do not repair ${keys.length} objects, such as ${keys[0]}; ` +
    'compare what a list of the objects and a list of their metadata contain';
  return ApiError.local('Unexpected', message);
}

/**
 * The audit of one collection. Nothing is requested or compared while the watch is not live.
 */
export class Auditor<T extends KubernetesObject> {
  readonly #parts: AuditParts<T>;
  readonly #elapsedMs: () => number;
  readonly #schedule: AuditSchedule;
  /** The current timer or request. */
  #task = new Subscription();
  #status = unaudited;
  #live = false;
  /** A page is due, but waits for the watch to be live. */
  #due = false;
  /** The version that the store has reached in this scope; '' before its first list. */
  #version = '';
  readonly #deletions = new PendingDeletions();
  #round: Round<T> | undefined;
  #beganMs = 0;
  #beganVersion = '';
  readonly #cursor = new PageCursor();
  /** A page at a version that the store has not reached. */
  #held: ReceivedPage | undefined;
  #repairing = false;
  readonly #repairs = new Repairs();
  /** No request is sent before this time, because of a Retry-After. */
  #quietUntilMs = 0;
  #stopped = false;

  constructor(parts: AuditParts<T>) {
    this.#parts = parts;
    this.#elapsedMs = stopwatch(parts.timing.scheduler);
    this.#schedule = new AuditSchedule(parts.periodMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#task.unsubscribe();
  }

  /** The watch of this scope is live, or no longer live. */
  live(live: boolean): void {
    this.#live = live;
    if (!live && this.#held !== undefined) {
      this.#held = undefined;
      this.#task.unsubscribe();
      this.#due = true;
    }
    if (live && this.#due) this.#wait(0);
  }

  /** The reflectors have emitted these deltas, which wait for their commit. */
  received(deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      // A deletion of another scope would be kept until this one has reached its version, which may be never.
      if (delta.type !== 'deleted' || !inScope(delta.key, this.#parts.scope)) continue;
      const version = versionOfDeletion(delta);
      this.#round?.deleted(delta.key, version);
      this.#deletions.add(delta.key, version);
    }
  }

  /** The store has committed these deltas. */
  committed(deltas: readonly Delta<T>[]): void {
    const { scope } = this.#parts;
    for (const delta of deltas) {
      if ('key' in delta) {
        if (!inScope(delta.key, scope)) continue;
        if (delta.type === 'added' || delta.type === 'updated')
          this.#advance(versionOf(delta.object));
        else if (delta.type === 'refused') this.#advance(delta.refused.resourceVersion);
        else if (delta.type === 'deleted') {
          const version = versionOfDeletion(delta);
          this.#advance(version);
          this.#round?.deleted(delta.key, version);
        }
      } else if (delta.type === 'bookmark' || delta.type === 'replaced') {
        if ((delta.scope || undefined) !== (scope || undefined)) continue;
        if (delta.type === 'bookmark') this.#advance(delta.resourceVersion);
        else this.#listed(delta.resourceVersion);
      }
    }
    this.#deletions.reached(this.#version);
    if (this.#round === undefined) return;
    if (this.#held !== undefined && !isOlder(this.#version, this.#held.resourceVersion)) {
      this.#compare(this.#held, this.#round);
    }
  }

  #advance(version: string): void {
    if (version !== '' && !isOlder(version, this.#version)) this.#version = version;
  }

  /** Ends the round without a result, because the list has compared all objects and changed the store. */
  #listed(version: string): void {
    const { random } = this.#parts.timing;
    // The server has another history now, whose versions may never reach those of the pending deletions.
    if (isOlder(version, this.#version)) this.#deletions.clear();
    this.#version = version;
    this.#reset();
    this.#wait(this.#schedule.afterList(this.#repairing, random()));
    this.#repairing = false;
  }

  #reset(): void {
    this.#round = undefined;
    this.#cursor.reset();
    this.#held = undefined;
    this.#due = false;
    this.#task.unsubscribe();
  }

  /** Sends the next request after this time, but not before the Retry-After. */
  #wait(leastMs: number): void {
    const delayMs = Math.max(leastMs, this.#quietUntilMs - this.#elapsedMs());
    this.#task.unsubscribe();
    // A subscriber to the status may have stopped the informer.
    if (this.#stopped) return;
    const { scheduler } = this.#parts.timing;
    this.#task = longTimer(delayMs, scheduler).subscribe(() => this.#next());
  }

  #next(): void {
    if (this.#mustWait()) return;
    if (this.#held !== undefined) {
      // The page has waited for as long as the time between two rounds.
      const { resourceVersion } = this.#held;
      this.#reset();
      const message = `the audit: the watch has not reached version ${resourceVersion} of the list`;
      this.#fail(ApiError.local('Silent', message));
      return;
    }
    if (this.#round === undefined) {
      this.#round = new Round(this.#parts.store, this.#parts.scope);
      for (const [key, version] of this.#deletions) this.#round.deleted(key, version);
      this.#beganMs = this.#elapsedMs();
      this.#beganVersion = this.#version;
    }
    this.#request(this.#round);
  }

  #request(round: Round<T>): void {
    const { listMetadata, timing, requestTimeoutMs } = this.#parts;
    const { scheduler } = timing;
    // Set before the request is subscribed, because a lister that responds synchronously may replace it.
    const task = new Subscription();
    this.#task = task;
    task.add(
      auditPage(
        listMetadata,
        { ...this.#cursor.next(this.#version), limit: PAGE },
        { scheduler, timeoutMs: requestTimeoutMs },
      ).subscribe({
        next: (page) => this.#received(page, round),
        error: (error: ApiError) => this.#refused(error),
      }),
    );
  }

  #received(page: ReceivedPage, round: Round<T>): void {
    if (this.#mustWait()) return;
    this.#schedule.succeeded();
    const { resourceVersion: version, next } = page;
    const isRepeated = this.#cursor.received(next);
    if (isOlder(version, this.#beganVersion)) this.#serverIsBehind(version);
    else if (isRepeated) {
      this.#reset();
      this.#fail(ApiError.local('Unexpected', 'the audit: the server repeated a continue token'));
    } else if (isOlder(this.#version, version)) {
      this.#held = page;
      this.#wait(this.#schedule.betweenMs);
    } else this.#compare(page, round);
  }

  /** Nothing is requested or compared while the watch is not live. The page is requested when it is live again. */
  #mustWait(): boolean {
    this.#due = !this.#live;
    return this.#due;
  }

  /** The server was restored, or a replica that lags behind has responded. The repairing list finds out which. */
  #serverIsBehind(version: string): void {
    const message = `the audit: the server is at version ${version}, behind ${this.#beganVersion} of the store`;
    const { differed } = this.#status;
    const error = ApiError.local('Unexpected', message);
    this.#show({ ...this.#status, differed: differed + 1, error });
    this.#reset();
    this.#wait(this.#schedule.betweenMs);
    this.#repair();
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
    this.#cursor.advance(next);
    const pagesLeft = Math.ceil(round.left / Math.max(1, objects.size));
    this.#wait(this.#schedule.afterPage(this.#elapsedMs() - this.#beganMs, pagesLeft));
  }

  #conclude({ compared, differed, ghosts, missing }: Round<T>): void {
    const { error: _error, ...before } = this.#status;
    const lasting = this.#repairs.take(differed);
    this.#show({
      ...before,
      lastAt: this.#parts.timing.scheduler.now(),
      compared: before.compared + compared,
      differed: before.differed + differed.size,
      ghosts: before.ghosts + ghosts,
      missing: before.missing + missing,
      ...(differed.size === 0 ? {} : { differedKeys: [...differed.keys()].slice(0, SHOWN_KEYS) }),
      ...(lasting.length === 0 ? {} : { error: notRepaired(lasting) }),
    });
    this.#reset();
    this.#wait(this.#schedule.afterRound(this.#elapsedMs() - this.#beganMs));
    if (this.#repairs.isDue) this.#repair();
  }

  /** Requests the repairing list. When that list is committed, the timer of the next round starts again. */
  #repair(): void {
    if (this.#stopped) return;
    this.#repairing = true;
    this.#parts.repair();
  }

  /** Chooses the next request after a failure, and its time. */
  #refused(error: ApiError): void {
    const { retryAfterMs } = error;
    if (retryAfterMs !== undefined) this.#quietUntilMs = this.#elapsedMs() + retryAfterMs;
    if (this.#mustWait()) return;
    if (this.#cursor.evade(error)) {
      this.#wait(0);
      return;
    }
    // If a retry can help, the round continues with the same page.
    if (!error.retryable) this.#reset();
    this.#fail(error);
  }

  #fail(error: ApiError): void {
    this.#show({ ...this.#status, error });
    this.#wait(this.#schedule.afterFailure());
  }

  #show(status: AuditStatus): void {
    this.#status = status;
    this.#parts.publish(status);
  }
}
