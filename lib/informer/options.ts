/** The options of informers. */
import type { AuditOptions } from '../audit/audits.ts';
import type { Compression } from '../delta/pending-deltas.ts';
import type { MetricAttributes, MetricsProvider } from '../meta/metrics.ts';
import type { ReflectOptions } from '../reflector/reflect-options.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { MutationGuard } from '../store/mutation-guard.ts';
import type { InformerWarning } from './status/warnings.ts';

/** Where an unhandled error was thrown. */
export interface UnhandledErrorContext {
  /** The informer's name. */
  readonly informer: string;
  /** The name of the handler that threw, or of the subscriber's function. */
  readonly subscriber: string;
  /** The key of the object for which the callback was called, or of the first object in its change set. */
  readonly key?: string;
}

/** The options of every informer. The options of the reflector apply to each ListerWatcher. */
export interface InformerOptions<T, Names extends string = string>
  extends Omit<ReflectOptions<T>, 'known' | 'onStatus' | 'onSkipped' | 'resumeFrom'> {
  /** The name of the informer in errors, warnings and metrics. @defaultValue 'informer' */
  readonly name?: string | undefined;
  /** The indices of the store. @defaultValue `namespace` */
  readonly indexers?: Indexers<T, Names> | undefined;
  /**
   * How often every stored object is delivered to the handlers again, in milliseconds, at least 1000. `0` and
   * `Infinity` mean never.
   * @defaultValue 0
   */
  readonly resyncPeriodMs?: number | undefined;
  /**
   * Compares the store with the server periodically, to find events that the watch lost without an error. An audit
   * requests pages of metadata only. Differences are repaired by a list that compares the contents of objects.
   * `status.audit` shows the results.
   * @defaultValue off
   */
  readonly audit?: AuditOptions | undefined;
  /** How deltas of one key are folded while the demand is closed. @defaultValue 'none' */
  readonly compression?: Compression | undefined;
  /**
   * How the store protects its objects from changes by consumers.
   * @defaultValue 'off' if NODE_ENV is 'production', otherwise 'freeze'
   */
  readonly mutationGuard?: MutationGuard | undefined;
  /**
   * Receives the errors that handlers and direct subscribers throw.
   * @defaultValue reported like rxjs's own errors: asynchronously, as uncaught errors
   */
  readonly onUnhandledError?:
    | ((error: unknown, context: UnhandledErrorContext) => void)
    | undefined;
  /** Receives warnings. @defaultValue `console.warn` */
  readonly onWarning?: ((warning: InformerWarning) => void) | undefined;
  /** Creates the metrics instruments. A `Meter` of OpenTelemetry fits. @defaultValue no instruments */
  readonly metrics?: MetricsProvider | undefined;
  /** Attributes of the metrics beside the name, for example group, version and resource. */
  readonly metricAttributes?: MetricAttributes | undefined;
}

/** The options of {@link createSharedInformer}. */
export interface SharedInformerOptions<T, Names extends string = string>
  extends InformerOptions<T, Names> {
  /**
   * How long the informer keeps running after its last subscriber leaves, in milliseconds. `0` ends the run
   * immediately, `Infinity` keeps it until `stop()`. @defaultValue 30000
   */
  readonly lingerMs?: number | undefined;
}
