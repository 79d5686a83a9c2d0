/** The informers of a view's pipe: their merged status, and the end of their runs. */
import { type Observable, Subscription } from 'rxjs';
import { type InformerStatus, mergeStatus } from '../../informer/status/status.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';

/**
 * Several informers as one: the phase that needs most attention, the oldest staleness, counters added up. Without their
 * audits and scopes.
 */
export function mergeInformerStatus(statuses: readonly InformerStatus[]): Partial<InformerStatus> {
  const [first] = statuses;
  if (first === undefined || statuses.length === 1) return first ?? {};
  const sum = (field: 'quarantined' | 'skipped' | 'unknownDeletions') =>
    statuses.reduce((all, status) => all + status[field], 0);
  const quarantine = statuses.flatMap((status) => status.quarantine ?? []);
  const merged = mergeStatus(statuses as unknown as readonly ReflectorStatus[]);
  // Parts of one informer only, which say nothing about the others.
  const { audit, scopes, ...common } = merged as unknown as InformerStatus;
  return {
    ...common,
    quarantined: sum('quarantined'),
    skipped: sum('skipped'),
    unknownDeletions: sum('unknownDeletions'),
    generation: Math.max(...statuses.map(({ generation }) => generation)),
    ...(quarantine.length === 0 ? {} : { quarantine }),
  };
}

/** Whether the informer is at rest: stopped, or without a subscriber. */
export function isResting({ phase }: InformerStatus): boolean {
  return phase === 'stopped' || phase === 'idle';
}

/** Follows the status of informers over any number of stops and starts, until it is unsubscribed. */
export class FollowedInformers extends Subscription {
  readonly #latest: (InformerStatus | undefined)[];
  /** The informers that were stopped, and whose next run the view has not subscribed to. */
  readonly #stopped = new Set<number>();
  /** Follow an informer again that was removed from its factory, which completes its status. */
  readonly #again: (() => void)[] = [];
  readonly #onStatus: () => void;
  readonly #onRestart: () => void;

  constructor(
    informers: readonly Observable<InformerStatus>[],
    onStatus: () => void,
    onRestart: () => void,
  ) {
    super();
    this.#latest = informers.map(() => undefined);
    this.#onStatus = onStatus;
    this.#onRestart = onRestart;
    for (const [at, status$] of informers.entries()) this.#follow(at, status$);
  }

  get statuses(): readonly InformerStatus[] {
    return this.#latest.filter((status) => status !== undefined);
  }

  /** The view subscribes to its source now, which starts the next run of stopped informers, also of removed ones. */
  subscribed(): void {
    for (const follow of this.#again.splice(0)) follow();
    this.#stopped.clear();
  }

  #follow(at: number, status$: Observable<InformerStatus>): void {
    const next = (status: InformerStatus) => {
      this.#latest[at] = status;
      if (status.phase === 'stopped') this.#stopped.add(at);
      else if (this.#stopped.delete(at)) this.#onRestart();
      this.#onStatus();
    };
    const complete = () => {
      this.#stopped.delete(at);
      this.#again.push(() => this.#follow(at, status$));
    };
    this.add(status$.subscribe({ next, complete }));
  }
}
