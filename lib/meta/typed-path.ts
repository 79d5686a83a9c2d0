/**
 * The paths of a type, and the type of the value at a path. They are written out to a depth of six names, so that an
 * editor completes them and a wrong one does not compile. Below that, every path is accepted.
 */
import type { KubernetesObject } from './kubernetes-object.ts';

/** A value that conditions compare. */
export type Scalar = string | number | boolean;

/** One step less for each name: recursive types, such as the schema of a CRD, end. */
type Depth = readonly [1, 1, 1, 1, 1];
type Less<D extends readonly unknown[]> = D extends readonly [unknown, ...infer Rest] ? Rest : [];

type Element<V> = V extends readonly (infer E)[] ? Element<NonNullable<E>> : V;

/** `[path, kind of value]` for each path; for a few values of text or numbers, the values themselves. */
type Below<T, Prefix extends string, D extends readonly unknown[]> = {
  [K in keyof T & string]-?: Entry<Element<NonNullable<T[K]>>, `${Prefix}${K}`, D>;
}[keyof T & string];

type Kind<V> = [V] extends [boolean]
  ? 'boolean'
  : string extends V
    ? [V] extends [string]
      ? 'text'
      : 'mixed'
    : [V] extends [string]
      ? readonly [V]
      : number extends V
        ? [V] extends [number]
          ? 'number'
          : 'mixed'
        : [V] extends [number]
          ? readonly [V]
          : 'mixed';

type Entry<V, Path extends string, D extends readonly unknown[]> = unknown extends V
  ? readonly [Path, 'mixed'] | readonly [`${Path}.${string}`, 'pattern']
  : [V] extends [Scalar]
    ? readonly [Path, Kind<V>]
    : string extends keyof V
      ?
          | readonly [Path, 'object']
          | readonly [
              `${Path}.${string}` | `${Path}["${string}"]`,
              [V[keyof V]] extends [string] ? 'texts' : 'pattern',
            ]
      : D extends readonly []
        ? readonly [Path, 'object'] | readonly [`${Path}.${string}`, 'pattern']
        : readonly [Path, 'object'] | Below<V, `${Path}.`, Less<D>>;

/** A type without fields of its own is that of a resource whose objects are not described, unless it is that of metadata alone. */
export type IsDescribed<T> = [Exclude<keyof T, keyof KubernetesObject>] extends [never]
  ? T extends { readonly kind: 'PartialObjectMetadata' }
    ? true
    : false
  : true;

/** All paths of a type, with the kinds of their values. */
export type Entries<T> = Below<T, '', Depth>;

/** The paths whose values are of a kind. */
export type PathTo<T, K> = Extract<Entries<T>, readonly [string, K]>[0];

/**
 * A path into objects of the type `T`: names with dots between them, such as `status.phase`. Arrays are passed through,
 * so `spec.containers.image` is the image of each container. A name that has dots stands in brackets:
 * `spec.nodeSelector["kubernetes.io/os"]`. Any path is accepted for a resource whose objects are not described.
 */
export type QueryPath<T> = IsDescribed<T> extends true ? Entries<T>[0] : string;

/** The names along a path. */
export type Split<P extends string> = P extends `${infer Head}["${infer Name}"]${infer Rest}`
  ? [...SplitDots<Head>, Name, ...(Rest extends `.${infer More}` ? Split<More> : Split<Rest>)]
  : SplitDots<P>;

type SplitDots<P extends string> = P extends ''
  ? []
  : P extends `${infer Head}.${infer Rest}`
    ? [Head, ...SplitDots<Rest>]
    : [P];

type Maybe<T> = undefined extends T ? undefined : never;

type Field<T, K> = K extends keyof T
  ? T[K]
  : string extends keyof T
    ? T[keyof T] | undefined
    : unknown;

/** The elements at the end of a path, after the first array. */
type Elements<T, Steps> = T extends readonly (infer E)[]
  ? Elements<NonNullable<E>, Steps>
  : Steps extends [infer K, ...infer Rest]
    ? Elements<NonNullable<Field<T, K>>, Rest>
    : T;

type At<T, Steps> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly (infer E)[]
    ? readonly Elements<NonNullable<E>, Steps>[] | Maybe<T>
    : Steps extends [infer K, ...infer Rest]
      ? At<Field<NonNullable<T>, K> | Maybe<T>, Rest>
      : T;

/** The value at a path: a list if an array is on the way, otherwise the value, with `undefined` if it may be absent. */
export type ValueAt<T, P extends string> = At<T, Split<P>>;
