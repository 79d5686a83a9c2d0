/** Errors for packages that cannot be loaded: the name of the package, and what to do. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { notLoaded } from '../../lib/node/optional-package.ts';

/** What Node throws if a package, or one that it imports, is not installed. */
function notFound(name: string, importer = '/app/node_modules/rx-informer/dist/node/index.js') {
  const text = `Cannot find package '${name}' imported from ${importer}`;
  return Object.assign(new Error(text), { code: 'ERR_MODULE_NOT_FOUND' });
}

async function messageOf(name: string, error: unknown, node = '24.0.0'): Promise<string> {
  return (notLoaded('clientFromKubeConfig', name, error, node) as Error).message;
}

describe('a package that cannot be loaded', () => {
  it('T52: a missing package is named with the command that installs it', async () => {
    expect(await messageOf('undici', notFound('undici'))).toBe(
      "clientFromKubeConfig needs the package 'undici': npm install undici",
    );
  });

  it('T52: a missing package is named also in CommonJS and Deno, which describe it in other words', async () => {
    const inCommonJs = Object.assign(new Error("Cannot find module 'undici/index.js'"), {
      code: 'MODULE_NOT_FOUND',
    });
    const inDeno = Object.assign(
      new TypeError(
        "Could not find package '@kubernetes/client-node' from referrer 'file:///a.js'.",
      ),
      { code: 'ERR_MODULE_NOT_FOUND' },
    );
    expect(await messageOf('undici', inCommonJs)).toBe(
      "clientFromKubeConfig needs the package 'undici': npm install undici",
    );
    expect(await messageOf('@kubernetes/client-node', inDeno)).toBe(
      "clientFromKubeConfig needs the package '@kubernetes/client-node': npm install @kubernetes/client-node",
    );
  });

  it('T52: a missing package is not confused with the package that imports it', async () => {
    const importer = '/app/node_modules/@kubernetes/client-node/dist/index.js';
    expect(await messageOf('@kubernetes/client-node', notFound('undici', importer))).toBe(
      "clientFromKubeConfig needs the package 'undici': npm install undici",
    );
  });

  it('T52: a Node that is too old is reported with the oldest Node that is supported', async () => {
    const error = new TypeError("Cannot read properties of undefined (reading 'bind')");
    for (const node of ['20.20.2', '22.18.0']) {
      expect(await messageOf('undici', error, node)).toBe(
        `clientFromKubeConfig needs Node 22.19 or newer to load the package 'undici'; this is Node ${node}`,
      );
    }
    expect(await messageOf('undici', error, '22.19.0')).toBe(error.message);
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect(JSON.parse(manifest).engines.node).toBe('>=22.19');
  });

  it('T52: another reason is reported unchanged', async () => {
    expect(await messageOf('undici', notFound('/app/broken.js'))).toContain('/app/broken.js');
    expect(await messageOf('undici', new Error('other'))).toBe('other');
  });
});
