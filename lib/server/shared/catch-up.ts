/** A page that comes from another server may have seen more than the informers of this one have yet. */
import { Observable, type SchedulerLike } from 'rxjs';
import { isAtLeast } from '../../informer/waits.ts';
import type { Resource } from '../../meta/resource.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { AnswerLag } from '../../wire/query-feed.ts';
import { type HeldQueries, kindKey } from './held-queries.ts';
import type { Versions } from './positions.ts';

/** How long answers are kept back, in milliseconds. Afterwards they are sent as old ones. */
const AWAIT_MS = 1_000;
/** How long it is believed that the informers will get there, in milliseconds. An API server that was restored is behind for good. */
const BELIEVED_MS = 60_000;

/** The parts of a catch-up. */
export interface CatchUpParts {
  readonly held: HeldQueries;
  /** What the page has seen. */
  readonly seen: Versions;
  readonly scheduler: SchedulerLike;
}

export class CatchUp {
  readonly #parts: CatchUpParts;
  readonly #passedMs: () => number;
  /** Resolve when the informer of a kind has what the page has seen, or when that is no longer believed. Never reject. */
  readonly #reached = new Map<string, Promise<void>>();

  constructor(parts: CatchUpParts) {
    this.#parts = parts;
    this.#passedMs = stopwatch(parts.scheduler);
  }

  /** What the answers of these kinds lag behind, until they do not; `undefined` if they do not at all. */
  lagOf(kinds: readonly Resource[]): Observable<AnswerLag> | undefined {
    const behind = kinds.map(kindKey).filter((kind) => this.#isBehind(kind));
    if (behind.length === 0) return undefined;
    return new Observable((subscriber) => {
      const { scheduler } = this.#parts;
      subscriber.next('awaited');
      subscriber.add(looseTimer(AWAIT_MS, scheduler, () => subscriber.next('old')));
      void Promise.all(behind.map((kind) => this.#whenReached(kind))).then(() => {
        subscriber.next('none');
        subscriber.complete();
      });
    });
  }

  /** How far the page is: where the informers are behind, it keeps the rows that it has. */
  get versions(): Versions {
    const { held, seen } = this.#parts;
    const behind = [...seen].filter(([kind]) => this.#isBehind(kind));
    return new Map([...held.versions, ...behind]);
  }

  #isBehind(kind: string): boolean {
    const { held, seen } = this.#parts;
    const version = seen.get(kind);
    if (version === undefined || this.#passedMs() >= BELIEVED_MS) return false;
    return !isAtLeast(held.informerOf(kind).indexer, version);
  }

  #whenReached(kind: string): Promise<void> {
    const known = this.#reached.get(kind);
    if (known !== undefined) return known;
    const { held, seen } = this.#parts;
    const timeoutMs = BELIEVED_MS - this.#passedMs();
    const reached = held
      .informerOf(kind)
      .whenAtLeast(seen.get(kind) as string, { timeoutMs })
      .catch(() => undefined);
    this.#reached.set(kind, reached);
    return reached;
  }
}
