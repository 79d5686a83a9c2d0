/** Where `serveQueries` answers the program that has started its worker: in every worker, and not in a program. */
import { createClient, createInformerFactory } from 'rx-informer';
import { serveQueries } from 'rx-informer/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

const serve = () =>
  serveQueries({
    createFactory: ({ fetch }) =>
      createInformerFactory(createClient({ baseUrl: 'http://fake', fetch })),
  });

describe('serveQueries', () => {
  it.each([
    ['a worker of the web platform', { WorkerGlobalScope: Function }, true],
    [
      'a worker of Bun, which has the global scope of a program',
      { Bun: { isMainThread: false } },
      true,
    ],
    ['a program of Bun', { Bun: { isMainThread: true } }, false],
    ['a program of Node', {}, false],
  ])('B1: in %s, it listens to the messages of the program: %o, %s', (_, scope, listens) => {
    vi.stubGlobal('onmessage', null);
    vi.stubGlobal('postMessage', () => {});
    vi.stubGlobal('BroadcastChannel', undefined);
    for (const [name, value] of Object.entries(scope)) vi.stubGlobal(name, value);
    const { counts } = serve();
    expect(typeof globalThis.onmessage === 'function').toBe(listens);
    expect(counts).toEqual({ tabs: 0, pipelines: 0 });
  });
});
