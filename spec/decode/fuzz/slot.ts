/** One collection of a chain: its decoder under test, the decoder that parses whole objects, and the reference. */
import { isDeepStrictEqual } from 'node:util';
import {
  type DecodeContext,
  type Decoder,
  type Decoding,
  jsonDecoding,
  type ListPart,
  type Refusal,
  type WatchEvent,
} from 'rx-informer';
import { metadataProjection } from '../../../lib/decode/projection.ts';
import { uidOf, versionOf } from '../../../lib/meta/kubernetes-object.ts';
import { reuseUnchanged } from '../../../lib/meta/reuse-unchanged.ts';
import { successorOf } from '../../../lib/store/successor-of.ts';
import type { Anything } from '../decoder.ts';
import { identityOf, parsed, Reference, type Shown } from './reference.ts';
import { type Setting, things, transform } from './setting.ts';

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
}

/** Fails with both values if they differ, in the order of members, in -0 or in anything else. */
export function same(what: string, got: unknown, expected: unknown): void {
  const [gotText, expectedText] = [`${JSON.stringify(got)}`, `${JSON.stringify(expected)}`];
  if (gotText === expectedText && isDeepStrictEqual(got, expected)) return;
  // The texts may be equal, because they show -0 as 0.
  let at = 0;
  while (at < gotText.length && gotText[at] === expectedText[at]) at++;
  const around = (text: string) =>
    `${text.slice(Math.max(0, at - 300), at)} ▶ ${text.slice(at, at + 200)}`;
  throw new Error(`${what}:\ngot      ${around(gotText)}\nexpected ${around(expectedText)}`);
}

function shownEvent(event: WatchEvent<Anything>): Shown {
  if (event.type === 'REFUSED') {
    const { key, resourceVersion } = event.refused;
    return { type: event.type, key, resourceVersion };
  }
  if (event.type === 'BOOKMARK' || event.type === 'ERROR') return { ...event };
  const { type, key, object } = event;
  return object === undefined ? { ...event } : { type, key, object };
}

const messages = (refusals: readonly Refusal[]) =>
  refusals.map(({ reason, key, resourceVersion }) => [reason.message, key, resourceVersion]);

/** A body that both decoders read. */
interface Read<Out> {
  readonly out: Out[];
  readonly failure: string | undefined;
  readonly refusals: unknown;
}

function shownList({ out, failure, refusals }: Read<ListPart<Anything>>) {
  return {
    items: out.flatMap(({ items }) => items),
    refused: out.flatMap(({ refused = [] }) => refused.map(({ key }) => key)),
    metadata: out.map(({ metadata }) => metadata),
    failure,
    refusals,
  };
}

export class Slot {
  readonly setting: Setting;
  /** The results so far, with their texts. */
  readonly results: [object: unknown, text: string][] = [];
  readonly #decoding: Decoding;
  readonly #stored = new Map<string, Anything>();
  #watches:
    | [Decoder<readonly WatchEvent<Anything>[]>, Decoder<readonly WatchEvent<Anything>[]>]
    | undefined;
  readonly #refusals: [Refusal[], Refusal[]] = [[], []];

  constructor(setting: Setting, decoding: Decoding) {
    this.setting = setting;
    this.#decoding = decoding;
  }

  #context(refusals: Refusal[], reuse?: boolean): DecodeContext<Anything> {
    const { kind, resourceKind, keepManagedFields, transforms, stores } = this.setting;
    const stored = this.#stored;
    const known = {
      get: (key: string) => stored.get(key),
      keys: () => stored.keys(),
      get size() {
        return stored.size;
      },
    };
    return {
      resource: { ...things, kind: resourceKind ?? (kind === 'Node' ? 'Node' : 'Pod') },
      ...(kind === 'PartialObjectMetadata' ? { projection: metadataProjection } : {}),
      maxFrameBytes: 10_000_000,
      keepManagedFields,
      ...(transforms ? { transform } : {}),
      ...(stores ? { known } : {}),
      reuse,
      onRefused: (each) => refusals.push(each),
    };
  }

  #read<Out>(
    decoder: Decoder<Out>,
    chunks: readonly Uint8Array[],
    ends: boolean,
    refusals: Refusal[],
  ): Read<Out> {
    const out: Out[] = [];
    for (const chunk of chunks) {
      // The bytes are overwritten after the call, so a decoder must have copied what it keeps.
      const lent = Uint8Array.from(chunk);
      const part = decoder.push(lent);
      lent.fill(0x21);
      if (part !== undefined) out.push(part);
    }
    const rest = ends ? decoder.end() : undefined;
    if (rest !== undefined) out.push(rest);
    return { out, failure: decoder.failure?.message, refusals: messages(refusals.splice(0)) };
  }

  /** Reads complete lines, or with `ends` the last ones of a watch, of which the last may be cut. */
  watch(lines: readonly Uint8Array[], chunks: readonly Uint8Array[], ends: boolean): void {
    const [ownSkipped, plainSkipped] = this.#refusals;
    this.#watches ??= [
      this.#decoding.watch(this.#context(ownSkipped)),
      jsonDecoding().watch(this.#context(plainSkipped)),
    ];
    const [own, plain] = this.#watches;
    const got = this.#read(own, chunks, ends, ownSkipped);
    const events = got.out.flat();
    const shown = events.map(shownEvent);
    const plainRead = this.#read(plain, chunks, ends, plainSkipped);
    // The bytes of managed fields that are dropped are not checked (D6), so either decoder may accept such a line.
    const isDoubtful = lines.some((line) => this.#mayBeAccepted(line));
    if (!isDoubtful) {
      const plainShown = plainRead.out.flat().map(shownEvent);
      same('the events of the decoder that parses whole objects', shown, plainShown);
      same('its failure', got.failure, plainRead.failure);
      same('what it refused', got.refusals, plainRead.refusals);
    }
    const objects = shown.filter(({ type }) => type !== 'BOOKMARK');
    this.#compareLines(lines, objects, got.failure);
    if (ends || got.failure !== undefined || isDoubtful) this.#watches = undefined;
    for (const event of events) this.#keep(event);
  }

  /** Whether a line that is not JSON has managed fields that are dropped. */
  #mayBeAccepted(line: Uint8Array): boolean {
    if (this.setting.keepManagedFields || !Buffer.from(line).includes('managedFields'))
      return false;
    return parsed(line) === undefined;
  }

  #compareLines(
    lines: readonly Uint8Array[],
    shown: readonly Shown[],
    failure: string | undefined,
  ): void {
    const reference = new Reference(this.#context([]));
    let at = 0;
    for (const line of lines) {
      const { shown: expected, failed } = reference.line(line);
      if (failed) {
        if (this.#mayBeAccepted(line)) return;
        if (failure === undefined)
          throw new Error(`a line is accepted that is not JSON: ${Buffer.from(line)}`);
        return same('events before the failure', shown.slice(at), []);
      }
      for (const each of expected)
        same(`event ${at} of ${Buffer.from(line)}`.slice(0, 600), shown[at++], each);
    }
    same('events after the last line', shown.slice(at), []);
    same('a failure without a reason', failure, undefined);
  }

  /** Stores the object as a store does, and remembers the result. */
  #keep(event: WatchEvent<Anything>): void {
    if (event.type === 'BOOKMARK' || event.type === 'ERROR' || event.type === 'REFUSED') return;
    const { key, object } = event;
    if (object === undefined) return;
    this.#remember(object);
    if (!this.setting.stores) return;
    if (event.type === 'DELETED') {
      this.#stored.delete(key);
      return;
    }
    const { basis } = event;
    if (basis !== undefined && uidOf(basis) !== uidOf(object)) {
      throw new Error(`${key}: an object has parts of an object of another UID`);
    }
    // With an equal version nothing is stored, so metadata of which only dropped managed fields differ do not matter.
    const isNew = basis !== undefined && versionOf(basis) !== versionOf(object);
    if (isNew && reuseUnchanged(basis, object) !== object) {
      throw new Error(`${key}: an object lacks parts of its basis, which are equal`);
    }
    const next = successorOf(this.#stored.get(key), object, 'watch', basis);
    if (next === undefined) return;
    this.#remember(next);
    this.#stored.set(key, next);
  }

  #remember(object: Anything): void {
    if (this.setting.freezes) deepFreeze(object);
    this.results.push([object, JSON.stringify(object)]);
  }

  /** Reads a list of these items, of which one may be damaged. */
  list(
    items: readonly string[],
    body: readonly Uint8Array[],
    reuse: boolean,
    isDamaged: boolean,
  ): void {
    const [ownSkipped, plainSkipped]: [Refusal[], Refusal[]] = [[], []];
    const own = this.#decoding.list(this.#context(ownSkipped, reuse));
    const plain = jsonDecoding().list(this.#context(plainSkipped, false));
    const got = this.#read(own, body, true, ownSkipped);
    const plainRead = this.#read(plain, body, true, plainSkipped);
    const had = new Set<unknown>(this.#stored.values());
    const gotItems = got.out.flatMap((part) => part.items);
    const isUnparsed = (each: Anything) => reuse && had.has(each);
    const someUnparsed = gotItems.some(isUnparsed);
    if (got.out.some(({ unparsed }) => unparsed) !== someUnparsed) {
      throw new Error('a part is not marked as unparsed');
    }
    if (!someUnparsed) {
      const what = 'the list of the decoder that parses whole objects';
      same(what, shownList(got), shownList(plainRead));
    }
    for (const item of gotItems) this.#remember(item);
    // An item that is not parsed is not checked.
    if (isDamaged) return;
    same('the failure of a list', got.failure, undefined);
    this.#compareItems(items, gotItems, isUnparsed);
  }

  #compareItems(
    items: readonly string[],
    got: readonly Anything[],
    isUnparsed: (each: Anything) => boolean,
  ): void {
    const reference = new Reference(this.#context([]));
    const left = [...got];
    for (const item of items) {
      const expected = reference.item(item);
      const [next] = left;
      const stored = next !== undefined && isUnparsed(next) ? identityOf(next) : undefined;
      if ('refused' in expected) {
        // A stored object of this UID and version was accepted before, and stands for this one.
        if (isDeepStrictEqual(stored, expected.refused)) left.shift();
        continue;
      }
      left.shift();
      if (stored === undefined) same(`the item ${item}`, next, expected.admitted);
      else same('the identity of a stored object', stored, identityOf(expected.admitted));
    }
    same('items after the last', left, []);
  }

  /** Checks that no result was changed by what was decoded later. */
  check(): void {
    for (const [object, text] of this.results) {
      if (JSON.stringify(object) !== text) {
        throw new Error(
          `an earlier result was changed:\nnow    ${JSON.stringify(object)}\nbefore ${text}`,
        );
      }
    }
  }
}
