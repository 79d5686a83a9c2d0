/** The default decoder, which parses one object at a time with `JSON.parse`. */
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { createAdmission } from './admission.ts';
import type { DecodeContext, Decoder, Decoding } from './decoding.ts';
import { LineFramer } from './json-lines.ts';
import { ItemFramer } from './list-items.ts';
import { expectKind, type Projection } from './projection.ts';
import type { ListMeta, ListPart, Refused, WatchEvent } from './watch-event.ts';
import { KindTally, wrongKind } from './wrong-kind.ts';

/** The annotation of the bookmark that ends the initial events of a streaming LIST, with the value `"true"`. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Matches an item that begins with its kind or apiVersion. */
const OWN_TYPE = /^\{\s*"(?:kind|apiVersion)"/;

/**
 * Parses JSON without quoting the text in an error, because it may be a Secret and V8's message quotes a part of it.
 */
function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw ApiError.local('Malformed', `${what} of ${text.length} characters is not JSON`);
  }
}

/** The base of both decoders. An error that a decoding step throws becomes the decoder's failure. */
abstract class JsonDecoder<Out> implements Decoder<Out> {
  failure: ApiError | undefined;

  push(chunk: Uint8Array): Out | undefined {
    return this.failure === undefined ? this.guard((out) => this.read(chunk, out)) : undefined;
  }

  end(): Out | undefined {
    return this.failure === undefined ? this.guard((out) => this.finish(out)) : undefined;
  }

  protected abstract empty(): Out;
  protected abstract isEmpty(out: Out): boolean;
  protected abstract read(chunk: Uint8Array, out: Out): void;
  protected abstract finish(out: Out): void;

  private guard(step: (out: Out) => void): Out | undefined {
    const out = this.empty();
    try {
      step(out);
    } catch (error) {
      this.failure = ApiError.from(error, 'decoding');
    }
    return this.isEmpty(out) ? undefined : out;
  }
}

class WatchDecoder<T extends KubernetesObject> extends JsonDecoder<WatchEvent<T>[]> {
  readonly #framer: LineFramer;
  readonly #context: DecodeContext<T>;
  readonly #admit: ReturnType<typeof createAdmission<T>>;
  readonly #tally = new KindTally();

  constructor(context: DecodeContext<T>) {
    super();
    this.#context = context;
    this.#framer = new LineFramer(context.maxFrameBytes);
    this.#admit = createAdmission(context, this.#tally);
  }

  protected override empty(): WatchEvent<T>[] {
    return [];
  }

  protected override isEmpty(out: WatchEvent<T>[]): boolean {
    return out.length === 0;
  }

  protected override read(chunk: Uint8Array, out: WatchEvent<T>[]): void {
    const text = this.#framer.push(chunk);
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf('\n', from);
      const end = newline === -1 ? text.length : newline;
      if (end > from) this.#line(text.slice(from, end), out);
      from = end + 1;
    }
    if (this.#framer.failure !== undefined) throw this.#framer.failure;
  }

  protected override finish(): void {
    this.#framer.end();
  }

  #line(line: string, out: WatchEvent<T>[]): void {
    if (line.trim() === '') return;
    const event = parse(line, 'a line') as { type?: unknown; object?: unknown } | null;
    const type = event?.type;
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const { projection } = this.#context;
      if (projection === undefined) return this.#object(type, event?.object, out);
      const table = this.#projected(projection, event?.object);
      if (table === undefined) return this.#object(type, event?.object, out);
      for (const row of table.rowsOf(event?.object)) this.#object(type, table.toObject(row), out);
      return;
    }
    if (type === 'BOOKMARK') return this.#bookmark(event?.object, out);
    if (type === 'ERROR') {
      const status = (event?.object ?? {}) as Status;
      const error =
        status.kind === 'Status'
          ? ApiError.fromStatus(status, 500)
          : ApiError.local('Unexpected', 'the watch sent an ERROR without a Status');
      out.push({ type: 'ERROR', error });
      return;
    }
    const shown = typeof type === 'string' ? type.slice(0, 40) : typeof type;
    const message = `${this.#context.resource.plural}: unknown watch event type ${JSON.stringify(shown)}`;
    this.#context.onSkipped({ reason: ApiError.local('Unexpected', message) });
  }

  #object(type: 'ADDED' | 'MODIFIED' | 'DELETED', received: unknown, out: WatchEvent<T>[]): void {
    const isDeleted = type === 'DELETED';
    const admitted = this.#admit(received, isDeleted);
    if (admitted.verdict === 'skipped') return;
    if (admitted.verdict === 'rejected') {
      const { refused } = admitted;
      const { key, resourceVersion } = refused;
      if (isDeleted) out.push({ type, key, resourceVersion });
      else out.push({ type: 'REJECTED', key, refused });
      return;
    }
    const { key, object } = admitted;
    if (!isDeleted) out.push({ type, key, object });
    else out.push({ type, key, object, resourceVersion: object.metadata?.resourceVersion ?? '' });
  }

  #bookmark(object: unknown, out: WatchEvent<T>[]): void {
    const { projection } = this.#context;
    const table = projection && this.#projected(projection, object);
    const metadata = table
      ? table.bookmarkOf(object)
      : (object as KubernetesObject | undefined)?.metadata;
    const resourceVersion = metadata?.resourceVersion;
    if (typeof resourceVersion !== 'string' || resourceVersion === '') {
      const message = `${this.#context.resource.plural}: a bookmark without resourceVersion`;
      this.#context.onSkipped({ reason: ApiError.local('Unexpected', message) });
      return;
    }
    const initialEventsEnd = metadata?.annotations?.[INITIAL_EVENTS_END] === 'true';
    if (initialEventsEnd && projection === undefined) this.#checkKind(object);
    out.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd });
  }

  /**
   * Checks the kind of a watch event's object under a projection and reports the columns. Returns how to read a
   * table.
   */
  #projected({ eventKind, table }: Projection, object: unknown): Projection['table'] {
    const { plural } = this.#context.resource;
    expectKind(plural, eventKind, (object as KubernetesObject | undefined)?.kind);
    table?.tellColumns(object);
    return table;
  }

  /** Checks the kinds at the end of a streaming list, because from then on the store counts as complete. */
  #checkKind(bookmark: unknown): void {
    const { resource } = this.#context;
    const { kind } = bookmark as { kind?: unknown };
    if (resource.kind !== '' && typeof kind === 'string' && kind !== resource.kind) {
      throw wrongKind(resource, `bookmark of kind ${resource.kind}`, kind);
    }
    if (this.#tally.failure !== undefined) throw this.#tally.failure;
  }
}

/** The fields of a list body that are read, without its items. */
interface Envelope {
  kind?: unknown;
  metadata?: { resourceVersion?: unknown; continue?: unknown; remainingItemCount?: unknown };
}

/** The text that is put before an item that has no type. */
function typeMeta({ kind, apiVersion }: Pick<Resource, 'kind' | 'apiVersion'>): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

function isList(kind: unknown): boolean {
  return typeof kind === 'string' && kind.endsWith('List');
}

/** A list part that is being filled. */
interface PartDraft<T> {
  items: T[];
  rejected: Refused[];
  wrongKind?: ApiError;
  metadata?: ListMeta;
}

class ListDecoder<T extends KubernetesObject> extends JsonDecoder<PartDraft<T>> {
  readonly #framer: ItemFramer;
  readonly #context: DecodeContext<T>;
  readonly #admit: ReturnType<typeof createAdmission<T>>;
  readonly #tally = new KindTally();
  #typeMeta: string;
  #opened = false;
  #length = 0;

  constructor(context: DecodeContext<T>) {
    super();
    this.#context = context;
    this.#framer = new ItemFramer(context.maxFrameBytes, context.projection?.member);
    this.#admit = createAdmission(context, this.#tally);
    this.#typeMeta = typeMeta(context.projection ?? context.resource);
  }

  protected override empty(): PartDraft<T> {
    return { items: [], rejected: [] };
  }

  protected override isEmpty(out: PartDraft<T>): boolean {
    return out.items.length === 0 && out.rejected.length === 0 && out.metadata === undefined;
  }

  protected override read(chunk: Uint8Array, out: PartDraft<T>): void {
    const { maxPageBytes = Number.POSITIVE_INFINITY } = this.#context;
    this.#length += chunk.length;
    if (this.#length > maxPageBytes) {
      const message = `the list is longer than ${maxPageBytes} bytes; request pages, or raise maxPageBytes`;
      throw ApiError.local('TooLarge', message);
    }
    for (const text of this.#framer.push(chunk)) {
      if (!this.#opened) this.#open();
      this.#item(text, out);
    }
  }

  /**
   * Reads the fields before the items. Most servers send the kind first, so a wrong kind is detected before the first
   * item.
   */
  #open(): void {
    this.#opened = true;
    const { projection, resource } = this.#context;
    const opening = parse(this.#framer.opening, 'a list') as Partial<Envelope>;
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
    const envelope = parse(this.#framer.end(), 'a list') as Envelope | null;
    const got = envelope?.kind;
    if (projection !== undefined) {
      expectKind(resource.plural, projection.listKind, got);
      projection.table?.tellColumns(envelope);
    } else this.#expectList(got);
    const { resourceVersion, continue: next, remainingItemCount } = envelope?.metadata ?? {};
    const { failure } = this.#tally;
    if (failure !== undefined) out.wrongKind = failure;
    out.metadata = {
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
      ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
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

  #item(text: string, out: PartDraft<T>): void {
    const table = this.#context.projection?.table;
    if (table !== undefined) return this.#keep(table.toObject(parse(text, 'a row')), out);
    // Items of built-in lists have no type. The type is put first, as in watch events. An item that begins with its
    // own type, such as a custom resource, keeps its order of fields.
    const body = text.slice(1);
    const typed = OWN_TYPE.test(text) || body.trimStart().startsWith('}');
    this.#keep(parse(typed ? text : this.#typeMeta + body, 'an item'), out);
  }

  #keep(received: unknown, out: PartDraft<T>): void {
    const admitted = this.#admit(received);
    if (admitted.verdict === 'admitted') out.items.push(admitted.object);
    else if (admitted.verdict === 'rejected') out.rejected.push(admitted.refused);
  }
}

/** Decodes with `JSON.parse` into plain, writable objects, as on the wire. */
export const jsonDecoding: Decoding = {
  watch: (context) => new WatchDecoder(context),
  list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
    new ListDecoder(context),
};
