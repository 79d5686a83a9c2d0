/** The fault `holdBack`, which delivers bodies like a buffering proxy, over `fetch` and over a socket. */
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/patience.ts';

const WATCH = '/api/v1/configmaps?watch=true&resourceVersion=1&timeoutSeconds=600';
const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

describe.each(['in process', 'over a socket'] as const)('a body that is held back, %s', (way) => {
  async function setUp() {
    const server = createFakeApiServer();
    const served = await server.serve();
    endings.push(() => served.close());
    const fetch = way === 'in process' ? server.fetch : globalThis.fetch;
    const create = (bytes: number) =>
      server.objects.create(configMaps, {
        metadata: { namespace: 'a', name: `n${server.objects.resourceVersion}` },
        data: { text: 'x'.repeat(bytes) },
      } as never);
    /** Starts a watch. `text` is the part of its body received so far. */
    const watch = () => {
      const abort = new AbortController();
      endings.push(async () => abort.abort());
      const seen = { head: false, text: '', ended: false };
      const read = async () => {
        const answer = await fetch(`${served.url}${WATCH}`, { signal: abort.signal });
        seen.head = true;
        const decoder = new TextDecoder();
        for await (const chunk of answer.body ?? []) seen.text += decoder.decode(chunk);
        seen.ended = true;
      };
      read().catch(() => {});
      return seen;
    };
    /** Resolves after the answer to a later request. */
    const settle = async () => {
      await (await fetch(`${served.url}/api/v1/configmaps`)).text();
    };
    return { server, create, watch, settle };
  }

  it('is sent in pieces of the given size', async () => {
    const { server, create, watch, settle } = await setUp();
    server.faults.holdBack({ bytes: 1000, head: false });
    const seen = watch();
    create(300);
    await eventually(() => expect(seen.head).toBe(true));
    await settle();
    expect(seen.text).toBe('');
    create(1500);
    await eventually(() => expect(seen.text.length).toBe(2000));
  });

  it('is sent at its end, together with the head', async () => {
    const { server, create, watch, settle } = await setUp();
    server.faults.holdBack();
    const seen = watch();
    create(10);
    await eventually(() => expect(server.openWatches.length).toBe(1));
    await settle();
    expect(seen.head).toBe(false);
    server.faults.closeWatches();
    await eventually(() => expect(seen.ended).toBe(true));
    expect(seen.text).toMatch(/^{"type":"ADDED".*}\n$/);
  });

  it('is sent normally after the fault is healed, and lists are complete in any case', async () => {
    const { server, create, watch } = await setUp();
    const fault = server.faults.holdBack();
    expect((await server.fetch('http://fake/api/v1/configmaps')).status).toBe(200);
    fault.heal();
    const seen = watch();
    create(10);
    await eventually(() => expect(seen.text).toMatch(/}\n$/));
  });

  it('is cancelled when the client aborts while it waits for the head', async () => {
    const { server, watch } = await setUp();
    server.faults.holdBack();
    watch();
    await eventually(() => expect(server.openWatches.length).toBe(1));
    await endings.pop()?.();
    await eventually(() => expect(server.openWatches.length).toBe(0));
  });
});
