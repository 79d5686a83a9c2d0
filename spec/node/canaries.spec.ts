/**
 * Plants canary secrets in everything that is sent to a server and received from it, and searches everything that a
 * user may print for them: errors with their causes and stacks, statuses, warnings, outcomes and the output of the
 * process.
 */
import { inspect } from 'node:util';
import {
  type ApiError,
  createClient,
  createDiscovery,
  createInformerFactory,
  createListWatch,
  createResourceClient,
  createRestMapper,
  createSharedInformer,
  type KubeClient,
  type KubernetesObject,
  workQueue,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods, type Secret, secrets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { config, lastValueFrom, of, Subject } from 'rxjs';
import { catchError, map, takeUntil, toArray } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type Handler, listen } from './servers.ts';

const sentCanaries = {
  token: 'canary0token0in0authorization',
  cookie: 'canary0in0cookie',
  key: 'canary0in0an0api0key',
  body: 'canary0in0a0request0body',
  query: 'canary0in0a0query',
};
const value = 'canary0in0a0secret0of0the0cluster';
const canaries = [...Object.values(sentCanaries), value, btoa(value), btoa(sentCanaries.body)];

const headers = {
  authorization: `Bearer ${sentCanaries.token}`,
  cookie: `session=${sentCanaries.cookie}`,
  'x-api-key': sentCanaries.key,
};

const secret = (name: string, version = '5') => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: version },
  type: 'Opaque',
  data: { password: btoa(value) },
  stringData: { password: value },
});
const list = JSON.stringify({
  kind: 'SecretList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '9' },
  items: [secret('a'), secret('b')],
});
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const bare = JSON.stringify(secret('a'));
const status = (code: number, reason: string, message: string, more: object = {}) =>
  JSON.stringify({ kind: 'Status', status: 'Failure', code, reason, message, ...more });

interface Canned {
  readonly code?: number;
  readonly type?: string;
  readonly body: string | Uint8Array;
  /** The body of a watch; by default the same as `body`. */
  readonly events?: string | Uint8Array;
  readonly more?: Record<string, string>;
}

const json = 'application/json';
/** The responses of a server, or of a proxy in front of it. */
const servers: Record<string, Canned> = {
  'a valid list whose objects are refused': {
    body: list,
    events: event('ADDED', secret('c', '10')),
  },
  'a list that is cut': { body: list.slice(0, -40), events: event('ADDED', bare).slice(0, -40) },
  'a list with a fault in an item': {
    body: list.replace('"type":"Opaque"', '"type":Opaque'),
    events: event('ADDED', secret('c')).replace('"type":"Opaque"', '"type":Opaque'),
  },
  'a list that is not UTF-8': {
    body: Buffer.concat([Buffer.from(list.slice(0, 150)), Buffer.from([0xff, 0xfe, 0xff])]),
  },
  'a secret instead of the list': { body: bare, events: `${bare}\n` },
  'a JSON string': { body: `"${value}"`, events: `"${value}"\n` },
  'a number as the kind and an unknown event type': {
    body: list.replace('"kind":"SecretList"', '"kind":7'),
    events: event('NEVER', secret('a')),
  },
  'an ERROR event with a secret': { body: list, events: event('ERROR', secret('a')) },
  'an ERROR event with a secret as its Status': {
    body: list,
    events: event('ERROR', { ...secret('a'), kind: 'Status', details: { causes: bare } }),
  },
  'an error that is a secret': { code: 500, body: bare },
  'an error that is part of a secret': { code: 500, type: 'text/plain', body: bare.slice(150) },
  'an error that is a short part of a secret': {
    code: 500,
    body: `{"data":{"password":"${btoa(value)}"`,
  },
  'an error in JSON with the content type of text': {
    code: 502,
    type: 'text/plain',
    body: `["${value}",`,
  },
  'a Status with a secret in it': {
    code: 500,
    body: status(500, 'InternalError', 'no', { data: { password: value }, details: secret('a') }),
  },
  'a proxy that quotes the headers': {
    code: 400,
    type: 'text/plain',
    body: `invalid header "authorization: Bearer ${sentCanaries.token}"`,
  },
  'a Status that quotes the token': {
    code: 401,
    body: status(401, 'Unauthorized', `who is Bearer ${sentCanaries.token}?`),
  },
  'an HTML page': { code: 502, type: 'text/html', body: `<pre>${sentCanaries.token}</pre>` },
  'a redirect': {
    code: 302,
    type: 'text/plain',
    body: '',
    more: { location: `http://127.0.0.1:1/?token=${sentCanaries.token}` },
  },
  'a conflict': { code: 409, body: status(409, 'Conflict', 'the object has been modified') },
  'a refused patch': {
    code: 422,
    body: status(422, 'Invalid', 'testing value /data/password failed'),
  },
};

let outputs: string[];
const record = (from: string, what: unknown) => {
  let at = what;
  for (let depth = 0; depth < 6 && at instanceof Error; depth++) {
    outputs.push(`${from}: ${at.message} ${at.stack} ${String(at)} ${JSON.stringify(at)}`);
    at = at.cause;
  }
  outputs.push(`${from}: ${inspect(what, { depth: Number.POSITIVE_INFINITY, showHidden: true })}`);
};

let endings: (() => Promise<unknown>)[];
beforeEach(() => {
  outputs = [];
  endings = [];
  config.onUnhandledError = (error) => record('unhandled', error);
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, level).mockImplementation((...all) => record(level, all));
  }
});
afterEach(async () => {
  config.onUnhandledError = null;
  vi.restoreAllMocks();
  for (const end of endings.reverse()) await end();
});

/** Makes every call, with canaries in the bodies, and records how each call ended. */
async function callAll(client: KubeClient): Promise<void> {
  const body = {
    metadata: { name: 'a', namespace: 'shop' },
    data: { password: btoa(sentCanaries.body) },
    stringData: { password: sentCanaries.body },
  };
  const complete = { ...body, metadata: { ...body.metadata, uid: 'uid-a', resourceVersion: '5' } };
  const api = createResourceClient(client, secrets);
  const recipe = (draft: Secret) => {
    draft.stringData = { password: sentCanaries.body, more: sentCanaries.body };
  };
  const at = { attempts: 2 };
  const steps = [
    { op: 'test', path: '/data/password', value: btoa(sentCanaries.body) },
    { op: 'replace', path: '/data/password/x', value: sentCanaries.body },
  ] as const;
  const ended = new Subject<void>();
  const watch = () =>
    lastValueFrom(api.watch({ namespace: 'shop', resourceVersion: '1' }).pipe(takeUntil(ended)));
  const calls: Record<string, () => Promise<unknown>> = {
    get: () => api.get('shop/a'),
    list: () => api.list({ namespace: 'shop', labelSelector: `x=${sentCanaries.query}` }),
    create: () => api.create(body),
    update: () => api.update(complete),
    updateStatus: () => api.updateStatus(complete),
    json: () => api.patch('shop/a', { json: steps }),
    merge: () => api.patch('shop/a', { merge: { data: { password: sentCanaries.body } } }),
    strategic: () => api.patch('shop/a', { strategic: { stringData: body.stringData } }),
    apply: () => api.apply(body, { fieldManager: 'me' }),
    delete: () => api.delete('shop/a', { preconditions: { uid: 'another' } }),
    deleteAll: () => api.namespace('shop').deleteCollection(),
    edit: () => api.edit('shop/a', recipe, at),
    'edit of an old object': () => api.edit(complete, recipe, { ...at, check: 'uid' }),
    log: () => lastValueFrom(createResourceClient(client, pods).log('shop/a').pipe(toArray())),
    evict: () => createResourceClient(client, pods).evict('shop/a'),
    discovery: () => createDiscovery(client).served(),
    mapper: () =>
      createRestMapper(createDiscovery(client)).forKind({ apiVersion: 'v1', kind: 'Secret' }),
    raw: () =>
      client.request({
        method: 'PUT',
        path: '/x',
        query: { a: sentCanaries.query },
        body: complete,
      }),
  };
  const called = Object.entries(calls).map(([name, call]) =>
    call().then(
      () => outputs.push(`${name}: ok`),
      (error) => record(name, error),
    ),
  );
  const watched = watch().then(
    () => outputs.push('watch: ok'),
    (error) => record('watch', error),
  );
  // The watch has had as much time as all other calls.
  await Promise.all(called);
  ended.next();
  await watched;
}

/** Runs informers and a factory until they have reported a status. */
async function inform(client: KubeClient): Promise<void> {
  const parse = (object: Secret): Secret => {
    // The error of the user's parser quotes a part of a secret.
    JSON.parse(object.stringData?.['password'] ?? '{}');
    return object;
  };
  const broken = (object: Secret): string[] => {
    (object.stringData?.['password'] as unknown as { x: number }).x = 1;
    return [];
  };
  const informers = [
    createSharedInformer(createListWatch(client, secrets, { transform: parse }), { name: 'first' }),
    createSharedInformer(createListWatch(client, secrets, { maxFrameBytes: 40 })),
    createSharedInformer<Secret>(createListWatch(client, secrets), {
      name: 'second',
      indexers: { broken },
      onWarning: (warning) => record('warning', warning),
      onError: (error) => {
        record('onError', error);
        return 'retry';
      },
    }),
  ];
  const factory = createInformerFactory(client, { onWarning: (each) => record('factory', each) });
  factory.informer(secrets, { namespace: 'shop' });
  const inside: unknown[] = [client, factory];
  factory.start();
  for (const informer of informers) {
    let turns = 0;
    informer.status$.subscribe((each) => {
      record('status', each);
      if (each.phase === 'backoff' || each.phase === 'watching') turns++;
    });
    inside.push(informer, informer.indexer.getIndexers());
    informer.start();
    await eventually(() => turns > 0, 'the informer has connected or failed');
    await informer.whenSynced({ timeoutMs: 0 }).catch((error) => record('whenSynced', error));
    await informer
      .whenObserved('shop/z', '99', { timeoutMs: 0 })
      .catch((error) => record('whenObserved', error));
  }
  await factory.whenSynced({ timeoutMs: 0 }).catch((error) => record('factory', error));
  for (const each of inside) outputs.push(inspect(each, { depth: 4 }));
  await Promise.all([...informers.map((informer) => informer.stop()), factory.stop()]);
}

function expectNoCanary(): void {
  expect(outputs.length).toBeGreaterThan(20);
  for (const canary of canaries) {
    expect(outputs.filter((line) => line.includes(canary))).toEqual([]);
  }
}

const ways = {
  fetch: (baseUrl: string) => createClient({ baseUrl, headers, qps: 0 }),
  undici: (baseUrl: string) =>
    createClient({ baseUrl, headers, qps: 0, transport: createUndiciTransport({ baseUrl }) }),
};

describe.each(Object.keys(ways) as (keyof typeof ways)[])('over %s', (way) => {
  it.each(Object.keys(servers))(
    'T3: no secret appears anywhere if the server returns %s',
    async (name) => {
      const { code = 200, type = json, body, events, more } = servers[name] as Canned;
      const paths = new Set<string>();
      const handler: Handler = (request, response) => {
        const isWatch = request.url?.includes('watch=true') === true;
        expect(request.headers.authorization).toBe(headers.authorization);
        paths.add(`${request.method} ${request.url?.split('?')[0]}`);
        response.writeHead(code, { 'content-type': type, ...more });
        response.write(isWatch ? (events ?? body) : body);
        response.end();
      };
      const server = await listen('http', handler);
      const client = ways[way](server.url);
      endings.push(
        () => server.close(),
        () => client.close(),
      );
      await callAll(client);
      await inform(client);
      expectNoCanary();
      // Every kind of request has reached the server.
      expect(paths.size).toBeGreaterThan(8);
    },
  );

  it('T3: no secret appears anywhere if the server does not exist', async () => {
    const server = await listen('http', () => {});
    await server.close();
    const client = ways[way](server.url);
    endings.push(() => client.close());
    await callAll(client);
    await inform(client);
    expectNoCanary();
  });
});

it('T3: the fake API server quotes no secret of a request that it refuses', async () => {
  const server = createFakeApiServer();
  const { objects } = server;
  const { stringData: _said, ...stored } = secret('a');
  objects.create(secrets, stored as KubernetesObject as Secret);
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, headers });
  await callAll(client);
  const bodies: [string, string, string][] = [
    ['POST', json, `{"kind":"Secret","metadata":{"name":"x"},"data":${sentCanaries.body}`],
    [
      'PATCH',
      'application/json-patch+json',
      `[{"op":"test","path":"/a","value":${sentCanaries.body}}]`,
    ],
    ['PATCH', 'application/merge-patch+json', `{"data":"${sentCanaries.body}",}`],
    ['PATCH', 'application/json-patch+json', `{"data":"${sentCanaries.body}"}`],
    [
      'PATCH',
      'application/json-patch+json',
      `[{"op":"test","path":"/data/password","value":"${sentCanaries.body}"}]`,
    ],
    ['DELETE', json, `{"kind":"DeleteOptions",x${sentCanaries.body}`],
  ];
  for (const [method, type, body] of bodies) {
    const at = method === 'POST' ? '' : '/a';
    const path = `/api/v1/namespaces/shop/secrets${at}`;
    await client.request({ method, path, body, headers: { 'content-type': type } }).then(
      () => expect.unreachable(body),
      (error: ApiError) => record(method, error),
    );
  }
  expectNoCanary();
});

it('T3: the outcomes of a queue contain no secret', async () => {
  const server = createFakeApiServer();
  server.faults.failNext(undefined, { status: 409, reason: 'Conflict', times: 1000 });
  const api = createResourceClient(
    createClient({ baseUrl: 'http://fake', fetch: server.fetch, headers }),
    secrets,
  );
  const outcomes = of('shop/a', 'shop/b').pipe(
    workQueue(
      (key) =>
        api
          .patch(key, { merge: { data: { password: btoa(sentCanaries.body) } } })
          .then(() => undefined),
      { maxRetries: 0 },
    ),
    map((outcome) => record('outcome', outcome)),
    catchError((error) => of(record('queue', error))),
  );
  await lastValueFrom(outcomes);
  expect(outputs.join()).toContain('gaveUp');
  for (const canary of canaries) expect(outputs.join()).not.toContain(canary);
});
