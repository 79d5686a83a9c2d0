/**
 * The messages between a tab and its worker. Every message that belongs to a session carries the incarnation of the
 * worker and the epoch of the session, because a port may outlive both.
 */
import type { CarriedError } from '../wire/carried-errors.ts';
import type { RowDifference } from '../wire/row-difference.ts';
import type { CarriedQuery } from './carried-query.ts';

/** The version of these messages. A tab and a worker of different versions do not talk to each other. */
export const PROTOCOL = 2;

/** Which incarnation of the worker a message belongs to, and which session of it. */
export interface Session {
  readonly incarnation: string;
  readonly epoch: number;
}

/** Headers of requests, such as `authorization`. */
export type Credentials = Readonly<Record<string, string>>;

/** The difference of one query of a tab. */
export interface AskedDifference extends RowDifference {
  readonly id: number;
}

/** An edit, without the function that makes it, which stays in the page. */
export interface CarriedEdit {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Only this object, not another one that has its name. */
  readonly uid?: string | undefined;
  /** The options that are data. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** What a tab sends within a session. */
export type OfSession =
  /** Also of an open query, which has ended and begins again. */
  | { readonly type: 'open'; readonly id: number; readonly query: CarriedQuery }
  | { readonly type: 'close'; readonly id: number }
  /** Acknowledges the set with this number. An acknowledgement that arrives late does not count for a later set. */
  | { readonly type: 'ack'; readonly set?: number | undefined }
  | { readonly type: 'edit'; readonly id: number; readonly edit: CarriedEdit }
  | { readonly type: 'edit-abort'; readonly id: number }
  | {
      readonly type: 'draft';
      readonly id: number;
      readonly draft?: unknown;
      readonly error?: CarriedError;
    }
  | {
      readonly type: 'credentials';
      readonly id: number;
      readonly headers?: Credentials;
      readonly error?: CarriedError;
    };

/** What a tab sends. */
export type FromTab =
  | {
      readonly type: 'hello';
      readonly protocol: number;
      /** When it was sent. It waits for a worker that loads, and its user may have signed out meanwhile. */
      readonly sentMs?: number | undefined;
      /** Absent while nobody is signed in. */
      readonly identity?: string | undefined;
      /** The session in which the tab was before, with this identity. Without an identity it has ended. */
      readonly former?: Session | undefined;
      /** The identity that has signed out in the tab, if no worker has confirmed it. */
      readonly signedOut?: string | undefined;
      readonly isHidden: boolean;
      /** Whether the tab can be asked for credentials. */
      readonly hasCredentials: boolean;
      /** What the last server has said with the rows. */
      readonly position?: string | undefined;
    }
  /** The same user has signed in again, or the user has signed out, for all tabs. */
  | { readonly type: 'identity'; readonly identity?: string | undefined }
  | { readonly type: 'hidden'; readonly isHidden: boolean }
  | { readonly type: 'bye' }
  | { readonly type: 'ping' }
  | (Session & OfSession);

/** What a worker sends. */
export type FromWorker =
  | (Session & {
      readonly type: 'welcome';
      /** The Web Lock that the worker holds while it lives; absent where there are no locks. */
      readonly lock?: string;
    })
  /** The worker speaks another version. */
  | { readonly type: 'incompatible'; readonly protocol: number }
  /** The worker does not know the tab, or no longer: the tab says hello again. */
  | { readonly type: 'unknown' }
  | { readonly type: 'pong' }
  /** The session of an identity has ended. */
  | {
      readonly type: 'signed-out';
      readonly identity: string;
      /** It answers the last hello, also the first one. */
      readonly ofHello?: true;
    }
  /** Answered by `ack`, also without a difference. */
  | (Session & {
      readonly type: 'rows';
      readonly set?: number | undefined;
      readonly differences: readonly AskedDifference[];
      /** How far the rows are: a text for the next server. */
      readonly position?: string | undefined;
    })
  /** The worker cannot answer a query. */
  | (Session & { readonly type: 'refused'; readonly id: number; readonly error: CarriedError })
  /** A state of the object of an edit, of which the tab makes a draft. */
  | (Session & {
      readonly type: 'base';
      readonly id: number;
      readonly question: number;
      readonly base: unknown;
    })
  | (Session & {
      readonly type: 'edited';
      readonly id: number;
      readonly object?: unknown;
      readonly error?: CarriedError;
    })
  | (Session & { readonly type: 'credentials'; readonly id: number });

/**
 * A message from a worker to the other workers of its origin. An origin has several workers after a deployment, and where a page has a
 * worker of its own. `returned`: a tab was shown again with its former user, who may have signed out in a tab of another worker.
 */
export interface BetweenWorkers {
  readonly type: 'signed-out' | 'signed-in' | 'returned';
  readonly identity: string;
  /** The folder of the worker's file, which identifies the application. All tabs of an application have one identity. */
  readonly folder: string | undefined;
}

/** A port to the other side. A message arrives in order, as a copy, or not at all. */
export interface Port {
  post(message: unknown): void;
  /** Called once. `onUnread` is called when a message has arrived that cannot be read. */
  listen(listener: (message: unknown) => void, onUnread?: () => void): void;
  close(): void;
}

/** Whether a value has the form of a message. Its fields are those of its type, because both sides are of one library. */
export function isMessage(value: unknown): value is { readonly type: string } {
  const type: unknown = (value as { readonly type?: unknown } | null | undefined)?.type;
  return typeof type === 'string';
}
