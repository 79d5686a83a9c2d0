/**
 * Compares the pods of the page with the server at the same resourceVersion. Both sides keep a fingerprint of all pods up
 * to date, so that comparing 10,000 of them costs nothing.
 */
import {
  type Aggregate,
  count,
  type LiveQuery,
  liveGroupBy,
  liveQuery,
  liveShare,
  toView,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { Subscription } from 'rxjs';
import { versionHash, withHash, withoutHash } from '../../shared/fingerprint.ts';
import type { Truth } from '../../shared/messages.ts';
import { onlyNamespace, paced, queries } from './cluster.ts';
import { isLive } from './status-words.ts';

/** The outcome of a comparison. */
export interface Verdict {
  readonly equal: boolean;
  /** Pods on the page. */
  readonly count: number;
  readonly resourceVersion: string;
  /** The number of later changes on the server. */
  readonly ahead: number;
  readonly atMs: number;
}

/** The fingerprint of pods and their versions. */
const fingerprint: Aggregate<Pod, number, number, number> = {
  value: ({ metadata }) => versionHash(metadata.uid, metadata.resourceVersion),
  initial: () => 0,
  add: withHash,
  remove: withoutHash,
  result: (sum) => sum,
};

/** Follows the pods and compares them on demand. */
export class TruthChecker {
  readonly #pods$ = queries
    .stream(liveQuery({ from: pods }) as LiveQuery<Pod, false>)
    .pipe(paced<Pod>(), liveShare());
  readonly #totals = this.#pods$.pipe(
    liveGroupBy(() => 'all', { pods: count<Pod>(), fingerprint }),
    toView(),
  );
  #resourceVersion = '';

  start(): () => void {
    const held = new Subscription();
    held.add(this.#totals.subscribe(() => undefined));
    held.add(
      this.#pods$.subscribe(({ resourceVersion }) => {
        this.#resourceVersion = resourceVersion;
      }),
    );
    return () => held.unsubscribe();
  }

  /**
   * Returns `undefined` if the page does not follow the server now, because a comparison with what was received earlier
   * says nothing about what is missing. Rejects if the server does not answer.
   */
  async check(): Promise<Verdict | undefined> {
    const { rows, synced, status } = this.#totals.getSnapshot();
    const resourceVersion = this.#resourceVersion;
    if (!synced || !isLive(status) || onlyNamespace !== '') return undefined;
    const { pods: size, fingerprint: shown } = rows[0] ?? { pods: 0, fingerprint: 0 };
    const answer = await fetch(`/embedded/truth?resourceVersion=${resourceVersion}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const truth = (await answer.json()) as Truth;
    if (!isLive(this.#totals.getSnapshot().status)) return undefined;
    const equal = truth.count === size && truth.fingerprint === shown;
    return { equal, count: size, resourceVersion, ahead: truth.ahead, atMs: Date.now() };
  }
}
