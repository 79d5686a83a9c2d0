/**
 * Bundles programs for Node into one CommonJS file, and starts each in a folder without packages: an extension of VS Code, with
 * client-node and undici, and a server, in a project that has no optional package.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttp2Front } from '../faults/http2-front.ts';
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
} from '../node/test-only-certificates.ts';
import { isGate } from '../support/gate.ts';
import {
  type Consumer,
  everyBundler,
  installConsumer,
  mustRun,
  projectWith,
  root,
} from './consumer.ts';

/** Bundles a script into the file `to`. The module `vscode` stays outside, because the editor has it. */
type NodeBundle = (consumer: Consumer, script: string, to: string) => Promise<void>;

/** Runs a program that reads its settings from `process.argv[2]`. */
async function byProgram(
  { nodes }: Consumer,
  folder: string,
  text: string,
  settings: object,
): Promise<void> {
  writeFileSync(join(folder, 'bundle.mjs'), text);
  await mustRun(nodes['24'], ['bundle.mjs', JSON.stringify(settings)], folder);
}

/** The programs for webpack and Rspack, which take the same settings. */
const packProgram = (imports: string): string => `
${imports}
// One file, although the library has an import().
const plugins = [new bundler.optimize.LimitChunkCountPlugin({ maxChunks: 1 })];
bundler({ ...JSON.parse(process.argv[2]), plugins }, (error, stats) => {
  if (error || stats.hasErrors()) { console.error(error ?? stats.toString('errors-only')); process.exitCode = 1; }
});
`;

const packSettings = (script: string, to: string): object => ({
  mode: 'production',
  target: 'node',
  entry: script,
  externals: { vscode: 'commonjs vscode' },
  output: { path: join(to, '..'), filename: 'bundle.cjs', library: { type: 'commonjs2' } },
  optimization: { minimize: false },
});

const ROLLUP = `
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
const { input, file } = JSON.parse(process.argv[2]);
const plugins = [nodeResolve({ exportConditions: ['node'], preferBuiltins: true }), commonjs(), json()];
const bundle = await rollup({ input, plugins, external: ['vscode'], onLog: () => {} });
await bundle.write({ file, format: 'cjs', inlineDynamicImports: true });
`;

/** The folder of the bundlers that only the nightly form tests. */
const nightly = ({ folder }: Consumer): string => join(folder, 'bundlers');

/** Installs the bundlers that only the nightly form tests, with their own lockfile. */
async function installNightly(consumer: Consumer): Promise<void> {
  if (!everyBundler) return;
  cpSync(join(root, '.suites/bundlers'), nightly(consumer), { recursive: true });
  await mustRun('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], nightly(consumer));
}

/** Bundlers whose packages the suite has in any case. */
const always: Readonly<Record<string, NodeBundle>> = {
  async esbuild(_, script, to) {
    const { warnings } = await esbuild({
      ...{ entryPoints: [script], outfile: to, external: ['vscode'] },
      ...{ bundle: true, format: 'cjs', platform: 'node', logLevel: 'silent' },
    });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
  },
  async webpack(consumer, script, to) {
    const program = packProgram("import bundler from 'webpack';");
    await byProgram(consumer, consumer.folder, program, packSettings(script, to));
  },
};

const others: Readonly<Record<string, NodeBundle>> = {
  async rspack(consumer, script, to) {
    const program = packProgram("import { rspack as bundler } from '@rspack/core';");
    await byProgram(consumer, nightly(consumer), program, packSettings(script, to));
  },
  async rollup(consumer, input, file) {
    await byProgram(consumer, nightly(consumer), ROLLUP, { input, file });
  },
  async bun(consumer, script, to) {
    const bun = join(nightly(consumer), 'node_modules/.bin/bun');
    const args = ['build', script, '--target=node', '--format=cjs', '--external=vscode'];
    await mustRun(bun, [...args, `--outfile=${to}`], consumer.folder);
  },
};

/** The bundlers that are tested. */
const nodeBundlers: Readonly<Record<string, NodeBundle>> = {
  ...always,
  ...(everyBundler && others),
};

const EXTENSION = `
import { createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { window, workspace } from 'vscode';
let stop;
export async function activate() {
  const client = await clientFromKubeConfig({ file: workspace.getConfiguration('kubeconfig') });
  const informer = createSharedInformer(createListWatch(client, pods));
  stop = async () => {
    await informer.stop();
    await client.close();
  };
  informer.start();
  await informer.whenSynced();
  window.showInformationMessage(client.protocol + ': ' + informer.indexer.listKeys().join());
}
export const deactivate = () => stop();
`;

/** The editor: its module, and what it does with an extension. */
const VSCODE = `
exports.workspace = { getConfiguration: () => process.argv[2] };
exports.window = { showInformationMessage: (text) => console.log(text) };
`;
const EDITOR = `
const { activate, deactivate } = require('./bundle.cjs');
void (async () => {
  await activate({ subscriptions: [] });
  await deactivate();
})();
`;

const SERVER = `
import { createClient, createListWatch, createResourceClient, createSharedInformer } from 'rx-informer';
import { debug } from 'rx-informer/diagnose';
import { crdTypes, createUndiciTransport, inspectKubeConfig } from 'rx-informer/node';

// Bundlers of programs for Node. Each makes one CommonJS file, as an extension of VS Code or a small image needs it.

import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { serveQueries } from 'rx-informer/worker';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.a.io' },
  spec: { group: 'a.io', names: { kind: 'Foo', plural: 'foos' }, versions: [{ name: 'v1' }] },
};
const baseUrl = process.argv[2];
const failure = async (made) => console.log(await made.then(() => 'no failure', ({ message }) => message));
void (async () => {
  const informer = createSharedInformer(createListWatch(createClient({ baseUrl }), pods));
  informer.start();
  await informer.whenSynced();
  console.log(informer.indexer.listKeys().join());
  await informer.stop();
  console.log(...[debug, createFakeApiServer, serveQueries].map((it) => typeof it));
  await failure(inspectKubeConfig({ text: '{}' })());
  await failure(crdTypes([definition]));
  const client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
  await failure(createResourceClient(client, pods).get({ namespace: 'shop', name: 'web-0' }));
})();
`;

/** Packages, and the entries that need them. */
const NEEDS = [
  ['@nats-io', ['nats']],
  ['react', ['react', 'react/worker']],
] as const;

let consumer: Consumer;
/** A folder from which no package of the consumer is found. */
let elsewhere: string;

/** Bundles a program of a project, and returns the folder of the bundle. */
async function bundled(
  bundler: string,
  project: string,
  program: string,
  text: string,
): Promise<string> {
  const script = join(project, `${program}.js`);
  const folder = join(elsewhere, `${program}-${bundler}`);
  mkdirSync(folder);
  writeFileSync(script, text);
  await nodeBundlers[bundler]?.(consumer, script, join(folder, 'bundle.cjs'));
  return folder;
}

/** A kubeconfig with a client certificate. Returns its path. */
function kubeconfigFor(url: string): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const cluster = { server: url, 'certificate-authority-data': base64(testOnlyCa) };
  const user = {
    'client-certificate-data': base64(testOnlyClientCert),
    'client-key-data': base64(testOnlyClientKey),
  };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'one', user }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
  };
  const path = join(elsewhere, 'kubeconfig.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const ends: (() => unknown)[] = [];
let url: string;
let kubeconfig: string;
/** Projects by the optional packages that they have. */
let projects: Readonly<Record<'clients' | 'nothing' | '@nats-io' | 'react', string>>;

beforeAll(async () => {
  consumer = await installConsumer();
  ends.push(() => consumer[Symbol.asyncDispose]());
  await installNightly(consumer);
  elsewhere = mkdtempSync(join(tmpdir(), 'rx-informer-bundles-'));
  ends.push(() => rmSync(elsewhere, { recursive: true, force: true }));
  projects = {
    clients: projectWith(consumer, 'clients', ['@kubernetes', 'undici']),
    nothing: projectWith(consumer, 'nothing', []),
    '@nats-io': projectWith(consumer, 'nats', ['@nats-io']),
    react: projectWith(consumer, 'react', ['react']),
  };
  const server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
  const served = await server.serve();
  ends.push(() => served.close());
  url = served.url;
  const front = await createHttp2Front(url);
  ends.push(() => front.close());
  kubeconfig = kubeconfigFor(front.url);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

describe.each(Object.keys(nodeBundlers))('one file for Node, made by %s', (bundler) => {
  const isLeft = isGate && bundler === 'webpack';

  it.skipIf(isLeft)('T76: an extension of VS Code follows a cluster over TLS', async () => {
    const folder = await bundled(bundler, projects.clients, 'extension', EXTENSION);
    mkdirSync(join(folder, 'node_modules/vscode'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/vscode/index.js'), VSCODE);
    writeFileSync(join(folder, 'editor.cjs'), EDITOR);
    const { stdout } = await mustRun(consumer.nodes['24'], ['editor.cjs', kubeconfig], folder);
    expect(stdout).toBe('h2: shop/web-0\n');
  });

  it('T76, T52: a server works without optional packages, and its errors name those that it needs', async () => {
    const folder = await bundled(bundler, projects.nothing, 'server', SERVER);
    const { stdout } = await mustRun(consumer.nodes['24'], ['bundle.cjs', url], folder);
    const needs = (what: string, name: string) =>
      expect.stringContaining(`${what} needs the package '${name}': npm install ${name}`);
    expect(stdout.split('\n')).toEqual([
      'shop/web-0',
      'function function function',
      needs('clientFromKubeConfig', '@kubernetes/client-node'),
      needs('the generation of types', 'json-schema-to-typescript'),
      needs('createUndiciTransport', 'undici'),
      '',
    ]);
  });

  it.skipIf(isLeft).each(NEEDS)(
    'T76: of all optional packages, %s is the only one that %s need',
    async (needed, entries) => {
      const name = `only-${needed.replace(/\W/g, '')}`;
      const imports = entries.map((entry, at) => `import * as e${at} from 'rx-informer/${entry}';`);
      const counts = entries.map((_, at) => `console.log(Object.keys(e${at}).length > 0);`);
      const text = [...imports, ...counts].join('\n');
      const folder = await bundled(bundler, projects[needed], name, text);
      const { stdout } = await mustRun(consumer.nodes['24'], ['bundle.cjs'], folder);
      expect(stdout).toBe(entries.map(() => 'true\n').join(''));
    },
  );
});
