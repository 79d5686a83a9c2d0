/** Reads objects of which only the metadata and the short members are parsed on receipt. */
import type { KnownObjects } from '../../meta/known-objects.ts';
import { type KubernetesObject, uidOf } from '../../meta/kubernetes-object.ts';
import type { DecodeContext } from '../decoding.ts';
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT } from '../json-scan.ts';
import { parseText, textOf } from '../json-text.ts';
import { type ObjectReader, WholeReader } from '../object-reader.ts';
import { ByteCopy } from './byte-copy.ts';
import { accessorOf, LazyValue, lazyValuesOf, makeLazy } from './lazy-object.ts';
import { isShort, NEWLINE, ObjectMembers } from './object-members.ts';

type Head = Record<string, unknown>;

/** The members that are always parsed on receipt. */
const HEAD: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);

/** The bytes of the members of stored objects are kept together in blocks, outside of V8's heap, so that no collection copies them. */
const BLOCK = 65_536;

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
  /** The bytes of stored members, as far as they are used. */
  #block = new Uint8Array(0);
  #used = 0;

  constructor(context: Pick<DecodeContext<T>, 'known' | 'keepManagedFields' | 'transform'>) {
    const { known, keepManagedFields, transform } = context;
    // A transform may change what it receives, so that has no parts of a stored object.
    this.#known = transform === undefined ? known : undefined;
    this.#keepManagedFields = keepManagedFields;
    this.#whole = new WholeReader({ keepManagedFields });
  }

  read(bytes: Uint8Array, from: number, to: number): unknown {
    return this.#read(bytes, from, to, '') ?? this.#whole.read(bytes, from, to);
  }

  item(bytes: Uint8Array, from: number, to: number, typeMeta: string): unknown {
    return this.#read(bytes, from, to, typeMeta);
  }

  /** Reads an object that was stored. The bytes of its lazy members are copied and not decoded. */
  stored(bytes: Uint8Array): unknown {
    const { length } = bytes;
    // A store may have written the JSON again, without the line breaks.
    const hasLines = bytes.includes(NEWLINE);
    return (hasLines && this.#read(bytes, 0, length, '', true)) || this.read(bytes, 0, length);
  }

  #read(
    bytes: Uint8Array,
    from: number,
    to: number,
    typeMeta: string,
    isStored = false,
  ): Record<string, unknown> | undefined {
    const members = this.#members;
    if (!members.read(bytes, from, to, isStored)) return undefined;
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
    const last = isLazy.lastIndexOf(true);
    const moved =
      isStored && last >= 0
        ? this.#keep(bytes, members.starts[firstLazy] ?? 0, members.ends[last] ?? 0)
        : 0;
    for (let index = inOrder && firstLazy > 0 ? firstLazy : 0; index < count; index++) {
      const name = names[index] ?? '';
      if (!isLazy[index]) {
        if (!inOrder) object[name] = head[name];
        continue;
      }
      const accessor = accessorOf(name, values.length);
      if (accessor === undefined) return undefined;
      Object.defineProperty(object, name, accessor);
      const [start = 0, end = 0] = [members.starts[index], members.ends[index]];
      if (isStored) {
        values.push(new LazyValue({ bytes: this.#block, from: start - moved, to: end - moved }));
        continue;
      }
      const own = textOf(bytes, start, end);
      values.push(stored?.[values.length]?.next(own) ?? new LazyValue(own));
    }
    // The copy has exactly the memory for these values. A list that grows by `push` reserves 17 places.
    if (values.length > 0) makeLazy(object, values.slice());
    return object;
  }

  /** Copies bytes for objects to keep. Returns how far they were moved. */
  #keep(bytes: Uint8Array, from: number, to: number): number {
    const at = this.#used + to - from > this.#block.length ? 0 : this.#used;
    if (at === 0) this.#block = new Uint8Array(Math.max(BLOCK, to - from));
    this.#block.set(bytes.subarray(from, to), at);
    this.#used = at + to - from;
    return from - at;
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
