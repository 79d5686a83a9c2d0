/** Types for custom resources: generates them, compiles a program with them and runs it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createClient,
  createResourceClient,
  type KubernetesObject,
  type Resource,
} from 'rx-informer';
import { type CustomResourceDefinitionLike, crdTypes } from 'rx-informer/node';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../lib/command/command.ts';
import { notLoaded } from '../../lib/node/optional-package.ts';
import { failureOf } from '../support/errors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = fileURLToPath(new URL('../node/widgets.crd.yaml', import.meta.url));
const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  // A folder within the package, so that the import of `rx-informer` finds this package.
  await mkdir(`${root}.cache`, { recursive: true });
  folder = await mkdtemp(`${root}.cache/crd-types-`);
});
afterAll(() => rm(folder, { recursive: true }));

async function command(args: readonly string[], input = '') {
  let out = '';
  let error = '';
  const code = await runCommand(args, {
    input: (async function* () {
      // Cuts the text between all bytes.
      for (const byte of new TextEncoder().encode(input)) yield Uint8Array.of(byte);
    })(),
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
  });
  return { code, out, error };
}

/** Uses the types correctly, and wrongly after each `@ts-expect-error`. */
const use = `
import type { KubernetesObject } from 'rx-informer';
import { createResourceClient, type KubeClient } from 'rx-informer';
import { v1alpha1Widgets, type Widget, type WidgetSpec, widgets } from './widgets.ts';

export const spec: WidgetSpec = {
  size: 1,
  port: 'http',
  free: { anything: [1] },
  blob: 7,
  color: "it's",
  nothing: null,
  labels: { a: 'b' },
  open: { a: 'text', more: 1 },
  sides: [{ x: null }, { x: 1 }],
  template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } }, spec: {} },
  pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { node: 'n' } },
  'x-odd/name': true,
};
export const widget: Widget = { metadata: { name: 'w' }, spec, status: { ready: true } };
const object: KubernetesObject = widget;
export async function main(client: KubeClient) {
  const found = await createResourceClient(client, widgets).get('shop/w');
  const size: number = found.spec.size;
  const version: 'example.com/v1' | undefined = found.apiVersion;
  const free = await createResourceClient(client, v1alpha1Widgets).get('shop/w');
  const unknown: unknown = free['whatever'];
  // @ts-expect-error: the field is required
  spec.size = undefined;
  // @ts-expect-error: the field is a number
  widget.spec.size = '1';
  // @ts-expect-error: not a value of the enum
  spec.color = 'green';
  // @ts-expect-error: no such field
  spec.height = 1;
  // @ts-expect-error: the kind differs
  widget.kind = 'Gadget';
  return [size, version, unknown, object];
}
`;

describe('types for custom resources', () => {
  it('C19: types generated from a file compile, and their resource works', async () => {
    const out = `${folder}/widgets.ts`;
    expect(await command(['crd-types', '--file', file, '--out', out])).toEqual({
      code: 0,
      out: '',
      error: '',
    });
    await writeFile(`${folder}/use.ts`, use);
    const config = { extends: '../../tsconfig.json', include: ['.'], exclude: [] };
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify(config));
    const checked = await run(`${root}node_modules/.bin/tsc`, ['-p', folder]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(checked.stdout).toBe('');

    const made = (await import(out)) as Record<string, Resource<KubernetesObject>>;
    const widgets = made['widgets'] as Resource<KubernetesObject>;
    expect(Object.keys(made).sort()).toEqual(['v1alpha1Widgets', 'widgets']);
    const server = createFakeApiServer({ resources: [widgets] });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const shop = createResourceClient(client, widgets).namespace('shop');
    expect(await shop.create({ metadata: { name: 'w' } })).toMatchObject({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
    });
  });

  it('C19: the types contain the descriptions and fields of the definition once', async () => {
    const { code, out } = await command(['crd-types', '--file', '-'], await readFile(file, 'utf8'));
    expect(code).toBe(0);
    expect(out).toContain(
      '/** A widget of the shop. */\nexport interface Widget extends KubernetesObject {',
    );
    expect(out).toContain('/** How big it is. */\n  size: number;');
    expect(out).toContain(' * In two paragraphs, with * / in it.');
    expect(out).toContain(
      "  apiVersion?: 'example.com/v1';\n  kind?: 'Widget';\n  metadata: ObjectMeta;\n  spec: WidgetSpec;",
    );
    expect(out).toContain('  port?: number | string;');
    expect(out).toContain('  template?: KubernetesObject & Record<string, unknown>;');
    expect(out).not.toMatch(/Must not be repeated|minItems|v1alpha0|RxInformer/);
    expect(out.match(/export interface /g)).toHaveLength(4);
    expect(out.match(/export const /g)).toHaveLength(2);
  });

  const definition = (
    group: string,
    kind: string,
    plural: string,
    versions: readonly string[],
    scope = 'Namespaced',
  ): CustomResourceDefinitionLike => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { kind, plural }, versions: versions.map((name) => ({ name })) },
  });

  it('C19: the most stable version of each definition gets the plain name', async () => {
    const text = await crdTypes([
      definition('one.dev', 'Thing', 'things', ['v1beta1', 'v2', 'v10', 'v1alpha3', 'v2beta1']),
      definition('two.dev', 'Thing', 'things', ['v10', 'v2'], 'Cluster'),
      definition('three.dev', 'Resource', 'resources', ['v1']),
      definition('four.dev', 'APIPolicy', 'api-policies', ['v1']),
    ]);
    const names = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);
    expect(names(/export interface (\w+) /g)).toEqual([
      ...['Thing', 'V2Thing', 'V2beta1Thing', 'V1beta1Thing', 'V1alpha3Thing'],
      ...['V10Thing', 'TwoV2Thing'],
      'V1Resource',
      'APIPolicy',
    ]);
    expect(names(/export const (\w+): Resource/g)).toEqual([
      ...['things', 'v2Things', 'v2beta1Things', 'v1beta1Things', 'v1alpha3Things'],
      ...['v10Things', 'twoV2Things'],
      'v1Resources',
      'apiPolicies',
    ]);
    expect(text.match(/namespaced: false/g)).toHaveLength(2);
  });

  it('C19: invalid input is refused with an error that says what is missing', async () => {
    const output = async (args: readonly string[], input = '') => {
      const { code, out, error } = await command(args, input);
      expect(out).toBe('');
      return `${code} ${error.trim()}`;
    };
    expect(await output(['crd-types', '--file', '-'], 'kind: Pod')).toBe(
      '1 rx-informer: the standard input contains no CustomResourceDefinition',
    );
    expect(await output(['crd-types', '--file', '-'], 'a: [')).toMatch(/^1 .*not valid YAML/);
    // A release file may contain Secrets.
    expect(await output(['crd-types', '--file', '-'], 'password: a: hunter2: [')).toMatch(
      /^1 [^\n]* is not valid YAML at line 1 \([A-Z_]+\)$/,
    );
    expect(await output(['crd-types', '--file', `${folder}/none.yaml`])).toBe(
      `1 rx-informer: crd-types: --file ${folder}/none.yaml cannot be read (ENOENT): it does not exist`,
    );
    expect(await output(['crd-types', '--file', folder])).toContain(
      'cannot be read (EISDIR): it is a folder',
    );
    expect(await output(['crd-types', '--file', file, '--out', `${folder}/no/x.ts`])).toContain(
      'no/x.ts cannot be written (ENOENT): create its folder first',
    );
    expect(await output(['crd-types'])).toMatch(/^2 .*crd-types needs --file or --name/);
    expect(await output(['crd-types', '--nmae', 'x'])).toMatch(
      /^2 .*--nmae.*see rx-informer crd-types --help$/,
    );
    expect(await output(['exec'])).toContain('unknown command "exec"');
    expect(await output([])).toMatch(/^2 Usage: rx-informer <command>/);
    expect((await command(['--help'])).out).toContain('crd-types  writes');
    expect((await command(['crd-types', '--help'])).out).toContain('--file <path>');
    const old = {
      ...definition('one.dev', 'Thing', 'things', ['v1']),
      apiVersion: 'apiextensions.k8s.io/v1beta1',
    };
    expect((await failureOf(crdTypes([old]))).message).toContain(
      'got CustomResourceDefinition (apiextensions.k8s.io/v1beta1) things.one.dev',
    );
    expect((await failureOf(crdTypes([]))).message).toContain('no definition');
    const list = JSON.stringify({
      kind: 'List',
      items: [definition('one.dev', 'Thing', 'things', [])],
    });
    expect(await output(['crd-types', '--file', '-'], list)).toContain(
      'no version of things.one.dev is served',
    );
  });

  it('C19: a name that no API server accepts is refused, because it would become a part of the module', async () => {
    const code = '*/ globalThis.injected = true; /*';
    const refusals = [
      [definition('one.dev', 'Thing', 'things', [`v1${code}`]), 'spec.versions[].name'],
      [definition('one.dev', 'Thing', 'things', ['v1', 'v2\n']), 'spec.versions[].name'],
      [definition(`one.dev${code}`, 'Thing', 'things', ['v1']), 'spec.group'],
      [definition("one'.dev", 'Thing', 'things', ['v1']), 'spec.group'],
      [definition('one.dev', 'Thing', `things${code}`, ['v1']), 'spec.names.plural'],
      [definition('one.dev', 'Thing\n', 'things', ['v1']), 'spec.names.kind'],
      [definition('one.dev', 'Ding', ['things'] as never, ['v1']), 'spec.names.plural'],
    ] as const;
    for (const [refused, field] of refusals) {
      const error = await failureOf(crdTypes([refused]));
      expect(error).toBeInstanceOf(TypeError);
      expect(error?.message).toMatch(/^crd-types: the definition .+ has an invalid /);
      expect(error?.message).toContain(field);
    }
    // Versions that are not served are not written.
    const unserved = definition('one.dev', 'Thing', 'things', ['v1']);
    const versions = [{ name: 'v1' }, { name: code, served: false }];
    expect(await crdTypes([{ ...unserved, spec: { ...unserved.spec, versions } }])).not.toContain(
      'injected',
    );
  });

  it('C19: a plural that is a reserved word gets another name', async () => {
    const words =
      'arguments as async await break case catch class const continue debugger default delete do else enum eval export extends false finally for from function get if implements import in instanceof interface let new null of package private protected public return set static super switch this throw true try type typeof undefined var void while with yield'.split(
        ' ',
      );
    const kind = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
    const text = await crdTypes(
      words.map((word) => definition(`${word}.dev`, kind(word), word, ['v1'])),
    );
    const out = `${folder}/reserved.ts`;
    await writeFile(out, text);
    const module: Record<string, Resource> = await import(out);
    expect(Object.values(module).map(({ plural }) => plural)).toEqual(
      expect.arrayContaining(words),
    );
    expect(module).toMatchObject({ v1Delete: { kind: 'Delete' }, async: { kind: 'Async' } });
    expect(text).toContain('export interface V1Delete extends');
  });

  it('C19: descriptions, fields and values of a schema are text in the module, whatever they contain', async () => {
    const code = [
      '*/ globalThis.injected = true; /*',
      "'; globalThis.injected = true; //",
      '"; globalThis.injected = true; //',
      `\`\${(globalThis.injected = true)}\``,
      '\n}; globalThis.injected = true; interface X {',
      '\u2028globalThis.injected = true',
      '\\',
      'RxInformerSpec',
    ];
    const schema = (value: string): object => ({
      type: 'object',
      description: value,
      required: [value],
      properties: {
        [value]: { enum: [value], description: value },
        spec: {
          type: 'object',
          description: value,
          properties: { [value]: { type: value, description: value } },
          additionalProperties: { type: 'string', description: value },
        },
      },
    });
    const names = code.map((_, at) => `v${at + 1}`);
    const { spec, ...rest } = definition('one.dev', 'Thing', 'things', names);
    const versions = names.map((name, at) => ({
      name,
      schema: { openAPIV3Schema: schema(code[at] ?? '') },
    }));
    const out = `${folder}/hostile.ts`;
    await writeFile(out, await crdTypes([{ ...rest, spec: { ...spec, versions } }]));
    const module = await import(out);
    expect(Object.keys(module)).toHaveLength(code.length);
    expect(globalThis).not.toHaveProperty('injected');
  });

  it('C19: a package that is not installed is named', async () => {
    const missing = await failureOf(import('no-such-package' as string));
    expect(notLoaded('crd-types', 'no-such-package', missing)).toBeInstanceOf(TypeError);
    const other = new Error('other');
    expect(notLoaded('crd-types', 'yaml', other)).toBe(other);
  });
});
