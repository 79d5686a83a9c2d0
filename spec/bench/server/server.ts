/**
 * A synthetic API server in a process of its own: plain HTTP/1.1 on loopback, with bytes encoded in advance.
 *
 *   node spec/bench/server/server.ts --corpus pods --objects 50000 --seed 1 [--managed-fields without] [--drop]
 *
 * Prints {"url":"…"} and serves until stdin ends. `--drop` honours `Accept: application/json;drop=metadata.managedFields`.
 *
 * GET  the path of the collection            LIST (limit, continue) and WATCH (sendInitialEvents)
 * POST /play?mode=hot&events=200000          events as fast as the watches read them (see plan.ts for the modes)
 * POST /play?mode=steady&events=25000&rate=5000&objects=10000    the same at a steady rate, with write times
 * GET  /state                                the number of objects and the sum of their versions
 *
 * `play` waits for a watch, then responds immediately with the version of its last event. A bookmark of that version
 * follows the last event.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { type CorpusName, pathOf } from '../corpus/corpora.ts';
import { Collection } from './collection.ts';
import type { Mode } from './plan.ts';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string', default: 'pods' },
    objects: { type: 'string', default: '50000' },
    seed: { type: 'string', default: '1' },
    'managed-fields': { type: 'string', default: 'with' },
    drop: { type: 'boolean', default: false },
  },
});
const name = values.corpus as CorpusName;
const path = pathOf(name);
const collection = new Collection(name, Number(values.objects), Number(values.seed));

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server');
  if (pathname === path) {
    const asked = (request.headers.accept ?? '').includes('drop=metadata.managedFields');
    const withManaged = values['managed-fields'] === 'with' && !(values.drop && asked);
    const reader = { response, withManaged };
    if (query.get('watch') === 'true' || query.get('watch') === '1') {
      const initial = query.get('sendInitialEvents') === 'true';
      return collection.watch(reader, initial, query.get('resourceVersion') ?? '');
    }
    return collection.list(reader, Number(query.get('limit')), Number(query.get('continue')));
  }
  if (pathname === '/state') return json(response, 200, collection.state());
  if (pathname !== '/play') {
    const message = `the synthetic server serves ${path} only`;
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message };
    return json(response, 404, { ...status, code: 404, reason: 'NotFound' });
  }
  while (!collection.watched) await new Promise((resolve) => setTimeout(resolve, 5));
  const events = Number(query.get('events'));
  const objects = Number(query.get('objects') ?? Number.POSITIVE_INFINITY);
  const rate = query.get('rate');
  json(response, 200, { last: String(collection.version + events) });
  await collection.play(
    query.get('mode') as Mode,
    events,
    objects,
    rate === null ? undefined : Number(rate),
  );
}

const plain = createServer((request, response) => void handle(request, response));
plain.requestTimeout = 0;
await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
const { count, bytesEach } = collection.objects;
const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
process.stdout.write(`${JSON.stringify({ url, objects: count, bytesEach })}\n`);
process.stdin.resume().on('end', () => process.exit(0));
