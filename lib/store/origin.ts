/**
 * Where the rows of a stream come from. Each change set carries it, so that it passes every operator of RxJS. A stream also tells
 * whoever subscribes to it, before its first set, so that a reader knows it behind an operator that holds sets back.
 */
import { Observable, type Subscriber } from 'rxjs';

/** Where the rows of a change set come from, in the types that each stage knows. */
export interface Origin {
  /** What emits the sets: an informer, or one subscription of an operator. */
  readonly emitter: object;
  /** One more than the highest rank of the sources; 0 for a stream that is no live operator's. */
  readonly rank: number;
  /** The status of each informer that the stream reads. */
  readonly informers: ReadonlySet<Observable<unknown>>;
  /** Merges the status of several informers. */
  readonly merge?: ((statuses: readonly never[]) => unknown) | undefined;
  /** The rows that the operators before it have refused. */
  readonly refusedRows: ReadonlySet<object>;
  /** Whether the rows are of several clusters, and say of which. */
  readonly isOverClusters?: boolean | undefined;
  /** The subscription that the set was made for; closed if nobody follows its rows any more. Absent if it was made for several. */
  readonly subscription?: { readonly closed: boolean } | undefined;
}

const NONE: ReadonlySet<never> = /* @__PURE__ */ new Set();

/** That of a stream of which nothing is known. */
export const UNKNOWN: Origin = { emitter: NONE, rank: 0, informers: NONE, refusedRows: NONE };

/** The origin of the streams of an informer. */
export function originFrom(informer: Partial<Origin> & Pick<Origin, 'emitter'>): Origin {
  return { ...UNKNOWN, ...informer };
}

/** Who is told the origins of the streams that are being subscribed. */
let reader: ((origin: Origin) => void) | undefined;

/** Calls `found` with the origin of each stream that `subscribe` subscribes to; of those behind them, nobody is told. */
export function readOrigins(
  found: ((origin: Origin) => void) | undefined,
  subscribe: () => void,
): void {
  const outer = reader;
  reader = found;
  try {
    subscribe();
  } finally {
    reader = outer;
  }
}

/**
 * A stream that tells whoever subscribes where its rows come from: `tell` is called before the first set. It returns the origin of
 * the sets that are made for this subscriber.
 */
export function originating<S>(
  subscribe: (subscriber: Subscriber<S>, tell: (origin: Origin) => Origin) => void,
): Observable<S> {
  return new Observable<S>((subscriber) => {
    const outer = reader;
    const tell = (origin: Origin) => {
      const own = { ...origin, subscription: subscriber };
      outer?.(own);
      return own;
    };
    // What it subscribes to itself, or what its first set causes, is no source of the reader.
    readOrigins(undefined, () => subscribe(subscriber, tell));
  });
}

function hasSame(one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): boolean {
  return one === other || (one.size === other.size && [...one].every((each) => other.has(each)));
}

/** Whether two origins say the same, perhaps of different emitters and subscriptions. */
export function isSameOrigin(one: Origin, other: Origin): boolean {
  return (
    one.rank === other.rank &&
    hasSame(one.informers, other.informers) &&
    hasSame(one.refusedRows, other.refusedRows) &&
    (one.isOverClusters === true) === (other.isOverClusters === true)
  );
}

/** The origin of a stream that has the rows of all of these. */
export function unite(origins: readonly Origin[]): Origin {
  const [first = UNKNOWN] = origins;
  if (origins.length < 2) return first;
  return {
    emitter: first.emitter,
    rank: Math.max(...origins.map(({ rank }) => rank)),
    informers: new Set(origins.flatMap(({ informers }) => [...informers])),
    merge: origins.find(({ merge }) => merge !== undefined)?.merge,
    refusedRows: new Set(origins.flatMap(({ refusedRows }) => [...refusedRows])),
    isOverClusters: origins.some((each) => each.isOverClusters),
  };
}
