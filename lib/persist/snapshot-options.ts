/** The options of stores of snapshots, and which kinds and which parts of their objects may be stored. */

import {
  check,
  checkedList,
  checkedMetered,
  checkedName,
  checkedTimeout,
} from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Metered } from '../meta/metrics.ts';
import { type Resource, resourceName } from '../meta/resource.ts';

/** The options that all stores of snapshots have. */
export interface SnapshotOptions {
  /**
   * The user whose rights the objects are read with, for example `alice@example.com` or a service account. What was stored for
   * one user is never shown to another.
   */
  readonly identity: string;
  /** The kinds that are stored. Informers of other kinds run as without a store. Secrets are refused. */
  readonly kinds: readonly Resource<KubernetesObject>[];
  /**
   * Whether the values of environment variables are stored. Must be set for Pods and for kinds with a Pod template. With
   * `'left-out'`, an object that was loaded has no values of variables until its next change, which suits lists and
   * dashboards, but no controller that compares them. @defaultValue 'left-out' for all other kinds
   */
  readonly env?: 'stored' | 'left-out' | undefined;
  /** Must be `'stored'` if `kinds` contains ConfigMaps, because they often contain credentials. */
  readonly configMaps?: 'stored' | undefined;
  /** The version of the `transform` of the stored kinds: any text that changes with the function. Required with a transform. */
  readonly transformVersion?: string | undefined;
  /** The version of the program. Objects that another version has stored are not used. @defaultValue '' */
  readonly appVersion?: string | undefined;
  /** Objects that were last confirmed longer ago, in milliseconds, are deleted and not shown. @defaultValue 24 hours */
  readonly maxAgeMs?: number | undefined;
  /** Counts what is written and why something is not stored: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
}

type Defined<O> = { readonly [Name in keyof O]-?: Exclude<O[Name], undefined> };

/** The options with their defaults. */
export type CheckedSnapshotOptions = Defined<Omit<SnapshotOptions, 'configMaps' | 'metrics'>> &
  Pick<SnapshotOptions, 'metrics'>;

const DAY_MS = 86_400_000;

/** The kinds whose objects contain a Pod spec, by group. */
const WITH_PODS: Readonly<Record<string, readonly string[]>> = {
  '': ['pods', 'replicationcontrollers', 'podtemplates'],
  apps: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'],
  batch: ['jobs', 'cronjobs'],
};

function refused(maker: string, why: string): TypeError {
  return new TypeError(`${maker}: ${why}`);
}

/** Returns the options with their defaults. Throws a `TypeError` that begins with the name of the maker. */
export function checkedSnapshotOptions(
  maker: string,
  options: SnapshotOptions,
): CheckedSnapshotOptions {
  const { identity, kinds, env, configMaps, maxAgeMs = DAY_MS } = options ?? {};
  const owner =
    'the name of the user whose rights the objects are read with, so that they are not shown to another user';
  checkedName(identity, `${maker}: identity`, owner);
  // Any other text would store the values.
  const isChoice = env === undefined || env === 'left-out' || env === 'stored';
  check(isChoice, `${maker}: env`, env, "'left-out' or 'stored'");
  const list = 'a list of the kinds to store, such as [pods, deployments]';
  for (const kind of checkedList<Resource>(kinds, `${maker}: kinds`, list)) {
    const { group, plural } = kind;
    const isCore = group === '';
    if (isCore && plural === 'secrets') {
      throw refused(maker, 'Secrets are never stored; remove them from kinds');
    }
    if (isCore && plural === 'configmaps' && configMaps !== 'stored') {
      throw refused(
        maker,
        "ConfigMaps often contain credentials; pass configMaps: 'stored' to store them, or remove them from kinds",
      );
    }
    if (WITH_PODS[group]?.includes(plural) === true && env === undefined) {
      throw refused(
        maker,
        `${resourceName(kind)} may contain credentials in values of environment variables; pass env: 'left-out', or env: 'stored' to store them`,
      );
    }
  }
  const { transformVersion = '', appVersion = '' } = options;
  return {
    ...{ identity, kinds, env: env ?? 'left-out', transformVersion, appVersion },
    maxAgeMs: checkedTimeout(maxAgeMs, `${maker}: maxAgeMs`),
    metrics: checkedMetered(options.metrics, `${maker}: metrics`),
  };
}
