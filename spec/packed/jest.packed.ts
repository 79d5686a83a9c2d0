/** Runs tests of the packed library in Jest, with the configurations that the guide shows. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesOf } from '../support/extract-examples.ts';
import { mustRun, packInto, root, run } from './consumer.ts';

const INFORMER = `
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
test('an informer follows the fake API server', async () => {
  const server = createFakeApiServer();
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer(createListWatch(client, pods));
  informer.start();
  await informer.whenSynced();
  const { metadata } = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
  await informer.whenObserved('shop/web-0', metadata.resourceVersion);
  expect(informer.indexer.listKeys()).toEqual(['shop/web-0']);
  await informer.stop();
});
`;

const PAGE = `
import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient, createResourceClient } from 'rx-informer';
import { InformerProvider, useList } from 'rx-informer/react';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
const nameOf = ({ metadata: { name, labels } }: Pod) => (labels?.app ? name + ' of ' + labels.app : name);
function Names() {
  const { rows } = useList(pods, { namespace: 'shop' });
  return createElement('p', null, rows.map(nameOf).join());
}
test('a hook shows the Pods of the fake API server', async () => {
  const server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
  const { url: baseUrl, close } = await server.serve();
  const client = createClient({ baseUrl });
  const element = document.createElement('div');
  const page = createRoot(element);
  await act(async () => page.render(createElement(InformerProvider, { client }, createElement(Names))));
  const shown = async (text: string) => {
    while (element.textContent !== text) await act(() => new Promise<void>((resolve) => setTimeout(resolve, 5)));
  };
  await shown('web-0');
  await createResourceClient(client, pods).create({ metadata: { namespace: 'shop', name: 'web-1' } });
  await shown('web-0,web-1');
  server.objects.modify(pods, { namespace: 'shop', name: 'web-1' }, (draft) => {
    draft.metadata.labels = { app: 'web' };
  });
  await shown('web-0,web-1 of web');
  await act(async () => page.unmount());
  await close();
});
`;

const IMPORTS = `
import * as core from 'rx-informer';
import * as diagnose from 'rx-informer/diagnose';
import * as node from 'rx-informer/node';
import * as react from 'rx-informer/react';
import * as reactWorker from 'rx-informer/react/worker';
import * as testing from 'rx-informer/testing';
import * as worker from 'rx-informer/worker';
test('the entries can be imported', () => {
  for (const entry of [core, diagnose, node, react, reactWorker, testing, worker]) {
    expect(Object.keys(entry).length).toBeGreaterThan(1);
  }
});
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'commonjs', moduleResolution: 'node10', target: 'es2022', jsx: 'react-jsx' },
    ...{ allowJs: true, esModuleInterop: true, strict: true, types: ['node', 'jest'] },
  },
};

/** Projects, each with a configuration of the guide. */
const CONFIGURATIONS = [
  ['esm', 'jest.config.mjs'],
  ['cjs', 'jest.config.cjs'],
  ['cjs', 'jest.ts-jest.cjs'],
] as const;

/** Tests, each with its environment. */
const TESTS = [
  ['informer', 'node', 'an informer in Node'],
  ['page', './jest-environment.cjs', 'a hook in jsdom with globals of Node'],
  ['imports', 'jsdom', 'imports of all entries in jsdom'],
] as const;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-jest-'));
  cpSync(join(root, '.suites/jest'), folder, {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
  await mustRun('npm', ['ci', '--prefer-offline'], folder);
  const { filename } = await packInto(folder);
  const library = join(folder, 'node_modules/rx-informer');
  mkdirSync(library);
  await mustRun('tar', ['-xzf', filename, '--strip-components=1', '-C', library], folder);
  const guide = filesOf(readFileSync(join(root, 'docs/guide/testing.md'), 'utf8'));
  for (const project of ['esm', 'cjs']) {
    const write = (name: string, text: string) => {
      mkdirSync(join(folder, project), { recursive: true });
      writeFileSync(join(folder, project, name), text);
    };
    for (const { path, code } of guide) write(path, code);
    // A test of modules is loaded as it is, so it has no types.
    const [ending, page] =
      project === 'esm' ? ['js', transformSync(PAGE, { loader: 'ts' }).code] : ['ts', PAGE];
    write(`informer.test.${ending}`, INFORMER);
    write(`page.test.${ending}`, page);
    write(`imports.test.${ending}`, IMPORTS);
    write('package.json', JSON.stringify({ type: project === 'esm' ? 'module' : 'commonjs' }));
    write('tsconfig.json', JSON.stringify(TSCONFIG));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [project, config] of CONFIGURATIONS) {
  for (const [name, environment, what] of TESTS) {
    it(`A88: ${config} of the guide runs ${what}`, async () => {
      const modules = project === 'esm' ? ['--experimental-vm-modules'] : [];
      const jest = [...modules, '--no-warnings', join(folder, 'node_modules/jest/bin/jest.js')];
      const settings = [
        `--config=${config}`,
        `--env=${environment}`,
        '--testTimeout=120000',
        '--forceExit',
      ];
      const args = [...jest, '--ci', ...settings, `/${name}.test`];
      const { code, stderr } = await run(process.execPath, args, join(folder, project));
      expect(stderr).toContain('Tests:       1 passed, 1 total');
      expect(code).toBe(0);
    });
  }
}
