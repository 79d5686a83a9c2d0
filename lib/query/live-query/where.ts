/** The types of conditions: `where` of a query. */

import type { Stored } from '../../meta/kubernetes-object.ts';
import type { Entries, IsDescribed, PathTo, QueryPath, Scalar } from '../../meta/typed-path.ts';

/**
 * How a condition or an order reads both sides. `text`: text, and the text of a number or a truth value. `number`: a
 * number, and text that is one. `time`: RFC 3339, of which nothing below a microsecond counts, or milliseconds since the
 * Unix epoch. `quantity`: as `500m` and `2Gi`.
 */
export type CompareAs = 'text' | 'number' | 'time' | 'quantity';

/** The operators of a condition, of which it has exactly one. `V` is the type of the value. */
export interface Operators<V> {
  /** Some value at the path equals this one. */
  readonly eq?: V | undefined;
  /** No value at the path equals this one, also because there is none. */
  readonly ne?: V | undefined;
  /** Some value at the path equals one of these. */
  readonly in?: readonly V[] | undefined;
  /** Some value at the path is less. Text is compared by code units. */
  readonly lt?: V | undefined;
  readonly lte?: V | undefined;
  readonly gt?: V | undefined;
  readonly gte?: V | undefined;
  /** Whether there is a value at the path. `null` and an empty array are none. */
  readonly exists?: boolean | undefined;
}

/** Operators of text. */
export interface TextOperators<V> extends Operators<V> {
  /** The text of some value at the path begins with this one. */
  readonly prefix?: string | undefined;
  /** The text of some value at the path contains this one. */
  readonly contains?: string | undefined;
  /** Compares `prefix` or `contains` in lower case, without regard to the language. @defaultValue false */
  readonly ignoreCase?: boolean | undefined;
}

type Text<P, V> = TextOperators<V> & { readonly path: P; readonly as?: 'text' | undefined };
type Numbers<P, V> = Operators<V> &
  NoText & { readonly path: P; readonly as?: 'number' | undefined };
type Times<P> = Operators<string | number> & NoText & { readonly path: P; readonly as: 'time' };
type Quantities<P> = Operators<string | number> &
  NoText & { readonly path: P; readonly as: 'quantity' };
type AsNumbers<P> = Operators<number> & NoText & { readonly path: P; readonly as: 'number' };
type AsText<P> = TextOperators<string> & { readonly path: P; readonly as: 'text' };
type None<Names extends string> = { readonly [Name in Names]?: undefined };
type NoText = None<'prefix' | 'contains' | 'ignoreCase'>;
type Truth<P> = Pick<Operators<boolean>, 'eq' | 'ne' | 'in' | 'exists'> &
  None<'lt' | 'lte' | 'gt' | 'gte' | 'as'> &
  NoText & { readonly path: P };
type Mixed<P> = TextOperators<Scalar> & {
  readonly path: P;
  readonly as?: CompareAs | undefined;
};

/** A value that is one of a few, such as a phase. */
type OneOf<E> = E extends readonly [infer P, readonly [infer V]]
  ? V extends string
    ? Text<P, V>
    : Numbers<P, V>
  : never;

type Texts<P> = Text<P, string> | AsNumbers<P> | Times<P> | Quantities<P>;

type Described<T> =
  | Texts<PathTo<T, 'text'>>
  | Texts<PathTo<T, 'texts'>>
  | Numbers<PathTo<T, 'number'>, number>
  | AsText<PathTo<T, 'number'>>
  | Times<PathTo<T, 'number'>>
  | Quantities<PathTo<T, 'number'>>
  | Truth<PathTo<T, 'boolean'>>
  | Mixed<PathTo<T, 'mixed'>>
  | Mixed<PathTo<T, 'pattern'>>
  | OneOf<Entries<T>>
  | { readonly path: PathTo<T, 'object'>; readonly exists: boolean };

/** A condition on the values at a path. */
export type PathCondition<T> = IsDescribed<T> extends true ? Described<T> : Mixed<QueryPath<T>>;

/** A function as a condition. Queries with equal keys are equal, whatever their functions are. */
export interface KeyedTest<T> {
  readonly key: string;
  readonly test: (object: Stored<T>, nowMs: number) => boolean;
}

/** The objects under a value of an index of the informer. */
export interface IndexCondition {
  readonly index: string;
  readonly eq: string;
}

/** A condition of a query on objects of the type `T`. */
export type Where<T> =
  | PathCondition<T>
  | IndexCondition
  | KeyedTest<T>
  | { readonly and: readonly Where<T>[] }
  | { readonly or: readonly Where<T>[] }
  | { readonly not: Where<T> };
