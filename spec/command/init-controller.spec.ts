/** `rx-informer init controller`: the template, which passes its own tests here, and what the command makes of it. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolesFor } from 'rx-informer';
import { type CustomResourceDefinitionLike, crdTypes } from 'rx-informer/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { runCommand } from '../../lib/command/command.ts';
import { controllerFiles, templateAccess } from '../../lib/command/init-controller.ts';
import { templateFiles } from '../../lib/command/project-files.ts';
import { rolesText } from '../../lib/command/rbac-command.ts';
import { access } from '../../lib/command/templates/controller/src/access.ts';
import { widgets } from '../../lib/command/templates/controller/src/widgets.ts';

// The tests that a new project has.
await import('../../lib/command/templates/controller/test/controller.test.ts');

const template = 'lib/command/templates/controller';
const file = `${template}/manifests/1-crd.yaml`;
let folder: string;
let definition: CustomResourceDefinitionLike;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
  definition = parse(await readFile(file, 'utf8'));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** The definition of the template with other names. */
function named(kind: string, plural: string, scope = 'Namespaced'): CustomResourceDefinitionLike {
  const metadata = { name: `${plural}.paint.test`, uid: 'u', annotations: { of: 'shop' } };
  const spec = { ...definition.spec, group: 'paint.test', scope, names: { kind, plural } };
  return { ...definition, metadata, spec };
}

describe('the template', () => {
  it('N43: has the types, the roles and the access that the command makes for its definition', async () => {
    const text = (path: string) => readFile(`${template}/${path}`, 'utf8');
    expect(await text('src/widgets.ts')).toBe(await crdTypes([definition]));
    expect(await text('manifests/4-roles.yaml')).toBe(await rolesText(rolesFor(access)));
    const { group, plural, namespaced } = widgets;
    const of = templateAccess('widget-controller', { group, plural, namespaced });
    expect(rolesFor(of)).toEqual(rolesFor(access));
  });
});

describe('the files of a controller', () => {
  it('N43: have the names of the definition, and not those of the template', async () => {
    const crd = await written('policy.yaml', stringify(named('NetPolicy', 'netpolicies')));
    const files = await controllerFiles('painter', crd);
    const all = [...files].map(([path, text]) => `${path}\n${text}`).join('\n');
    expect(all).not.toMatch(/widget|example\.com|"\*"/i);
    expect(files.get('src/netPolicies.ts')).toContain('export interface NetPolicy extends');
    expect(files.get('src/reconcile.ts')).toContain("FINALIZER = 'paint.test/painter'");
    expect(files.get('src/access.ts')).toContain("import { netPolicies } from './netPolicies.ts'");
    expect(parse(files.get('manifests/1-crd.yaml') ?? '')).toEqual({
      ...named('NetPolicy', 'netpolicies'),
      metadata: { name: 'netpolicies.paint.test', annotations: { of: 'shop' } },
    });
    const roles = parseAllDocuments(files.get('manifests/4-roles.yaml') ?? '');
    expect(JSON.stringify(roles)).toContain('netpolicies/status');
  });

  it('N43: have another name for a kind whose name the template uses', async () => {
    const crd = await written('taken.yaml', stringify(named('Controller', 'leases', 'Cluster')));
    const files = await controllerFiles('painter', crd);
    expect(files.get('src/leasesResource.ts')).toBe(
      [
        "export * from './leasesResource-types.ts';",
        "export type { Controller as ControllerObject } from './leasesResource-types.ts';",
        "export { leases as leasesResource } from './leasesResource-types.ts';\n",
      ].join('\n'),
    );
    expect(files.get('src/reconcile.ts')).toContain('finalizer<ControllerObject>');
  });

  it('N43: have another name for a kind whose second name is that of a type of the template, too', async () => {
    const crd = await written('second.yaml', stringify(named('Reconcile', 'reconciles')));
    const files = await controllerFiles('painter', crd);
    expect(files.get('src/reconciles.ts')).toContain(
      'export type { Reconcile as ReconcileObjectObject } from',
    );
  });

  it.each([
    ['class', 'src/v1Class.ts'],
    ['main', 'src/mainResource.ts'],
    ['access', 'src/accessResource.ts'],
    ['controller', 'src/controllerResource.ts'],
    ['reconcile', 'src/reconcileResource.ts'],
  ])('N43: replace no file of the template for the plural %s', async (plural, path) => {
    const kind = plural.charAt(0).toUpperCase() + plural.slice(1);
    const crd = await written(`${plural}.yaml`, stringify(named(kind, plural)));
    const files = await controllerFiles('painter', crd);
    const own = await templateFiles('controller', {});
    const constant = path.slice('src/'.length, -'.ts'.length);
    const added = plural === 'class' ? [path] : [path, `src/${constant}-types.ts`];
    expect([...files.keys()].filter((each) => !own.has(each))).toEqual(added);
    expect([...own.keys()].filter((each) => !files.has(each))).toEqual(['src/widgets.ts']);
    expect(files.get('src/main.ts')).toContain('clientFromKubeConfig()');
    expect(files.get('src/access.ts')).toContain(`import { ${constant} } from './${constant}.ts'`);
  });

  it.each([
    ['NetPolicy', 'netpolicies', 'src/netPolicies.ts'],
    ['Controller', 'leases', 'src/leasesResource-types.ts'],
  ])(
    'N43: have a script that makes the types of %s again from the definition',
    async (kind, plural, path) => {
      const crd = await written('types.yaml', stringify(named(kind, plural)));
      const files = await controllerFiles('painter', crd);
      const { scripts } = JSON.parse(files.get('package.json') ?? '');
      expect(scripts.types).toBe(`rx-informer crd-types --file manifests/1-crd.yaml --out ${path}`);
      expect(await crdTypes([parse(files.get('manifests/1-crd.yaml') ?? '')])).toBe(
        files.get(path),
      );
    },
  );

  const version = () => definition.spec?.versions?.[0] as NonNullable<unknown>;
  const withVersion = (change: object) =>
    stringify({
      ...definition,
      spec: { ...definition.spec, versions: [{ ...version(), ...change }] },
    });
  const noType = { type: 'array', items: { type: 'object', properties: { type: {} } } };
  it.each<[string, () => string, RegExp]>([
    ['no YAML', () => 'a: [', /\.yaml is not valid YAML at line 1/],
    ['no definition', () => 'kind: Pod', /\.yaml contains no CustomResourceDefinition/],
    [
      'two definitions',
      () => `${stringify(definition)}---\n${stringify(named('A', 'as'))}`,
      /--crd \S+ has 2 definitions \(widgets\.example\.com, as\.paint\.test\); a project is for one/,
    ],
    [
      'a definition of another version',
      () => stringify({ ...definition, apiVersion: 'apiextensions.k8s.io/v1beta1' }),
      /expected a CustomResourceDefinition of apiextensions\.k8s\.io\/v1/,
    ],
    [
      'a definition without a status',
      () => withVersion({ subresources: {} }),
      /--crd \S+: version v1 has no status; add "subresources: \{ status: \{\} \}"/,
    ],
    [
      'a definition without conditions',
      () => withVersion({ schema: { openAPIV3Schema: { type: 'object' } } }),
      /version v1 has no status\.conditions as API conventions want them; add to its schema/,
    ],
    [
      'conditions without a status',
      () =>
        withVersion({
          schema: {
            openAPIV3Schema: { properties: { status: { properties: { conditions: noType } } } },
          },
        }),
      /version v1 has no status\.conditions/,
    ],
  ])('N44: are not made of %s, and nothing is written', async (_what, text, message) => {
    const crd = await written('wrong.yaml', text());
    const before = await readdir('.');
    let error = '';
    const code = await runCommand(['init', 'controller', 'not-made', '--crd', crd], {
      input: (async function* () {})(),
      out: () => {},
      error: (line) => {
        error += line;
      },
    });
    expect(error).toMatch(message);
    expect(code).toBe(1);
    expect(existsSync('not-made')).toBe(false);
    expect(await readdir('.')).toEqual(before);
  });
});
