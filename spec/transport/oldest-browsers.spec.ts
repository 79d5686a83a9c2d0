/** The oldest browsers of the README lack `URL.canParse` and `AbortSignal.any`. Everything that runs in a page works without them. */
import {
  createClient,
  createInformerFactory,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type Fetch,
  guardedClient,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eitherSignal } from '../../lib/client/either-signal.ts';

const { canParse } = URL;
const { any } = AbortSignal;
beforeEach(() => {
  Object.assign(URL, { canParse: undefined });
  Object.assign(AbortSignal, { any: undefined });
});
afterEach(() => {
  vi.unstubAllGlobals();
  Object.assign(URL, { canParse });
  Object.assign(AbortSignal, { any });
});

describe('a browser without URL.canParse and AbortSignal.any', () => {
  it.each(['https://k8s.example:6443', '/k8s', ''])(
    'T25: an informer with the base URL %j syncs',
    async (baseUrl) => {
      vi.stubGlobal('location', { origin: 'https://app.example' });
      const server = createFakeApiServer();
      server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
      const fetch: Fetch = (url, init) =>
        server.fetch(`http://fake${url.slice(baseUrl.length)}`, init);
      const client = createClient({ baseUrl, fetch });
      expect(client.connectionsLeft).toBe(6);
      const informer = createSharedInformer(createListWatch(client, pods));
      informer.start();
      await informer.whenSynced();
      expect(informer.indexer.size).toBe(1);
      await informer.stop();
      const factory = createInformerFactory(client);
      expect(await createResourceClient(client, pods).list()).toMatchObject({ items: [{}] });
      await factory.stop();
    },
  );

  it('T25: an invalid base URL is refused', () => {
    expect(() => createClient({ baseUrl: 'https://a b' })).toThrow(TypeError);
    expect(() => createClient({ baseUrl: 'http://[::1' })).toThrow("it must be 'http(s)://host");
  });

  it('T25: a write that has two signals is aborted by each of them', async () => {
    const client = createClient({ baseUrl: 'http://fake', fetch: () => new Promise(() => {}) });
    for (const at of [0, 1]) {
      const signals = [new AbortController(), new AbortController()] as const;
      const [own, term] = signals;
      const write = { method: 'POST', path: '/a', body: {}, signal: own.signal };
      const refused = expect(guardedClient(client, term.signal).request(write)).rejects.toThrow(
        'aborted',
      );
      signals[at]?.abort();
      await refused;
    }
  });
});

describe('a signal of two signals', () => {
  it('T25: it aborts with the first of them, with its reason, and is released from both', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const either = eitherSignal(one.signal, two.signal);
    expect(either.signal.aborted).toBe(false);
    two.abort('why');
    one.abort('late');
    expect([either.signal.aborted, either.signal.reason]).toEqual([true, 'why']);
    expect(eitherSignal(new AbortController().signal, one.signal).signal.reason).toBe('late');

    const [kept, other] = [new AbortController(), new AbortController()];
    const released = eitherSignal(kept.signal, other.signal);
    released.release();
    kept.abort();
    expect(released.signal.aborted).toBe(false);
  });
});
