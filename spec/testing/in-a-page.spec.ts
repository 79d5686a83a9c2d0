/** `rx-informer/testing` in a page: the bundle for browsers imports no Node module, and the fake server answers. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, vi } from 'vitest';
import { createFakeApiServer, createTcpProxy } from '../../lib/testing/index.ts';

/** Bundles the entry for browsers. esbuild must not warn. */
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

/** Runs a function without the globals of Node. */
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

  it('A80: serve() and createTcpProxy() reject outside Node, and the error names the alternative', async () => {
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

  it('A80: serve({ cors: true }) lets a page of another origin send Authorization, and read Retry-After and Warning', async () => {
    const server = createFakeApiServer();
    const { url, close } = await server.serve({ cors: true });
    const preflight = (headers: Record<string, string>) =>
      fetch(`${url}/api/v1/pods`, { method: 'OPTIONS', headers });
    const names = 'authorization,content-type';
    const asked = await preflight({ 'access-control-request-headers': names });
    // A page may not send Authorization under a `*`: it is the one header that must be named.
    expect(asked.headers.get('access-control-allow-headers')).toBe(names);
    expect((await preflight({})).headers.get('access-control-allow-headers')).toBe('*');
    server.faults.failNext({}, { status: 429, retryAfterSeconds: 1 });
    const { headers } = await fetch(`${url}/api/v1/pods`);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe('*');
    await close();
  });
});
