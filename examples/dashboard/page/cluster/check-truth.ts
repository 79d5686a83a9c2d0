/**
 * Compares the pods that the worker holds for the page with the server at the same resourceVersion. Both sides keep a fingerprint of all pods up
 * to date, so that comparing 10,000 of them costs nothing.
 */
import type { ViewSnapshot } from 'rx-informer';
import { workerQuery } from 'rx-informer/worker';
import { Subscription } from 'rxjs';
import type { Truth } from '../../shared/messages.ts';
import type { HeldPods } from '../worker/one-row.ts';
import { cluster, paused$, type Queries } from './cluster.ts';
import { onlyNamespace } from './settings.ts';
import { isLive } from './status-words.ts';

export interface Verdict {
  readonly equal: boolean;
  /** Pods that the worker holds. */
  readonly count: number;
  readonly resourceVersion: string;
  /** The number of later changes on the server. */
  readonly ahead: number;
  readonly atMs: number;
}

/** Follows the pods and compares them on demand. */
export class TruthChecker {
  readonly #view = cluster.view(workerQuery<Queries, 'truth'>('truth'));
  /** The snapshot that is compared. While the table is paused, it is the one from before the pause. */
  #shown: ViewSnapshot<HeldPods> = this.#view.getSnapshot();

  start(): () => void {
    const look = () => {
      if (!paused$.value || !this.#shown.synced) this.#shown = this.#view.getSnapshot();
    };
    const held = new Subscription(this.#view.subscribe(look));
    held.add(paused$.subscribe(look));
    return () => held.unsubscribe();
  }

  /**
   * Returns `undefined` if the worker does not follow the server now, because a comparison with what was received earlier
   * says nothing about what is missing. Rejects if the server does not answer.
   */
  async check(): Promise<Verdict | undefined> {
    const { rows, synced, status } = this.#shown;
    const [held] = rows;
    if (held === undefined || !synced || !isLive(status) || onlyNamespace !== '') return undefined;
    const { resourceVersion, count } = held;
    const answer = await fetch(`/embedded/truth?resourceVersion=${resourceVersion}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const truth = (await answer.json()) as Truth;
    if (!isLive(this.#view.getSnapshot().status)) return undefined;
    const equal = truth.count === count && truth.fingerprint === held.fingerprint;
    return { equal, count, resourceVersion, ahead: truth.ahead, atMs: Date.now() };
  }
}
