/** The history of the API server, with which the samples of readers are compared. */
import type { Sample } from './reader.ts';

/** The state of the API server after one change, for a namespace and for everything. */
export interface Truth {
  readonly version: number;
  readonly namespace: string;
  /** The digests after the change. */
  readonly ofNamespace: string;
  readonly ofAll: string;
  readonly atMs: number;
}

interface Moment {
  readonly version: number;
  readonly digest: string;
  readonly atMs: number;
}

/** The verdict on one sample. */
export interface Verdict {
  /** Whether the reader has exactly what the API server had at the reader's version. */
  readonly isRight: boolean;
  /** The version up to which the reader is complete is older than a change that was made at this time. */
  readonly behindSinceMs: number;
}

export class Judge {
  readonly #scopes = new Map<string, Moment[]>();

  note({ version, namespace, ofNamespace, ofAll, atMs }: Truth): void {
    this.#add(namespace, { version, digest: ofNamespace, atMs });
    this.#add('', { version, digest: ofAll, atMs });
  }

  /** Compares a sample with the state of the API server at the version of the sample. */
  verdict({ namespace, version, digest }: Sample): Verdict {
    const moments = this.#scopes.get(namespace) ?? [];
    let [low, high] = [0, moments.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((moments[middle]?.version ?? 0) <= version) low = middle + 1;
      else high = middle;
    }
    return {
      isRight: moments[low - 1]?.digest === digest,
      behindSinceMs: moments[low]?.atMs ?? Number.POSITIVE_INFINITY,
    };
  }

  /** The newest digest of a scope. */
  newest(namespace: string): string {
    return this.#scopes.get(namespace)?.at(-1)?.digest ?? '';
  }

  #add(scope: string, moment: Moment): void {
    const moments = this.#scopes.get(scope) ?? [];
    this.#scopes.set(scope, moments);
    moments.push(moment);
  }
}
