/**
 * Compares the page with the server at the same resourceVersion. Both sides keep a fingerprint of all pods up to
 * date, so that comparing 10,000 of them costs nothing.
 */
import type { Truth } from '../../shared/messages.ts';
import { podQueries } from './live-pods.ts';

/** The outcome of a comparison. */
export interface Verdict {
  readonly equal: boolean;
  /** Pods on the page. */
  readonly count: number;
  readonly resourceVersion: string;
  /** The number of later changes on the server. */
  readonly ahead: number;
}

/** Returns `undefined` before the initial list. Rejects if the server does not answer. */
export async function checkTruth(): Promise<Verdict | undefined> {
  const { received$, totals } = podQueries;
  const { rows, synced } = totals.getSnapshot();
  if (!synced) return undefined;
  const { resourceVersion } = received$.value;
  const { pods: count, fingerprint } = rows[0] ?? { pods: 0, fingerprint: 0 };
  const answer = await fetch(`/embedded/truth?resourceVersion=${resourceVersion}`);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const truth = (await answer.json()) as Truth;
  return {
    equal: truth.count === count && truth.fingerprint === fingerprint,
    count,
    resourceVersion,
    ahead: truth.ahead,
  };
}
