/** `Projected`, the type of an object of which only some paths are kept. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { IsDescribed, Split } from '../../meta/object-path/typed-path.ts';

type Steps = readonly unknown[];

type Head<S extends Steps> = S extends readonly [infer First, ...unknown[]] ? First : never;
type Tail<S extends Steps, K> = S extends readonly [K, ...infer Rest] ? Rest : never;

/** Keeps the members along the paths, through arrays. A map keeps its type. */
type Kept<V, S extends Steps> = [] extends S
  ? V
  : V extends readonly (infer E)[]
    ? Kept<E, S>[]
    : V extends object
      ? string extends keyof V
        ? V
        : { [K in keyof V as K extends Head<S> ? K : never]: Kept<V[K], Tail<S, K>> }
      : V;

/**
 * An object of which only `kind`, `apiVersion`, `metadata` and these paths are kept.
 *
 * @example
 * ```ts
 * import type { Projected } from 'rx-informer';
 * import type { Pod } from 'rx-informer/resources';
 *
 * const row: Projected<Pod, 'status.phase' | 'spec.containers.name'> = {
 *   metadata: { name: 'web' },
 *   spec: { containers: [{ name: 'main' }] },
 *   status: { phase: 'Running' },
 * };
 * row.spec?.containers[0]?.name; // => 'main'
 * ```
 */
export type Projected<T extends KubernetesObject, P extends string> = KubernetesObject &
  (IsDescribed<T> extends true
    ? Pick<T, keyof T & keyof KubernetesObject> & Omit<Kept<T, Split<P>>, keyof KubernetesObject>
    : T);
