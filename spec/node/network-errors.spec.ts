/** The error messages of failed connections, over undici and over Node's own fetch. */
import { createServer as createHttp } from 'node:http';
import {
  type ApiError,
  createClient,
  createFetchTransport,
  type Fetch,
  type Transport,
} from 'rx-informer';
import { createUndiciTransport, type UndiciTransportOptions } from 'rx-informer/node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as failing from './failing-servers.ts';
import { expectClean, watch } from './seen.ts';
import { opened } from './servers.ts';

/** The error of one GET, searched for secrets. */
async function failureOf(transport: Transport): Promise<ApiError> {
  onTestFinished(() => transport.close());
  const seen = watch(
    transport.send({
      ...{ method: 'GET', path: '/api/v1/pods', use: 'call' },
      query: { token: 'hunter2' },
      headers: { authorization: 'Bearer hunter3' },
    }),
  );
  await seen.ended;
  const error = expectClean(seen.error, 'Network', ['hunter']);
  expect(error.retryable).toBe(true);
  return error;
}

async function overUndici(failure: failing.Failure, more: Partial<UndiciTransportOptions> = {}) {
  const server = await failure.open();
  onTestFinished(() => server.close());
  const tls = failure.tls === undefined ? {} : { tls: failure.tls };
  const baseUrl = `${server.url}/prefix`;
  const error = await failureOf(createUndiciTransport({ baseUrl, ...tls, ...more }));
  const where = `GET ${server.url}/prefix/api/v1/pods`;
  expect(error.message.slice(0, where.length + 2)).toBe(`${where}: `);
  return error.message.slice(where.length + 2);
}

const CLOSED =
  'Did the server restart, does a proxy end connections, or does this port expect https?';
const LOST = 'Did the server or a proxy end it?';
const NO_CA =
  "the server's certificate is not signed by a trusted CA (%). Give the cluster's CA: certificate-authority in the kubeconfig, or tls.ca.";

describe('a failed connection over undici', () => {
  it.each<[string, failing.Failure, string]>([
    [
      'refused',
      failing.refused,
      'connection refused (ECONNREFUSED). Is the API server running at this address?',
    ],
    [
      'to an unknown host',
      failing.unknownHost,
      'unknown host (ENOTFOUND). Is the name right, and does DNS know it?',
    ],
    [
      'closed before the head',
      failing.closedBeforeHead,
      `connection closed (UND_ERR_SOCKET). ${CLOSED}`,
    ],
    ['reset before the head', failing.resetBeforeHead, `connection closed (ECONNRESET). ${CLOSED}`],
    [
      'closed in the body',
      failing.closedInBody,
      `the connection was lost (UND_ERR_SOCKET). ${LOST}`,
    ],
    [
      'without TLS behind https',
      failing.plainOnTlsPort,
      'TLS failed (ERR_SSL_WRONG_VERSION_NUMBER). Does this port expect http instead of https?',
    ],
    [
      'with a certificate of an unknown CA',
      failing.unknownCa,
      NO_CA.replace('%', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    ],
    [
      'with a chain that ends in an unknown CA',
      failing.selfSignedChain,
      NO_CA.replace('%', 'SELF_SIGNED_CERT_IN_CHAIN'),
    ],
    [
      'with a self-signed certificate',
      failing.selfSigned,
      NO_CA.replace('%', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    ],
    [
      'with an expired certificate',
      failing.expired,
      "the server's certificate is not valid today (CERT_HAS_EXPIRED). Renew it, or set this machine's clock.",
    ],
    [
      'with the certificate of another host',
      failing.otherHost,
      "the server's certificate is for other hosts (ERR_TLS_CERT_ALTNAME_INVALID). Use a name that is in it, or give one: tls-server-name in the kubeconfig, or tls.servername.",
    ],
  ])('T50: a connection %s is reported with the address', async (_, failure, message) => {
    expect(await overUndici(failure)).toBe(message);
  });

  it('T50: a missing response head is reported with the address', async () => {
    expect(await overUndici(failing.silent, { headersTimeoutMs: 50 })).toBe(
      'no response in time (UND_ERR_HEADERS_TIMEOUT). Is the API server overloaded, or does a proxy hold the request?',
    );
  });

  it.each([
    ['refuses connections', undefined, 'no connection to the proxy (ECONNREFUSED).'],
    ['refuses the tunnel', 407, 'the proxy refused the connection (HTTP 407).'],
  ])('T50: a proxy that %s is named without its password', async (_, status, text) => {
    const proxy = await opened(
      createHttp().on('connect', (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)),
      'http',
    );
    if (status === undefined) await proxy.close();
    else onTestFinished(() => proxy.close());
    const { message } = await failureOf(
      createUndiciTransport({
        baseUrl: 'https://10.0.0.1:6443',
        proxy: `http://me:hunter2@127.0.0.1:${proxy.port}`,
      }),
    );
    const through = `through the proxy http://127.0.0.1:${proxy.port}`;
    expect(message).toContain(`GET https://10.0.0.1:6443/api/v1/pods ${through}: ${text} Check `);
  });
});

describe("a failed connection over Node's fetch", () => {
  it.each<[string, failing.Failure, string]>([
    [
      'refused',
      failing.refused,
      'connection refused (ECONNREFUSED). Is the API server running at this address?',
    ],
    [
      'to an unknown host',
      failing.unknownHost,
      'unknown host (ENOTFOUND). Does DNS know this name?',
    ],
    [
      'closed before the head',
      failing.closedBeforeHead,
      'connection closed (UND_ERR_SOCKET). Did a proxy end it? Is this an https port?',
    ],
    [
      'closed in the body',
      failing.closedInBody,
      `the connection was lost (UND_ERR_SOCKET). ${LOST}`,
    ],
    [
      'without TLS behind https',
      failing.plainOnTlsPort,
      'TLS failed (ERR_SSL_WRONG_VERSION_NUMBER). Check the certificate, its dates and its names.',
    ],
    [
      'with a certificate of an unknown CA',
      failing.unknownCa,
      'untrusted certificate (UNABLE_TO_VERIFY_LEAF_SIGNATURE). Give its CA in NODE_EXTRA_CA_CERTS.',
    ],
    [
      'with a self-signed certificate',
      failing.selfSigned,
      'untrusted certificate (DEPTH_ZERO_SELF_SIGNED_CERT). Give its CA in NODE_EXTRA_CA_CERTS.',
    ],
  ])('T50: a connection %s is reported with the address', async (_, failure, message) => {
    const server = await failure.open();
    onTestFinished(() => server.close());
    const error = await failureOf(createFetchTransport({ baseUrl: server.url }));
    expect(error.message).toBe(`GET ${server.url}/api/v1/pods: ${message}`);
  });

  it('T50: a call without a response head is reported after headersTimeoutMs, 30 s by default', async () => {
    const time = new VirtualTime();
    let aborted = 0;
    const fetch: Fetch = (_url, init) => {
      init?.signal?.addEventListener('abort', () => aborted++);
      return new Promise(() => {});
    };
    const messages: string[] = [];
    const limits = [undefined, 120_000, Number.POSITIVE_INFINITY];
    const clients = limits.map((headersTimeoutMs) =>
      createClient({ baseUrl: 'http://api.test', fetch, scheduler: time, headersTimeoutMs }),
    );
    const ended = clients.map((client) =>
      client.request({ path: '/version' }).catch(({ message }) => messages.push(message)),
    );
    await time.advance(29_999);
    expect(messages).toEqual([]);
    await time.advance(1);
    await ended[0];
    expect(messages).toEqual([
      'GET http://api.test/version: no response in time (HEADERS_TIMEOUT). Is the API server overloaded?',
    ]);
    expect(aborted).toBe(1);
    await time.advance(90_000);
    await ended[1];
    await time.advance(10 * 86_400_000);
    expect(messages).toHaveLength(2);
    await clients[2]?.close();
    await ended[2];
  });

  it('T50: a body may take longer than headersTimeoutMs, and leaves no timer', async () => {
    const time = new VirtualTime();
    let end = () => {};
    const body = new ReadableStream({
      start: (controller) => {
        end = () => {
          controller.enqueue(new TextEncoder().encode('{"a":1}'));
          controller.close();
        };
      },
    });
    const headers = { 'content-type': 'application/json' };
    const fetch: Fetch = async () => new Response(body, { headers });
    const client = createClient({ baseUrl: 'http://api.test', fetch, scheduler: time });
    const answer = client.request({ path: '/version' });
    await time.advance(86_400_000);
    end();
    expect(await answer).toEqual({ a: 1 });
    expect(time.pending).toBe(0);
  });

  it('T51: in a page a connection that is lost after the head blames neither CORS nor a certificate', async () => {
    vi.stubGlobal('location', { origin: 'https://app.example' });
    const body = new ReadableStream({
      pull: (controller) => controller.error(new TypeError('network error')),
    });
    const fetch: Fetch = async () => new Response(body);
    const { message } = await failureOf(createFetchTransport({ baseUrl: '/k8s', fetch }));
    vi.unstubAllGlobals();
    expect(message).toBe(
      `GET https://app.example/k8s/api/v1/pods: the connection was lost (network error). ${LOST}`,
    );
  });

  it.each(['', '/proxy'])(
    'T50: the base URL %j, which has no host, is reported',
    async (baseUrl) => {
      const { message } = await failureOf(createFetchTransport({ baseUrl }));
      expect(message).toBe(
        `GET ${baseUrl}/api/v1/pods: baseUrl has no host (ERR_INVALID_URL). Outside of a page, give http(s)://host:port.`,
      );
    },
  );
});
