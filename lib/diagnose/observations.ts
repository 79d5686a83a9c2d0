/** What a diagnosis has observed, as plain data: the input of `judge`, which needs neither a server nor a clock. */
import type { EpochMs } from '../rx/timing.ts';

/** A failed request. */
export interface SeenError {
  /** The reason of an `ApiError`. */
  readonly reason: string;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly message: string;
  /** The code of the system, such as `ECONNREFUSED`; absent in a page. */
  readonly systemCode?: string | undefined;
}

/** The credentials that a client sends. A diagnosis never contains the credentials themselves. */
export interface SeenCredentials {
  readonly kind: 'none' | 'token' | 'basic' | 'certificate';
  /** When they were issued and when they end, if they say so, in milliseconds. */
  readonly issuedAtMs?: EpochMs | undefined;
  readonly expiresAtMs?: EpochMs | undefined;
  /** Whether the client obtains new ones by itself: from a file or a plugin. */
  readonly renews: boolean;
}

/** What only the platform knows about a connection: `rx-informer/node` finds it out with `inspectKubeConfig`. */
export interface ConnectionFacts {
  readonly credentials?: SeenCredentials | undefined;
  /** Such as `TLSv1.3`; absent without TLS. */
  readonly tls?: string | undefined;
  /** When the server's certificate ends, in milliseconds. */
  readonly certificateEndsAtMs?: EpochMs | undefined;
}

/** One request for the version of the server. */
export interface SeenReach {
  readonly error?: SeenError | undefined;
  /** The time until the response, in milliseconds. */
  readonly tookMs?: number | undefined;
  /** How far the client's clock is ahead of the server's, in milliseconds; negative if it is behind. */
  readonly clockAheadMs?: number | undefined;
  /** Such as `v1.37.0`; absent if the response is not that of an API server. */
  readonly version?: string | undefined;
  /** Such as `h2`. A page knows it only if the server allows that. */
  readonly protocol?: string | undefined;
  /** How many more requests can be open at a time. */
  readonly connectionsLeft?: number | undefined;
}

/** A right of the client; `undefined` if the server did not say. */
export interface SeenRight {
  /** Such as `pods`, `deployments.apps`. */
  readonly resource: string;
  /** '' for all namespaces. */
  readonly namespace: string;
  readonly verb: 'list' | 'watch';
  readonly allowed: boolean | undefined;
}

/** An empty list of one kind. */
export interface SeenList {
  readonly resource: string;
  readonly encoding?: string | undefined;
  readonly error?: SeenError | undefined;
}

/** A short watch. Times are in milliseconds since it was sent. */
export interface SeenWatch {
  readonly resource: string;
  /** How long the server was asked to keep it open. */
  readonly askedMs: number;
  readonly headMs?: number | undefined;
  readonly encoding?: string | undefined;
  /** When the first bookmark arrived. */
  readonly bookmarkMs?: number | undefined;
  readonly endMs: number;
  /** The sum of the pauses in which this process did not run, as on a busy machine. Data of a pause only looks late. */
  readonly stalledMs?: number | undefined;
  /** `late`: the server should have ended it long ago. `left`: the diagnosis had seen enough. */
  readonly ended: 'cleanly' | 'broken' | 'late' | 'left';
  readonly error?: SeenError | undefined;
}

/** An informer of the factory. */
export interface SeenInformer {
  readonly name: string;
  readonly phase: string;
  readonly live: boolean;
  readonly blocked?: string | undefined;
  readonly heldBack: boolean;
  readonly error?: SeenError | undefined;
}

/** Everything that a diagnosis has observed. */
export interface Observations {
  readonly atMs: EpochMs;
  readonly facts: ConnectionFacts;
  readonly reach: SeenReach;
  readonly rights: readonly SeenRight[];
  readonly lists: readonly SeenList[];
  /** A watch that begins with a list (a streaming list). Its response begins at once, and its list is empty. */
  readonly streamed?: SeenWatch | undefined;
  /** A watch without a list, of which nothing but the head arrives before its last bookmark. */
  readonly quiet?: SeenWatch | undefined;
  readonly informers: readonly SeenInformer[];
}
