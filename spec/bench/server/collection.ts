/** One collection of the server: its objects, its watches and its events. */
import type { ServerResponse } from 'node:http';
import { type CorpusName, corpora, drawCorpus } from '../corpus/corpora.ts';
import { firstVersion } from '../corpus/fields.ts';
import type { ObjectBytes } from '../corpus/object-bytes.ts';
import { type EventType, type Mode, Plan } from './plan.ts';

const chunkSize = 64 * 1024;
const lineEnd = Buffer.from('}\n');
const heads: Readonly<Record<EventType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
/** The greatest length of a line besides its object. */
const headLength = 64;

/** A watch or a list, and whether it gets managedFields. */
interface Reader {
  readonly response: ServerResponse;
  readonly withManaged: boolean;
}

/** Collects bytes into chunks. */
class Chunk {
  #bytes = Buffer.allocUnsafeSlow(chunkSize);
  #used = 0;

  /** Whether `more` bytes would exceed the chunk. */
  isFullFor(more: number): boolean {
    return this.#used > 0 && this.#used + more > this.#bytes.length;
  }

  event(type: EventType, objects: ObjectBytes, index: number, withManaged: boolean): void {
    this.#reserve(objects.capacity(index) + headLength);
    this.#used += heads[type].copy(this.#bytes, this.#used);
    this.#used = objects.write(index, withManaged, this.#bytes, this.#used);
    this.#used += lineEnd.copy(this.#bytes, this.#used);
  }

  item(objects: ObjectBytes, index: number, withManaged: boolean, first: boolean): void {
    this.#reserve(objects.capacity(index) + headLength);
    if (!first) this.#bytes[this.#used++] = 0x2c;
    this.#used = objects.write(index, withManaged, this.#bytes, this.#used);
  }

  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#used);
    // The response may still hold the bytes, so the next chunk has a buffer of its own.
    this.#bytes = Buffer.allocUnsafeSlow(chunkSize);
    this.#used = 0;
    return taken;
  }

  #reserve(bytes: number): void {
    if (this.#used === 0 && bytes > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }
}

async function write(response: ServerResponse, bytes: Buffer | string): Promise<void> {
  if (bytes.length === 0 || response.destroyed || response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** The final state, so that a client that lost an event is noticed. */
export interface State {
  readonly count: number;
  /** The sum of the versions of all objects, counted from the first version. */
  readonly sum: number;
}

export class Collection {
  readonly objects: ObjectBytes;
  readonly #name: CorpusName;
  readonly #seed: number;
  readonly #watches = new Set<Reader>();
  readonly #absent: number[] = [];
  #version = firstVersion;
  #plays = 0;

  constructor(name: CorpusName, objects: number, seed: number) {
    this.#name = name;
    this.#seed = seed;
    this.objects = drawCorpus(name, objects, seed);
  }

  get version(): number {
    return this.#version;
  }

  get watched(): boolean {
    return this.#watches.size > 0;
  }

  state(): State {
    const absent = new Set(this.#absent);
    let sum = 0;
    for (const [index, version] of this.objects.values.version.entries()) {
      if (!absent.has(index)) sum += version - firstVersion;
    }
    return { count: this.objects.count - absent.size, sum };
  }

  async list({ response, withManaged }: Reader, limit: number, after: number): Promise<void> {
    const { kind } = this.#kind;
    const to = Math.min(this.objects.count, after + (limit || this.objects.count));
    const remaining = this.objects.count - to;
    const more = remaining > 0 ? `,"continue":"${to}","remainingItemCount":${remaining}` : '';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(
      `{"kind":"${kind}List","apiVersion":"${this.#kind.apiVersion}","metadata":{"resourceVersion":"${this.#version}"${more}},"items":[`,
    );
    const chunk = new Chunk();
    const absent = new Set(this.#absent);
    let first = true;
    for (let index = after; index < to; index++) {
      if (absent.has(index)) continue;
      if (chunk.isFullFor(this.objects.capacity(index) + headLength)) {
        await write(response, chunk.take());
      }
      chunk.item(this.objects, index, withManaged, first);
      first = false;
    }
    await write(response, chunk.take());
    response.end(']}\n');
  }

  async watch(reader: Reader, sendInitialEvents: boolean, resourceVersion: string): Promise<void> {
    const { response, withManaged } = reader;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (sendInitialEvents) {
      const chunk = new Chunk();
      const absent = new Set(this.#absent);
      for (let index = 0; index < this.objects.count; index++) {
        if (absent.has(index)) continue;
        if (chunk.isFullFor(this.objects.capacity(index) + headLength)) {
          await write(response, chunk.take());
        }
        chunk.event('ADDED', this.objects, index, withManaged);
      }
      await write(response, chunk.take());
      await write(response, this.#bookmark(',"annotations":{"k8s.io/initial-events-end":"true"}'));
    } else if (resourceVersion !== String(this.#version)) {
      const message = 'too old resource version';
      const status = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message };
      response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      return;
    }
    this.#watches.add(reader);
    response.on('close', () => this.#watches.delete(reader));
  }

  /** Sends events as fast as the watches read them, or `rate` of them a second. */
  async play(mode: Mode, events: number, objects: number, rate?: number): Promise<void> {
    const among = Math.min(objects, this.objects.count);
    const plan = new Plan(among, this.#seed + ++this.#plays, this.#absent);
    // One chunk for all watches, as long as they agree on managedFields.
    const withManaged = [...this.#watches].some((reader) => reader.withManaged);
    const chunk = new Chunk();
    const started = performance.now();
    for (let n = 0; n < events; ) {
      const elapsed = performance.now() - started;
      const due =
        rate === undefined ? events : Math.min(events, Math.floor((elapsed / 1000) * rate));
      while (n < due) {
        const { type, index, aspect } = plan.next(mode, ++n === events);
        this.#change(type, index, aspect, mode === 'steady');
        if (chunk.isFullFor(this.objects.capacity(index) + headLength)) await this.#send(chunk);
        chunk.event(type, this.objects, index, withManaged);
      }
      await this.#send(chunk);
      if (rate !== undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(
      [...this.#watches].map(({ response }) => write(response, this.#bookmark(''))),
    );
  }

  #change(
    type: EventType,
    index: number,
    aspect: 'status' | 'labels' | 'spec',
    stamped: boolean,
  ): void {
    const { values } = this.objects;
    const version = ++this.#version;
    // A second has 2,000 events.
    const second = Math.floor((version - firstVersion) / 2000);
    if (type === 'ADDED') values.recreate(index, version);
    else if (type === 'DELETED') values.version[index] = version;
    else values.change(index, aspect, version, second);
    // Otherwise the annotation keeps its value, because a firehose changes no annotation with each status.
    if (stamped) values.written[index] = Number(process.hrtime.bigint() / 1000n);
  }

  async #send(chunk: Chunk): Promise<void> {
    const bytes = chunk.take();
    await Promise.all([...this.#watches].map(({ response }) => write(response, bytes)));
  }

  get #kind(): { readonly kind: string; readonly apiVersion: string } {
    const { kind, group, version } = corpora[this.#name];
    return { kind, apiVersion: group === '' ? version : `${group}/${version}` };
  }

  #bookmark(annotations: string): string {
    const { kind, apiVersion } = this.#kind;
    return `{"type":"BOOKMARK","object":{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${this.#version}"${annotations}}}}\n`;
  }
}
