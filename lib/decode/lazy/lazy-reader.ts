/** Reads objects of which only the metadata and the short members are parsed on receipt. */
import type { KnownObjects } from '../../meta/known-objects.ts';
import { type KubernetesObject, uidOf } from '../../meta/kubernetes-object.ts';
import type { DecodeContext } from '../decoding.ts';
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT } from '../json-scan.ts';
import { parseText, textOf } from '../json-text.ts';
import { type ObjectReader, WholeReader } from '../object-reader.ts';
import { ByteCopy } from './byte-copy.ts';
import { accessorOf, LazyValue, lazyValuesOf, makeLazy } from './lazy-object.ts';
import { isShort, ObjectMembers } from './object-members.ts';

type Head = Record<string, unknown>;

/** The members that are always parsed on receipt. */
const HEAD: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);

/** Reads the objects of one response. Objects that are written in an unusual way are parsed completely. */
export class LazyReader<T extends KubernetesObject> implements ObjectReader<T> {
  readonly #known: KnownObjects<T> | undefined;
  readonly #whole: WholeReader;
  readonly #keepManagedFields: boolean;
  readonly #members = new ObjectMembers();
  /** Whether each member of the object is parsed when it is first read. */
  readonly #isLazy: boolean[] = [];
  /** The members that are parsed on receipt. */
  readonly #copy = new ByteCopy();

  constructor(context: DecodeContext<T>) {
    const { known, keepManagedFields } = context;
    this.#known = known;
    this.#keepManagedFields = keepManagedFields;
    this.#whole = new WholeReader({ keepManagedFields });
  }

  read(bytes: Uint8Array, from: number, to: number): unknown {
    return this.#read(bytes, from, to, '') ?? this.#whole.read(bytes, from, to);
  }

  item(bytes: Uint8Array, from: number, to: number, typeMeta: string): unknown {
    return this.#read(bytes, from, to, typeMeta);
  }

  #read(
    bytes: Uint8Array,
    from: number,
    to: number,
    typeMeta: string,
  ): Record<string, unknown> | undefined {
    const members = this.#members;
    if (!members.read(bytes, from, to)) return undefined;
    const { names, count } = members;
    const isTyped = names[0] === 'kind' || names[0] === 'apiVersion';
    const text = this.#headText(bytes);
    if (text === '{}') return undefined;
    const isWhole = isTyped || typeMeta === '';
    const head = parseText(isWhole ? text : typeMeta + text.slice(1), 'an object') as Head;
    const stored = this.#storedValues(head);
    const isLazy = this.#isLazy;
    // The members that are parsed already are usually the first ones. If not, they are put in their places.
    const firstLazy = isLazy.indexOf(true);
    const inOrder = firstLazy < 0 || isLazy.indexOf(false, firstLazy) < 0;
    const object: Record<string, unknown> = inOrder ? head : {};
    if (!inOrder && !isTyped && typeMeta !== '') {
      object['kind'] = head['kind'];
      object['apiVersion'] = head['apiVersion'];
    }
    const values: LazyValue[] = [];
    for (let index = inOrder && firstLazy > 0 ? firstLazy : 0; index < count; index++) {
      const name = names[index] ?? '';
      if (!isLazy[index]) {
        if (!inOrder) object[name] = head[name];
        continue;
      }
      const accessor = accessorOf(name, values.length);
      if (accessor === undefined) return undefined;
      Object.defineProperty(object, name, accessor);
      const own = textOf(bytes, members.starts[index] ?? 0, members.ends[index] ?? 0);
      values.push(stored?.[values.length]?.next(own) ?? new LazyValue(own));
    }
    // The copy has exactly the memory for these values. A list that grows by `push` reserves 17 places.
    if (values.length > 0) makeLazy(object, values.slice());
    return object;
  }

  /** Returns the text of an object of the members that are not lazy. */
  #headText(bytes: Uint8Array): string {
    const { names, froms, starts, ends, count, managedFields } = this.#members;
    const isLazy = this.#isLazy;
    isLazy.length = count;
    this.#copy.length = 0;
    this.#copy.put(OPEN_OBJECT);
    for (let index = 0; index < count; index++) {
      const from = froms[index] ?? 0;
      const end = ends[index] ?? 0;
      isLazy[index] = !HEAD.has(names[index] ?? '') && !isShort(bytes, starts[index] ?? 0, end);
      if (isLazy[index]) continue;
      const { from: cutFrom, to: cutTo, isFound } = managedFields;
      const isCut = isFound && !this.#keepManagedFields && from < cutFrom && cutTo <= end;
      if (this.#copy.length > 1) this.#copy.put(COMMA);
      this.#copy.add(bytes, from, isCut ? cutFrom : end);
      if (isCut) this.#copy.add(bytes, cutTo, end);
    }
    this.#copy.put(CLOSE_OBJECT);
    return this.#copy.text();
  }

  /** The values of the stored state of the object, of which those with the same text are used again. */
  #storedValues(head: KubernetesObject): readonly LazyValue[] | undefined {
    const { metadata } = head;
    if (this.#known === undefined || this.#known.size === 0) return undefined;
    if (typeof metadata !== 'object' || metadata === null || !metadata.uid) return undefined;
    const { name = '', namespace } = metadata;
    const stored = this.#known.get(namespace ? `${namespace}/${name}` : name);
    return stored !== undefined && uidOf(stored) === metadata.uid
      ? lazyValuesOf(stored)
      : undefined;
  }
}
