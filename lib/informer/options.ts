/** What an informer can be told. */
import type { AuditOptions } from '../audit/audits.ts';
import type { Compression } from '../delta/pending-deltas.ts';
import type { MetricAttributes, MetricsProvider } from '../meta/metrics.ts';
import type { ReflectOptions } from '../reflector/reflect-options.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { MutationGuard } from '../store/mutation-guard.ts';
import type { InformerWarning } from './status/warnings.ts';

/** Where an error came from that reached nobody else. */
export interface UnhandledErrorContext {
  /** The informer's name. */
  readonly informer: string;
  /** Who threw: the name of the handler or of the subscriber's function. */
  readonly subscriber: string;
  /** The object at hand, or the first of the set at hand. */
  readonly key?: string;
}

/** Options of every informer. Those of the reflector apply to each ListerWatcher. */
export interface InformerOptions<T, Names extends string = string>
  extends Omit<ReflectOptions<T>, 'known' | 'onStatus' | 'onSkipped'> {
  /** Stands in errors. @defaultValue 'informer' */
  readonly name?: string | undefined;
  /** Indices of the store. @defaultValue `namespace` */
  readonly indexers?: Indexers<T, Names> | undefined;
  /**
   * How often every known object is delivered again, in milliseconds, at least 1000. `0` and `Infinity`: never.
   * @defaultValue 0
   */
  readonly resyncPeriodMs?: number | undefined;
  /**
   * Compares the store with the server, page by page with metadata only, and heals what differs with a list in which
   * content decides. Finds events that the watch lost without an error. The status tells the result as `audit`.
   * @defaultValue off
   */
  readonly audit?: AuditOptions | undefined;
  /** How deltas of one key are folded while the demand is closed. @defaultValue 'none' */
  readonly compression?: Compression | undefined;
  /** @defaultValue 'off' if NODE_ENV is 'production', else 'freeze', also where it is not set */
  readonly mutationGuard?: MutationGuard | undefined;
  /** Errors of handlers and direct subscribers. @defaultValue as rxjs's own: reported asynchronously */
  readonly onUnhandledError?:
    | ((error: unknown, context: UnhandledErrorContext) => void)
    | undefined;
  /** Told what somebody should know though nothing failed. @defaultValue `console.warn` */
  readonly onWarning?: ((warning: InformerWarning) => void) | undefined;
  /** Makes the instruments; a meter of OpenTelemetry is one. @defaultValue none */
  readonly metrics?: MetricsProvider | undefined;
  /** Labels of the instruments beside the name, as group, version and resource. */
  readonly metricAttributes?: MetricAttributes | undefined;
}

/** Options of {@link createSharedInformer}. */
export interface SharedInformerOptions<T, Names extends string = string>
  extends InformerOptions<T, Names> {
  /**
   * How long the informer keeps running after its last subscriber leaves, in milliseconds. `0`: not at all; `Infinity`:
   * until `stop()`. @defaultValue 30000
   */
  readonly lingerMs?: number | undefined;
}
