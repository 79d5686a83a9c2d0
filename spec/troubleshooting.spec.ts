/**
 * Tests docs/operations/troubleshooting.md: the library produces each message that the page quotes, and the page quotes each
 * message produced here.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import {
  type ApiError,
  type ChangeSet,
  createClient,
  createFetchTransport,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  defineResource,
  type Fetch,
  liveFilter,
  parseLabelSelector,
  type Resource,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { clientFromKubeConfig, createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { changeSet, createFakeApiServer } from 'rx-informer/testing';
import { concat, lastValueFrom, merge, NEVER, type Observable, of, skip } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readDefinition } from '../lib/command/crd-types-command.ts';
import { missingPackages } from '../lib/command/missing-packages.ts';
import { notLoaded } from '../lib/node/optional-package.ts';
import { silence } from '../lib/reflector/send-requests.ts';
import * as failing from './node/failing-servers.ts';
import { kubeconfig } from './node/kubeconfigs.ts';
import { opened } from './node/servers.ts';
import { VirtualTime } from './rx/virtual-time.ts';

const page = readFileSync(
  new URL('../docs/operations/troubleshooting.md', import.meta.url),
  'utf8',
);
const quotes = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)].flatMap(([, text = '']) =>
  text.trim().split('\n'),
);

const endings: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const end of endings.splice(0).reverse()) await end();
});

const PATH = '/api/v1/pods';
const BASE = 'https://10.0.0.1:6443';
const messageOf = (result: Promise<unknown>): Promise<string> =>
  result.then(
    () => 'nothing failed',
    (error: ApiError) => error.message,
  );

function get(transport: Transport): Promise<string> {
  const client = createClient({ baseUrl: BASE, transport });
  endings.push(() => client.close());
  return messageOf(client.request({ path: PATH }));
}

const overUndici =
  ({ open, tls = {} }: failing.Failure, headersTimeoutMs = 5_000) =>
  async () => {
    const server = await open();
    endings.push(() => server.close());
    const message = await get(
      createUndiciTransport({ baseUrl: server.url, tls, headersTimeoutMs }),
    );
    return message.replace(/https?:\/\/127\.0\.0\.1:\d+/, BASE);
  };

const overFetch =
  ({ open }: failing.Failure) =>
  async () => {
    const server = await open();
    endings.push(() => server.close());
    const message = await get(createFetchTransport({ baseUrl: server.url }));
    return message.replace(/https?:\/\/127\.0\.0\.1:\d+/, BASE);
  };

function slowFetch(): Promise<string> {
  const fetch: Fetch = () => new Promise(() => {});
  return get(createFetchTransport({ baseUrl: BASE, fetch, headersTimeoutMs: 20 }));
}

const throughProxy = (refuses?: string) => async () => {
  const http = createHttp().on('connect', (_, socket) => socket.end(`HTTP/1.1 ${refuses}\r\n\r\n`));
  const proxy = await opened(http, 'http');
  if (refuses === undefined) await proxy.close();
  else endings.push(() => proxy.close());
  const message = await get(createUndiciTransport({ baseUrl: BASE, proxy: proxy.url }));
  return message.replace(proxy.url, 'http://10.0.0.2:3128');
};

const inPage = (fetch: Fetch) => () => {
  vi.stubGlobal('location', { origin: 'https://app.example' });
  return get(createFetchTransport({ baseUrl: 'https://k8s.example', fetch }));
};
const unreachable: Fetch = () => Promise.reject(new TypeError('Failed to fetch'));
const lostBody: Fetch = async () =>
  new Response(
    new ReadableStream({ pull: (controller) => controller.error(new TypeError('network error')) }),
  );

const answered = (status: number, body: string) => () => {
  const headers = { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html' };
  const fetch = async () => new Response(body, { status, headers });
  return get(createFetchTransport({ baseUrl: BASE, fetch }));
};
const status = (code: number, message: string) =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', code, message });

const config = (source: Parameters<typeof clientFromKubeConfig>[0]) => () =>
  messageOf(clientFromKubeConfig(source));
const ignoredCa = {
  ...{ server: BASE, 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'YQ==' },
};
const withoutKey = { 'client-certificate-data': 'YQ==' };
const dev = kubeconfig({ server: 'http://127.0.0.1:1' }, { token: 't' });

function noKubeconfig(): Promise<string> {
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('HOME', '/no/such/home');
  endings.push(() => vi.unstubAllEnvs());
  return messageOf(clientFromKubeConfig());
}

async function warned(): Promise<string> {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  await (await clientFromKubeConfig({ text: dev })).close();
  const [[text] = []] = warn.mock.calls;
  warn.mockRestore();
  return String(text);
}

async function plugin(): Promise<string> {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: 'login', installHint: 'brew install login' };
  const text = kubeconfig({ server: 'https://127.0.0.1:1' }, { exec });
  vi.stubEnv('PATH', '/no/such/folder');
  endings.push(() => vi.unstubAllEnvs());
  return messageOf((await clientFromKubeConfig({ text })).request({ path: PATH }));
}

const unloaded = (error: Error, node: string) => () =>
  messageOf(Promise.reject(notLoaded('clientFromKubeConfig', 'undici', error, node)));
const notFound = Object.assign(new Error("Cannot find package 'undici' imported from /app/x.js"), {
  code: 'ERR_MODULE_NOT_FOUND',
});

const underNpx = () =>
  missingPackages(
    { what: 'rbac', packageName: 'yaml', message: '' },
    [],
    ['rbac', 'src/access.ts'],
    {
      ...{ root: '/home/.npm/_npx/1/node_modules/rx-informer', cwd: '/', given: undefined },
    },
  );

const widgets = defineResource({
  ...{ group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true },
});

const blocked = (resource: Resource, code: number, message: string) => async () => {
  const body = status(code, message);
  const client = createClient({
    baseUrl: BASE,
    fetch: async () => new Response(body, { status: code }),
  });
  const name = `informer ${resource.group === '' ? 'pods' : 'widgets.example.com'}`;
  const informer = createSharedInformer(createListWatch(client, resource), { name });
  informer.start();
  endings.push(() => informer.stop());
  return messageOf(informer.whenSynced());
};

/** A call that is repeated ten times. */
async function tooMany(): Promise<string> {
  const scheduler = new VirtualTime();
  let asked = 0;
  const fetch: Fetch = async () => {
    asked++;
    return new Response(status(429, 'too many requests, please try again later'), { status: 429 });
  };
  const client = createClient({ baseUrl: BASE, fetch, scheduler });
  const message = messageOf(client.request({ path: PATH }));
  await scheduler.advance(181_000);
  expect(asked).toBe(11);
  return message;
}

function withoutType(): Promise<string> {
  const body = new TextEncoder().encode('{"kind":"Pod"}');
  const client = createClient({ baseUrl: BASE, fetch: async () => new Response(body) });
  return messageOf(createResourceClient(client, pods).get('shop/web'));
}

function notStarted(): Promise<string> {
  const client = createClient({ baseUrl: BASE, fetch: createFakeApiServer().fetch });
  const informer = createSharedInformer(createListWatch(client, pods), { name: 'informer pods' });
  return messageOf(informer.whenSynced({ timeoutMs: 50 }));
}

const headOf = (status: number): TransportEvent => ({ kind: 'head', status, header: () => null });

/** A watch of a server that answers it, but not the pings that follow. */
const lostWatch = (ping: Observable<TransportEvent>) => async () => {
  const time = new VirtualTime();
  let requests = 0;
  const transport: Transport = {
    send: () => (requests++ === 0 ? concat(of(headOf(200)), NEVER) : ping),
    close: () => Promise.resolve(),
  };
  const client = createClient({ baseUrl: BASE, transport, scheduler: time });
  const source = createListWatch(client, pods, { scheduler: time });
  const watch = lastValueFrom(source.watch({ resourceVersion: '1', timeoutSeconds: 300 }));
  const message = messageOf(watch);
  await time.advance(40_000);
  return message;
};

const podList = (labelSelector: string) => () => {
  const client = createClient({ baseUrl: BASE, fetch: createFakeApiServer().fetch });
  return messageOf(createResourceClient(client, pods).list({ labelSelector }));
};

function noDefinition(): Promise<string> {
  const names = { items: [{ metadata: { name: 'widgets.example.com' } }] };
  const fetch: Fetch = async (url) =>
    url.endsWith('/widgets')
      ? new Response(status(404, 'not found'), { status: 404 })
      : Response.json(names);
  return messageOf(readDefinition(createClient({ baseUrl: BASE, fetch }), 'widgets'));
}

function caught(task: () => unknown): string {
  try {
    task();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing failed';
}

/** The error of a live operator behind an operator of RxJS. */
const behind = (
  operator: (sets$: Observable<ChangeSet<object>>) => Observable<ChangeSet<object>>,
) =>
  async function errorOf(): Promise<string> {
    const web = { metadata: { name: 'web', uid: 'u1' } };
    const sets$ = of<ChangeSet<object>[]>(
      changeSet({ added: [web], reset: true }),
      changeSet({ updated: [{ previous: web, object: { ...web } }] }),
    );
    return messageOf(lastValueFrom(operator(sets$).pipe(liveFilter(() => true))));
  };

const producers: readonly (readonly [what: string, produce: () => Promise<string>])[] = [
  ['a refused connection', overUndici(failing.refused)],
  ['an unknown host', overUndici(failing.unknownHost)],
  ['a closed connection', overUndici(failing.closedBeforeHead)],
  ['a response that does not come', overUndici(failing.silent, 50)],
  ['a silent watch', async () => silence('silence', 85_000, 'idleTimeoutMs').message],
  ['a server that does not answer a ping', lostWatch(NEVER)],
  ['a proxy that answers a ping', lostWatch(of(headOf(502)))],
  ['a proxy that is down', throughProxy()],
  ['a proxy that refuses', throughProxy('407 No')],
  ['a certificate of an unknown CA', overUndici(failing.unknownCa)],
  ['a chain of an unknown CA', overUndici(failing.selfSignedChain)],
  ['a self-signed certificate', overUndici(failing.selfSigned)],
  ['a certificate of an unknown CA over fetch', overFetch(failing.unknownCa)],
  ['an unknown host over fetch', overFetch(failing.unknownHost)],
  ['a closed connection over fetch', overFetch(failing.closedBeforeHead)],
  ['a port without TLS over fetch', overFetch(failing.plainOnTlsPort)],
  ['a response that does not come over fetch', slowFetch],
  ['a lost connection', overUndici(failing.closedInBody)],
  ['a lost connection of a page', inPage(lostBody)],
  ['an expired certificate', overUndici(failing.expired)],
  ['a certificate of another host', overUndici(failing.otherHost)],
  ['a port without TLS', overUndici(failing.plainOnTlsPort)],
  ['a page without a response', inPage(unreachable)],
  ['a base URL without a host', () => get(createFetchTransport({ baseUrl: '' }))],
  ['no kubeconfig', noKubeconfig],
  ['no such file', config({ file: '/etc/kubeconfig' })],
  ['another file', config({ text: 'a: b' })],
  ['no YAML', config({ text: 'a: b: c' })],
  ['no contexts', config({ text: 'kind: Config' })],
  ['no current context', config({ text: dev.replace('"current-context":"dev"', '"x":1') })],
  ['no such context', config({ text: dev, context: 'prod' })],
  ['credentials over http', warned],
  ['a CA that is ignored', config({ text: kubeconfig(ignoredCa) })],
  ['a certificate without a key', config({ text: kubeconfig({ server: BASE }, withoutKey) })],
  ['a plugin that is not there', plugin],
  ['a missing package', unloaded(notFound, '24.0.0')],
  ['a missing package under npx', underNpx],
  ['an old Node', unloaded(new TypeError('bind'), '20.20.2')],
  ['status 429', tooMany],
  ['a response without a type', withoutType],
  ['status 401', answered(401, status(401, 'Unauthorized'))],
  ['status 403', blocked(pods, 403, 'pods is forbidden: User "dev" cannot list resource "pods"')],
  ['status 404', blocked(widgets, 404, 'the server could not find the requested resource')],
  ['a page of a proxy', answered(502, '<html>')],
  ['a redirect', answered(302, '')],
  ['a wrong selector', podList('app in web')],
  ['a selector that is an object', podList({ matchLabels: { app: 'web' } } as never)],
  ['a definition that is not there', noDefinition],
  ['a set that is missing', behind((a$) => a$.pipe(skip(1)))],
  ['two streams that are merged', behind((a$) => merge(a$, a$))],
  [
    'a map of labels as a selector',
    async () => caught(() => parseLabelSelector({ app: 'a' } as object)),
  ],
  ['an informer that was not started', notStarted],
];

describe('docs/operations/troubleshooting.md', () => {
  it.each(producers)('A91: has the message of %s', async (_, produce) => {
    expect(quotes).toContain(await produce());
  });

  it('A91: quotes no other message', () => {
    expect(new Set(quotes).size).toBe(quotes.length);
    expect(quotes.length).toBe(producers.length);
  });
});
