/**
 * A synthetic API server in a process of its own: Pods only, plain HTTP/1.1 on loopback, with bytes encoded in
 * advance.
 *
 *   node spec/bench/server.ts --objects 50000          prints {"url":"…"} and serves until stdin ends
 *
 * GET  /api/v1/pods                                     LIST (limit, continue) and WATCH (sendInitialEvents)
 * POST /firehose?events=200000                          MODIFIED events as fast as the watchers read
 * POST /paced?rate=5000&events=25000&objects=10000      the same at a steady rate
 *
 * Both wait for a watch, then respond immediately with the version of their last event. A bookmark of that version
 * follows the last event.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { firstVersion, PodBytes } from './pod-bytes.ts';

const { values } = parseArgs({ options: { objects: { type: 'string', default: '50000' } } });
const pods = new PodBytes(Number(values.objects));
const watchers = new Set<ServerResponse>();
let version = firstVersion;

const chunkSize = 64 * 1024;
const lineEnd = Buffer.from('}\n');
const heads = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
};

/** Collects lines into chunks. */
class Lines {
  #chunk = Buffer.allocUnsafe(chunkSize);
  #used = 0;

  /** Adds one event. Returns true if the chunk must be taken before the next event. */
  add(type: keyof typeof heads, index: number): boolean {
    const object = pods.of(index);
    this.#used += heads[type].copy(this.#chunk, this.#used);
    this.#used += object.copy(this.#chunk, this.#used);
    this.#used += lineEnd.copy(this.#chunk, this.#used);
    return this.#used > chunkSize - 8 * 1024;
  }

  take(): Buffer {
    const taken = this.#chunk.subarray(0, this.#used);
    this.#chunk = Buffer.allocUnsafe(chunkSize);
    this.#used = 0;
    return taken;
  }
}

function bookmark(annotations: string): string {
  return `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${annotations}}}}\n`;
}

async function write(response: ServerResponse, bytes: Buffer | string): Promise<void> {
  if (response.destroyed || response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

async function toAll(bytes: Buffer | string): Promise<void> {
  await Promise.all([...watchers].map((watcher) => write(watcher, bytes)));
}

async function list(response: ServerResponse, query: URLSearchParams): Promise<void> {
  const from = Number(query.get('continue') ?? 0);
  const limit = Number(query.get('limit') ?? 0) || pods.count;
  const to = Math.min(pods.count, from + limit);
  const more = to < pods.count ? `,"continue":"${to}","remainingItemCount":${pods.count - to}` : '';
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(
    `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${more}},"items":[`,
  );
  for (let index = from; index < to; index += 20) {
    const some: Buffer[] = [];
    for (let at = index; at < Math.min(to, index + 20); at++) {
      if (at > from) some.push(Buffer.from(','));
      some.push(pods.of(at));
    }
    await write(response, Buffer.concat(some));
  }
  response.end(']}\n');
}

async function watch(response: ServerResponse, query: URLSearchParams): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  if (query.get('sendInitialEvents') === 'true') {
    const lines = new Lines();
    for (let index = 0; index < pods.count; index++) {
      if (lines.add('ADDED', index)) await write(response, lines.take());
    }
    await write(response, lines.take());
    await write(response, bookmark(',"annotations":{"k8s.io/initial-events-end":"true"}'));
  } else if (query.get('resourceVersion') !== String(version)) {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 410,
      reason: 'Expired',
      message: 'too old resource version',
    };
    response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    return;
  }
  watchers.add(response);
  response.on('close', () => watchers.delete(response));
}

/** The object of the n-th event. All objects are changed in turn, in a scattered order. */
function target(n: number, objects: number): number {
  return (n * 7919) % objects;
}

async function firehose(events: number, objects: number): Promise<void> {
  const lines = new Lines();
  for (let n = 0; n < events; n++) {
    const index = target(n, objects);
    pods.touch(index, ++version);
    if (lines.add('MODIFIED', index)) await toAll(lines.take());
  }
  await toAll(lines.take());
  await toAll(bookmark(''));
}

async function paced(events: number, objects: number, rate: number): Promise<void> {
  const lines = new Lines();
  const started = performance.now();
  for (let n = 0; n < events; ) {
    const due = Math.min(events, Math.floor(((performance.now() - started) / 1000) * rate));
    while (n < due) {
      const index = target(n++, objects);
      pods.touch(index, ++version);
      if (lines.add('MODIFIED', index)) await toAll(lines.take());
    }
    await toAll(lines.take());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await toAll(bookmark(''));
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server');
  if (pathname === '/api/v1/pods') {
    const watching = query.get('watch') === 'true' || query.get('watch') === '1';
    return watching ? watch(response, query) : list(response, query);
  }
  if (pathname !== '/firehose' && pathname !== '/paced') {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: 404,
        reason: 'NotFound',
      }),
    );
    return;
  }
  while (watchers.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const events = Number(query.get('events'));
  const objects = Math.min(pods.count, Number(query.get('objects') ?? pods.count));
  response.end(JSON.stringify({ last: String(version + events) }));
  await (pathname === '/paced'
    ? paced(events, objects, Number(query.get('rate')))
    : firehose(events, objects));
}

const server = createServer((request, response) => void handle(request, response));
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${port}`, bytesEach: pods.of(0).length })}\n`,
  );
});
process.stdin.resume().on('end', () => process.exit(0));
