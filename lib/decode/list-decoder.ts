/** Decodes the body of a list, item by item. */
import { ApiError, type Status } from '../meta/api-error.ts';
import { isFields } from '../meta/json-fields.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { createAdmission, wrongKind } from './admission.ts';
import type { DecodeContext } from './decoding.ts';
import { JsonDecoder } from './json-decoder.ts';
import { parseText, textOf } from './json-text.ts';
import { ItemFramer } from './list-items.ts';
import { type ObjectReader, ObjectText } from './object-reader.ts';
import { expectKind } from './projection.ts';
import { storedObjects } from './stored-objects.ts';
import type { ListMeta, Refused } from './watch-event.ts';

/** Matches an item that begins with its kind or apiVersion. */
const OWN_TYPE = /^\{\s*"(?:kind|apiVersion)"/;

/** The fields of a list body that are read, without its items. */
interface Envelope {
  kind?: unknown;
  /** Of a `Status`. */
  status?: unknown;
  items?: unknown;
  rows?: unknown;
  metadata?: {
    resourceVersion?: unknown;
    continue?: unknown;
    remainingItemCount?: unknown;
    shardInfo?: unknown;
  };
}

/** The text that is put before an item that has no type. */
function typeMeta({ kind, apiVersion }: Pick<Resource, 'kind' | 'apiVersion'>): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

function isList(kind: unknown): boolean {
  return typeof kind === 'string' && kind.endsWith('List');
}

/** Reads the items that are not stored already. Items that it does not read are parsed completely. */
type ItemReader<T> = Pick<ObjectReader<T>, 'count' | 'item' | 'reduce'>;

/** A list part that is being filled. */
export interface PartDraft<T> {
  items: T[];
  refused: Refused[];
  unparsed?: true;
  wrongKind?: ApiError;
  metadata?: ListMeta;
}

/** Emits the items of each chunk, and the metadata of the list at its end. */
export class ListDecoder<T extends KubernetesObject> extends JsonDecoder<PartDraft<T>> {
  readonly #framer: ItemFramer;
  readonly #context: DecodeContext<T>;
  readonly #admit: ReturnType<typeof createAdmission<T>>;
  #typeMeta: string;
  #opened = false;
  #length = 0;

  readonly #reader: ItemReader<T>;
  readonly #stored: ReturnType<typeof storedObjects<T>>;
  readonly #text: ObjectText;

  constructor(context: DecodeContext<T>, reader: ItemReader<T> = {}) {
    super(context);
    this.#context = context;
    this.#reader = reader;
    this.#stored = storedObjects(context);
    this.#text = new ObjectText(context.keepManagedFields);
    this.#framer = new ItemFramer(context.maxFrameBytes, context.projection?.member);
    this.#admit = createAdmission(context, this.tally);
    this.#typeMeta = typeMeta(context.projection ?? context.resource);
  }

  protected override empty(): PartDraft<T> {
    return { items: [], refused: [] };
  }

  protected override isEmpty(out: PartDraft<T>): boolean {
    return out.items.length === 0 && out.refused.length === 0 && out.metadata === undefined;
  }

  protected override read(chunk: Uint8Array, out: PartDraft<T>): void {
    const { maxPageBytes = Number.POSITIVE_INFINITY } = this.#context;
    this.#length += chunk.length;
    if (this.#length > maxPageBytes) {
      const message = `the list is longer than ${maxPageBytes} bytes; request pages, or raise maxPageBytes`;
      throw ApiError.local('TooLarge', message);
    }
    this.#framer.push(chunk, (bytes, from, to) => {
      if (!this.#opened) this.#open();
      this.#item(bytes, from, to, out);
    });
  }

  /**
   * Reads the fields before the items. Most servers send the kind first, so a wrong kind is detected before the first
   * item.
   */
  #open(): void {
    this.#opened = true;
    const { projection, resource } = this.#context;
    const opening = parseText(this.#framer.opening, 'a list') as Partial<Envelope>;
    if (projection !== undefined) {
      if (opening.kind !== undefined)
        expectKind(resource.plural, projection.listKind, opening.kind);
      projection.table?.tellColumns(opening);
    } else if (resource.kind !== '') {
      if (opening.kind !== undefined) this.#expectList(opening.kind);
    } else if (typeof opening.kind === 'string' && opening.kind.endsWith('List')) {
      const kind = opening.kind.slice(0, -'List'.length);
      if (kind !== '') this.#typeMeta = typeMeta({ kind, apiVersion: resource.apiVersion });
    }
  }

  protected override finish(out: PartDraft<T>): void {
    const { projection, resource } = this.#context;
    const envelope = parseText(this.#framer.end(), 'a list') as Envelope | null;
    const got = envelope?.kind;
    // Servers may refuse a list with a Status whose HTTP status is 200. client-go: rest/request.go, Result.Into.
    if (envelope?.status === 'Failure' && got === 'Status') {
      throw ApiError.fromStatus(envelope as Status, 500);
    }
    if (projection !== undefined) {
      expectKind(resource.plural, projection.listKind, got);
      projection.table?.tellColumns(envelope);
    } else this.#expectList(got);
    const items = envelope?.[projection?.member ?? 'items'] ?? [];
    const odd = Array.isArray(items) ? items.filter((item) => !isFields(item)) : [];
    const { count } = this.#framer;
    const isList = Array.isArray(items) && items.length - odd.length === count;
    // Otherwise a list without its items would be an empty one, and delete every object.
    if (!isList || (count === 0 && odd.length > 0)) {
      throw ApiError.local('Malformed', 'the items are not a list of objects');
    }
    for (const _item of odd) this.#admit(undefined);
    const {
      resourceVersion,
      continue: next,
      remainingItemCount,
      shardInfo,
    } = envelope?.metadata ?? {};
    const { failure } = this.tally;
    if (failure !== undefined) out.wrongKind = failure;
    out.metadata = {
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
      ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
      ...(shardInfo === undefined ? {} : { sharded: true }),
    };
  }

  /** A body without a kind is refused, too: otherwise `{}` would be an empty list and delete every object. */
  #expectList(got: unknown): void {
    const { resource } = this.#context;
    const { plural, kind } = resource;
    if (kind === '' ? isList(got) : got === `${kind}List` || got === 'List') return;
    const expected = `${kind}List`;
    if (kind !== '' && typeof got === 'string' && got !== '' && got !== 'Status') {
      throw wrongKind(resource, expected, got);
    }
    const shown = got === undefined ? 'no kind' : JSON.stringify(String(got).slice(0, 60));
    throw ApiError.local('Unexpected', `${plural}: expected a ${expected}, got ${shown}`);
  }

  #item(bytes: Uint8Array, from: number, to: number, out: PartDraft<T>): void {
    const table = this.#context.projection?.table;
    if (table !== undefined) {
      return this.#keep(table.toObject(parseText(textOf(bytes, from, to), 'a row')), out);
    }
    const stored = this.#stored?.find(bytes, from, to);
    this.#reader.count?.(stored === undefined ? 'parsed' : 'unchanged');
    if (stored !== undefined) {
      this.tally.own();
      out.items.push(stored.object);
      out.unparsed = true;
      return;
    }
    const read = this.#reader.item?.(bytes, from, to, this.#typeMeta);
    if (read !== undefined) return this.#keep(read, out);
    const text = this.#text.of(bytes, from, to);
    // Items of built-in lists have no type. The type is put first, as in watch events. An item that begins with its
    // own type, such as a custom resource, keeps its order of fields.
    const body = text.slice(1);
    const typed = OWN_TYPE.test(text) || body.trimStart().startsWith('}');
    const item = parseText(typed ? text : this.#typeMeta + body, 'an item');
    this.#keep(this.#reader.reduce?.(item) ?? item, out);
  }

  #keep(received: unknown, out: PartDraft<T>): void {
    const admitted = this.#admit(received);
    if (admitted.verdict === 'admitted') out.items.push(admitted.object);
    else if (admitted.verdict === 'refused') out.refused.push(admitted.refused);
  }
}
