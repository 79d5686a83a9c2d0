/** Decodes the lines of a watch into events. */
import { ApiError, type Status } from '../meta/api-error.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { createAdmission, wrongKind } from './admission.ts';
import type { DecodeContext } from './decoding.ts';
import { JsonDecoder } from './json-decoder.ts';
import { LineFramer } from './json-lines.ts';
import { CLOSE_OBJECT, isText } from './json-scan.ts';
import { parseText, textOf } from './json-text.ts';
import { type ObjectReader, WholeReader } from './object-reader.ts';
import { expectKind, type Projection } from './projection.ts';
import { storedObjects } from './stored-objects.ts';
import type { WatchEvent } from './watch-event.ts';

/** The annotation of the bookmark that ends the initial events of a streaming LIST, with the value `"true"`. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Emits the events of each chunk. */
export class WatchDecoder<T extends KubernetesObject> extends JsonDecoder<WatchEvent<T>[]> {
  readonly #framer: LineFramer;
  readonly #context: DecodeContext<T>;
  readonly #admit: ReturnType<typeof createAdmission<T>>;
  readonly #reader: ObjectReader<T>;
  readonly #stored: ReturnType<typeof storedObjects<T>>;
  /** Whether the events may be those of a list, in which stored objects may be reused. */
  #isList: boolean;

  constructor(context: DecodeContext<T>, reader: ObjectReader<T> = new WholeReader(context)) {
    super(context);
    this.#context = context;
    this.#reader = reader;
    this.#stored = storedObjects(context);
    this.#isList = context.reuse !== undefined;
    this.#framer = new LineFramer(context.maxFrameBytes);
    this.#admit = createAdmission(context, this.tally);
  }

  protected override empty(): WatchEvent<T>[] {
    return [];
  }

  protected override isEmpty(out: WatchEvent<T>[]): boolean {
    return out.length === 0;
  }

  protected override read(chunk: Uint8Array, out: WatchEvent<T>[]): void {
    this.#framer.push(chunk, (bytes, from, to) => this.#line(bytes, from, to, out));
  }

  protected override finish(): void {
    this.#framer.end();
  }

  #line(bytes: Uint8Array, from: number, to: number, out: WatchEvent<T>[]): void {
    const begin = openingOf(bytes, from, to);
    // The rows of a table are read by its projection.
    if (begin === undefined || this.#context.projection?.table !== undefined) {
      return this.#wholeLine(textOf(bytes, from, to), out);
    }
    const { type, text } = begin;
    // It ends before the last byte of the line.
    const object = from + text.length - 1;
    if (type === 'ADDED' && this.#isList) {
      const stored = this.#stored?.find(bytes, object, to - 1);
      if (stored !== undefined) {
        this.#reader.count?.('unchanged');
        this.tally.own();
        out.push({ type, key: stored.key, object: stored.object, unparsed: true });
        return;
      }
    }
    let received: unknown;
    try {
      received = this.#reader.read(bytes, object, to - 1, type === 'DELETED', this.#isList);
    } catch {
      // The line has other members, or is not JSON: then this gives the error.
      return this.#wholeLine(textOf(bytes, from, to), out);
    }
    const { projection } = this.#context;
    if (projection !== undefined) this.#projected(projection, received);
    this.#object(type, received, out, this.#reader.basis);
  }

  #wholeLine(line: string, out: WatchEvent<T>[]): void {
    if (line.trim() === '') return;
    const event = parseText(line, 'a line') as { type?: unknown; object?: unknown } | null;
    const { type, object } = event ?? {};
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const { projection } = this.#context;
      if (projection === undefined) {
        return this.#object(type, this.#reader.reduce?.(object) ?? object, out);
      }
      const table = this.#projected(projection, object);
      if (table === undefined) return this.#object(type, object, out);
      for (const row of table.rowsOf(object)) this.#object(type, table.toObject(row), out);
      return;
    }
    if (type === 'BOOKMARK') return this.#bookmark(object, out);
    if (type === 'ERROR') {
      const status = (object ?? {}) as Status;
      const error =
        status.kind === 'Status'
          ? ApiError.fromStatus(status, 500)
          : ApiError.local('Unexpected', 'the watch sent an ERROR without a Status');
      out.push({ type: 'ERROR', error });
      return;
    }
    const shown = typeof type === 'string' ? type.slice(0, 40) : typeof type;
    const message = `${this.#context.resource.plural}: unknown watch event type ${JSON.stringify(shown)}`;
    this.tally.refuse(message);
  }

  #object(type: ObjectEventType, received: unknown, out: WatchEvent<T>[], basis?: T): void {
    const isDeleted = type === 'DELETED';
    const admitted = this.#admit(received, isDeleted);
    if (admitted.verdict === 'dropped') return;
    if (admitted.verdict === 'refused') {
      const { refused } = admitted;
      const { key, resourceVersion } = refused;
      if (isDeleted) out.push({ type, key, resourceVersion });
      else out.push({ type: 'REFUSED', key, refused });
      return;
    }
    const { key, object } = admitted;
    if (!isDeleted) out.push({ type, key, object, basis });
    else out.push({ type, key, object, resourceVersion: versionOf(object) });
  }

  #bookmark(object: unknown, out: WatchEvent<T>[]): void {
    const { projection } = this.#context;
    const table = projection && this.#projected(projection, object);
    const metadata = table
      ? table.bookmarkOf(object)
      : (object as KubernetesObject | undefined)?.metadata;
    const given = metadata?.resourceVersion;
    const resourceVersion = typeof given === 'string' ? given : '';
    // Within a list it says that the list is at its end, or that it is none, whatever its version.
    if (resourceVersion === '' && !this.#isList) {
      const message = `${this.#context.resource.plural}: a bookmark without resourceVersion`;
      this.tally.refuse(message);
      return;
    }
    this.#isList = false;
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
    if (this.tally.failure !== undefined) throw this.tally.failure;
  }
}

/** How the lines of events begin that have an object of the collection, as servers write them. */
const OPENINGS = [
  { type: 'MODIFIED', text: '{"type":"MODIFIED","object":{' },
  { type: 'ADDED', text: '{"type":"ADDED","object":{' },
  { type: 'DELETED', text: '{"type":"DELETED","object":{' },
] as const;

type ObjectEventType = (typeof OPENINGS)[number]['type'];

/** Returns how the line begins; `undefined` if the line is of another form. */
function openingOf(bytes: Uint8Array, from: number, to: number) {
  if (bytes[to - 1] !== CLOSE_OBJECT) return undefined;
  for (const each of OPENINGS) {
    if (isText(each.text, bytes, from, from + each.text.length)) return each;
  }
  return undefined;
}
