/** `rx-informer/testing` in a page: bundlers for browsers find no import of Node in it, and the fake answers there. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, vi } from 'vitest';
import { createFakeApiServer, createTcpProxy } from '../../lib/testing/index.ts';

/** The entry as one script for browsers, and what esbuild said about it. */
async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL('../../lib/testing/index.ts', import.meta.url));
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  });
  expect(built.warnings).toEqual([]);
  return built.outputFiles.map(({ text }) => text).join('');
}

/** As long as `run` takes, there is no Node. */
async function withoutNode<T>(run: () => Promise<T>): Promise<T> {
  vi.stubGlobal('process', undefined);
  try {
    return await run();
  } finally {
    vi.unstubAllGlobals();
  }
}

describe('rx-informer/testing in a page', () => {
  it('A80: bundles for browsers, without an import of a Node module', async () => {
    expect(await bundle()).not.toMatch(/\b(import|require)\b[^;\n]*['"](node:|http|net)\b/);
  });

  it('A80: serve() and createTcpProxy() reject outside of Node, and say what to use instead', async () => {
    const server = createFakeApiServer();
    const served = withoutNode(() => server.serve());
    await expect(served).rejects.toThrow(
      "serve: this runtime has no module 'node:http'. Listening on a port needs Node.js 22.19 or newer; in a page, give the fake server's `fetch` to createClient instead.",
    );
    const proxied = withoutNode(() => createTcpProxy({ target: { port: 1 } }));
    await expect(proxied).rejects.toThrow("createTcpProxy: this runtime has no module 'node:net'");
    const answer = await withoutNode(() => server.fetch('http://fake/api/v1/pods'));
    expect(answer.status).toBe(200);
  });
});
