/**
 * Compares what the page shows with what the server held at the same resourceVersion. One number
 * stands for all pods, kept up to date as they change, so that comparing 10,000 of them costs nothing.
 */
import type { Truth } from '../../shared/messages.ts';
import { podList } from './live-pods.ts';

/** The outcome of a comparison. */
export interface Verdict {
  readonly equal: boolean;
  /** Pods on the page. */
  readonly count: number;
  readonly resourceVersion: string;
  /** Changes that the server has made since. */
  readonly ahead: number;
}

/** `undefined` before the first list is in. Rejects when the server cannot be asked. */
export async function checkTruth(): Promise<Verdict | undefined> {
  const { synced, total, resourceVersion, fingerprint } = podList.getSnapshot();
  if (!synced) return undefined;
  const answer = await fetch(`/embedded/truth?resourceVersion=${resourceVersion}`);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const truth = (await answer.json()) as Truth;
  return {
    equal: truth.count === total && truth.fingerprint === fingerprint,
    count: total,
    resourceVersion,
    ahead: truth.ahead,
  };
}
