/** `rx-informer crd-types --name`: definitions of a cluster, here of the fake API server over HTTP. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createResourceClient } from 'rx-informer';
import { customResourceDefinitions } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../../lib/command/command.ts';
import { kubeconfig } from '../node/kubeconfigs.ts';

const file = new URL('../node/widgets.crd.yaml', import.meta.url).pathname;
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
  let error = '';
  const collect = (text: string) => {
    error += text;
  };
  const streams = { input: (async function* () {})(), out: collect, error: collect };
  const own = ['--kubeconfig', join(folder, 'config')];
  const code = await runCommand(['crd-types', ...args, ...own], streams);
  return { code, error };
}

const named = (name: string) => {
  const [plural = '', ...group] = name.split('.');
  const names = { plural, kind: 'Thing', singular: 'thing' };
  const spec = { group: group.join('.'), scope: 'Cluster' as const, names, versions: [] };
  return { metadata: { name }, spec };
};

describe('types of a definition in a cluster', () => {
  it('C19: the text is the same as for the definition in a file, with sorted fields', async () => {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    const definition = [...documents]
      .map((document) => document.toJS())
      .find((value) => value?.kind === 'CustomResourceDefinition');
    await definitions.create(sorted(definition) as never);
    const ofCluster = await crdTypes('--name', definition.metadata.name);
    expect(ofCluster.code).toBe(0);
    expect(ofCluster).toEqual(await crdTypes('--file', file));
    const elsewhere = await crdTypes('--name', definition.metadata.name, '--context', 'nowhere');
    expect(elsewhere.error).toContain("no context 'nowhere'");
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
    ['x', [], 'it has no definitions'],
  ])(
    'C19: if the name %j is not among the definitions %j, the error suggests names',
    async (name, names, what) => {
      for (const each of names) await definitions.create(named(each) as never);
      expect(await crdTypes('--name', name)).toEqual({
        code: 1,
        error: `rx-informer: the cluster at ${url} has no CustomResourceDefinition '${name}'; ${what}\n`,
      });
    },
  );

  it('C19, T3: a name that a terminal would execute is sanitized', async () => {
    const items = [{ metadata: { name: 'a\u001b]0;x\u0007\nrx-informer: forged' } }];
    const body = JSON.stringify({ kind: 'List', items });
    const fault = server.faults.failNext((request) => !request.path.endsWith('/nope'), {
      status: 200,
      body,
      contentType: 'application/json',
    });
    const { error } = await crdTypes('--name', 'nope');
    fault.heal();
    expect(error).toContain('forged');
    expect(error.trimEnd()).not.toMatch(/\p{Cc}/u);
  });

  it('C19: if the names cannot be listed either, the error of the server is reported', async () => {
    // Fails only the list, which has no name in its path.
    const fault = server.faults.failNext(
      { path: /customresourcedefinitions$/ },
      { status: 403, times: 10 },
    );
    const { error } = await crdTypes('--name', 'x');
    fault.heal();
    expect(error).toMatch(/^rx-informer: GET .*customresourcedefinitions\/x: .*not found/);
  });
});
