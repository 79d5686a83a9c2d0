/** The options of informers. */
import { checkedFunction, checkedPeriod } from '../checks/checked-option.ts';
import type { Compression } from '../delta/pending-deltas.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { MetricAttributes } from '../meta/metrics.ts';
import type { ReflectOptions } from '../reflector/reflect-options.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { MutationGuard } from '../store/mutation-guard.ts';
import type { UnchangedParts } from '../store/successor-of.ts';
import type { InformerPartMaker, InformerPort } from './part.ts';
import type { ReporterOptions } from './status/reporter.ts';

const MIN_RESYNC_MS = 1_000;

/** The options of every informer. The options of the reflector apply to each ListerWatcher. */
export interface InformerOptions<T, Names extends string = string>
  extends Omit<ReflectOptions<T>, 'known' | 'onStatus' | 'onRefused' | 'resumeFrom'>,
    ReporterOptions {
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
  /** Compares the store with the server periodically: `audit({ periodMs })`. @defaultValue off */
  readonly audit?: InformerPartMaker | undefined;
  /** Keeps the objects in a store, and starts from them without a list: `snapshotsIn(store, options)`. @defaultValue off */
  readonly persist?: InformerPartMaker | undefined;
  /** How deltas of one key are folded while the demand is closed: {@link latestPerKey}. @defaultValue not at all */
  readonly compression?: Compression | undefined;
  /**
   * How the store protects its objects from changes by consumers.
   * @defaultValue 'off' if NODE_ENV is 'production', otherwise 'freeze'
   */
  readonly mutationGuard?: MutationGuard | undefined;
  /**
   * Whether the unchanged parts of a changed object stay the same JavaScript objects, so that code may compare parts with
   * `===`. With `'new'` they are those that were received, which saves CPU time where changes are spread over many
   * objects: for programs that look at no earlier state, such as most controllers. @defaultValue 'same'
   */
  readonly unchangedParts?: UnchangedParts | undefined;
  /** Reports the metrics to a metrics library: `metered(provider)`. @defaultValue no instruments */
  readonly metrics?: InformerPartMaker | undefined;
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

/**
 * Validates a resync period in milliseconds. Returns 0 for never, also for `Infinity`. Throws a `TypeError` if the
 * period is not a number or is shorter than a second.
 */
export function checkedResyncPeriod(periodMs: number | undefined, owner: string): number {
  if (periodMs === undefined || periodMs === 0 || periodMs === Number.POSITIVE_INFINITY) return 0;
  return checkedPeriod(periodMs, `${owner}: resyncPeriodMs`, MIN_RESYNC_MS, ', or 0 for never');
}

const PART = 'a part of an informer, as audit(), metered() and snapshotsIn() return';

/** The options that are parts. Throws a `TypeError` if one is not a function, for example an object. */
export function partMakers<T extends KubernetesObject>(
  { audit, metrics, persist }: Pick<InformerOptions<T>, 'audit' | 'metrics' | 'persist'>,
  owner: string,
): readonly ((port: InformerPort<T>) => void)[] {
  return Object.entries({ audit, metrics, persist }).flatMap(([name, maker]) => {
    if (maker === undefined) return [];
    const part = checkedFunction(maker, `${owner}: ${name}`, PART);
    return [part as (port: InformerPort<T>) => void];
  });
}
