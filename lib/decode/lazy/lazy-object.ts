/**
 * Lazy objects: plain objects of which some members are accessors that parse their text when they are first read.
 *
 * The accessors are own, enumerable and configurable, so that spread, `Object.keys`, `JSON.stringify` and
 * `structuredClone` treat them as members. All objects share the accessors of one name, because V8 then gives these
 * objects one hidden class.
 */
import { ApiError } from '../../meta/api-error.ts';
import { deepFreeze } from '../../meta/deep-freeze.ts';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import type { LazyGetter } from '../../meta/same-content.ts';
import { textOf } from '../json-text.ts';

/** A text that is decoded when it is needed. Its bytes never change. */
interface ByteText {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** The value of a member, which may belong to several states of an object. */
export class LazyValue {
  #text: string | ByteText | undefined;
  /** The value; before it is parsed, that of an earlier state of the object, of which equal parts are used again. */
  #value: unknown;
  #isFrozen = false;

  constructor(text: string | ByteText | undefined, value?: unknown) {
    this.#text = text;
    this.#value = value;
  }

  /** The JSON text; `undefined` once it is parsed. */
  get text(): string | undefined {
    const text = this.#text;
    if (typeof text !== 'object') return text;
    this.#text = textOf(text.bytes, text.from, text.to);
    return this.#text;
  }

  /** The value for the next state of the object, which has this text. */
  next(text: string): LazyValue {
    return text === this.text ? this : new LazyValue(text, this.#value);
  }

  /** Returns the value, frozen if its owner is frozen. Throws if the text is not JSON. */
  of(owner: object, name: string): unknown {
    if (this.#text !== undefined) this.#parse(owner, name);
    if (!this.#isFrozen && Object.isFrozen(owner)) {
      this.#isFrozen = true;
      deepFreeze(this.#value);
    }
    return this.#value;
  }

  #parse(owner: object, name: string): void {
    const text = this.text ?? '';
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      const message = `${shownKey(owner)}: the member ${JSON.stringify(name)} of ${text.length} characters is not JSON`;
      throw ApiError.local('Malformed', message);
    }
    this.#value = reuseUnchanged(this.#value, parsed);
    this.#text = undefined;
  }
}

function shownKey(owner: object): string {
  try {
    return metaNamespaceKeyFunc(owner as KubernetesObject);
  } catch {
    return 'an object';
  }
}

/** A constructor that returns its argument, so that a derived class adds its private field to a plain object. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is the purpose.
    return object;
  }
}

/** The values behind the accessors of an object, in a private field of the object. */
class LazyValues extends Given {
  readonly #values: LazyValue[];

  private constructor(object: object, values: LazyValue[]) {
    super(object);
    this.#values = values;
  }

  static put(object: object, values: LazyValue[]): void {
    new LazyValues(object, values);
  }

  static of(object: object): LazyValue[] | undefined {
    return #values in object ? (object as LazyValues).#values : undefined;
  }
}

/** The values behind the accessors of an object; `undefined` if it is not lazy. */
export function lazyValuesOf(object: object): readonly LazyValue[] | undefined {
  return LazyValues.of(object);
}

/** Finds the object of an accessor that is called through another object, which has inherited it. */
function ownerOf(receiver: object, name: string): object {
  let owner: object | null = receiver;
  while (owner !== null && LazyValues.of(owner) === undefined) owner = Object.getPrototypeOf(owner);
  if (owner !== null) return owner;
  throw new TypeError(
    `${name} of a lazy object was read through a proxy; copy the object first, for example as { ...object }`,
  );
}

function createAccessor(name: string, index: number): PropertyDescriptor {
  function get(this: object): unknown {
    const values = LazyValues.of(this);
    if (values !== undefined) return values[index]?.of(this, name);
    const owner = ownerOf(this, name);
    return LazyValues.of(owner)?.[index]?.of(owner, name);
  }
  get.unreadTextIn = (object: object) => LazyValues.of(object)?.[index]?.text;
  return {
    configurable: true,
    enumerable: true,
    get: get satisfies LazyGetter,
    set(this: object, value: unknown) {
      const values = LazyValues.of(this);
      if (values === undefined || Object.isFrozen(this)) {
        throw new TypeError(`Cannot assign to read only property '${name}' of a lazy object`);
      }
      // The value may belong to other states of the object, so it is replaced and not changed.
      values[index] = new LazyValue(undefined, value);
    },
  };
}

/** The accessors by position and name, and how many they are. */
const accessors: Map<string, PropertyDescriptor>[] = [];
let count = 0;

/** All are forgotten when more are needed, and no longer names are kept, because the names come from a server. */
const MOST_ACCESSORS = 1_024;
const LONGEST_NAME = 256;

/** Returns the accessor of the member at this position; `undefined` if its name is too long. */
export function accessorOf(name: string, index: number): PropertyDescriptor | undefined {
  const known = accessors[index]?.get(name);
  if (known !== undefined || name.length > LONGEST_NAME) return known;
  if (count === MOST_ACCESSORS) count = accessors.length = 0;
  const accessor = createAccessor(name, index);
  accessors[index] ??= new Map();
  accessors[index].set(name, accessor);
  count++;
  return accessor;
}

/** Puts the values behind the accessors that the object has or gets. */
export function makeLazy(object: object, values: LazyValue[]): void {
  LazyValues.put(object, values);
}
