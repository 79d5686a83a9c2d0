/** What an informer can be told. */
import type { Compression } from '../delta/pending.ts';
import type { ReflectOptions } from '../reflector/reflector.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { MutationGuard } from '../store/mutation-guard.ts';

/** Where an error came from that reached nobody else. */
export interface UnhandledErrorContext {
  /** The informer's name. */
  readonly informer: string;
  /** Who threw: the name of the handler or of the subscriber's function. */
  readonly subscriber: string;
  /** The object at hand, or the first of the set at hand. */
  readonly key?: string;
}

/** Options of {@link createSharedInformer}. Those of the reflector apply to each ListerWatcher. */
export interface SharedInformerOptions<T>
  extends Omit<ReflectOptions<T>, 'known' | 'onStatus' | 'onSkipped'> {
  /** Stands in errors. @defaultValue 'informer' */
  readonly name?: string;
  /** Indices of the store. @defaultValue `namespace` */
  readonly indexers?: Indexers<T>;
  /** Every known object again, this often; 0 never, at least 1000. @defaultValue 0 */
  readonly resyncPeriodMs?: number;
  /** How deltas of one key are folded while the demand is closed. @defaultValue 'none' */
  readonly compression?: Compression;
  /** So long does the run outlive its last subscriber, in milliseconds. @defaultValue 30000 */
  readonly lingerMs?: number;
  /** @defaultValue 'freeze' in development and tests, else 'off' */
  readonly mutationGuard?: MutationGuard;
  /** Errors of handlers and direct subscribers. @defaultValue as rxjs's own: reported asynchronously */
  readonly onUnhandledError?: (error: unknown, context: UnhandledErrorContext) => void;
}
