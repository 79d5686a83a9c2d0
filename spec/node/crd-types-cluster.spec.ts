/** `rx-informer crd-types --name`: definitions of a cluster, here the fake one over HTTP. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createResourceClient } from 'rx-informer';
import { customResourceDefinitions } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../../lib/node/command.ts';
import { kubeconfig } from './kubeconfigs.ts';

const file = new URL('./widgets.crd.yaml', import.meta.url).pathname;
const server = createFakeApiServer({ resources: [customResourceDefinitions] });
const definitions = createResourceClient(
  createClient({ baseUrl: 'http://fake', fetch: server.fetch }),
  customResourceDefinitions,
);
let folder = '';
let url = '';
let close: () => Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rx-informer-spec-'));
  const served = await server.serve({ port: 0 });
  url = served.url;
  close = () => served.close();
  await writeFile(join(folder, 'config'), kubeconfig({ server: url }, { token: 't' }));
});
afterEach(async () => {
  await definitions.deleteCollection();
  await close();
  await rm(folder, { recursive: true });
});

/** All fields in the order in which an API server sends them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}

async function crdTypes(...args: readonly string[]) {
  let said = '';
  const hear = (text: string) => {
    said += text;
  };
  const streams = { input: (async function* () {})(), out: hear, error: hear };
  const own = ['--kubeconfig', join(folder, 'config')];
  const code = await runCommand(['crd-types', ...args, ...own], streams);
  return { code, said };
}

const named = (name: string) => {
  const [plural = '', ...group] = name.split('.');
  const names = { plural, kind: 'Thing', singular: 'thing' };
  const spec = { group: group.join('.'), scope: 'Cluster' as const, names, versions: [] };
  return { metadata: { name }, spec };
};

describe('types of a definition in a cluster', () => {
  it('C41: are those of the file that it was made from, field by field in one order', async () => {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    const definition = [...documents]
      .map((document) => document.toJS())
      .find((value) => value?.kind === 'CustomResourceDefinition');
    await definitions.create(sorted(definition) as never);
    const ofCluster = await crdTypes('--name', definition.metadata.name);
    expect(ofCluster.code).toBe(0);
    expect(ofCluster).toEqual(await crdTypes('--file', file));
  });

  it.each<[string, readonly string[], string]>([
    [
      'widgets',
      ['widgets.example.com', 'gadgets.example.com'],
      "did you mean 'widgets.example.com'?",
    ],
    ['widgest.example.com', ['widgets.example.com'], "did you mean 'widgets.example.com'?"],
    [
      'x',
      ['widgets.example.com', 'gadgets.example.com'],
      'there are: gadgets.example.com, widgets.example.com',
    ],
    ['x', [], 'it has none at all'],
  ])(
    'C42: of the name %j, which is not there among %j, are answered with the names that are',
    async (name, names, what) => {
      for (const each of names) await definitions.create(named(each) as never);
      expect(await crdTypes('--name', name)).toEqual({
        code: 1,
        said: `rx-informer: the cluster at ${url} has no CustomResourceDefinition '${name}'; ${what}\n`,
      });
    },
  );

  it('C42: that cannot be listed either say what the server said', async () => {
    // Only the list has no name in its path.
    const fault = server.faults.failNext(
      { path: /customresourcedefinitions$/ },
      { status: 403, times: 10 },
    );
    const { said } = await crdTypes('--name', 'x');
    fault.heal();
    expect(said).toMatch(/^rx-informer: GET .*customresourcedefinitions\/x: .*not found/);
  });
});
