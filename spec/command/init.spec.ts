/** `rx-informer init`: the files that it makes, what it refuses, and the template of a controller, which passes its own tests here. */

import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolesFor } from 'rx-informer';
import { type CustomResourceDefinitionLike, crdTypes } from 'rx-informer/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { runCommand } from '../../lib/command/command.ts';
import { controllerFiles, templateAccess } from '../../lib/command/init-controller.ts';
import { templateFiles, writeProject } from '../../lib/command/project-files.ts';
import { rolesText } from '../../lib/command/rbac-command.ts';
import { access } from '../../lib/command/templates/controller/src/access.ts';
import { widgets } from '../../lib/command/templates/controller/src/widgets.ts';

let folder: string;

describe('a template', () => {
  it('N43: gets the words of the project, the names of its files, and the versions with which the library is tested', async () => {
    const files = await templateFiles('controller', { 'widget-controller': 'paint' });
    const { name, devDependencies } = JSON.parse(files.get('package.json') ?? '');
    const own = JSON.parse(await readFile('package.json', 'utf8'));
    expect(name).toBe('paint');
    expect(devDependencies.vitest).toBe(own.devDependencies.vitest);
    expect(files.has('.gitignore')).toBe(true);
    expect([...files.values()].filter((text) => text.includes('widget-controller'))).toEqual([]);
  });
});

describe('writing a project', () => {
  it('N43: makes the folder, and fills an empty one', async () => {
    for (const name of ['new', 'empty']) {
      const target = join(folder, name);
      if (name === 'empty') await mkdir(target);
      await writeProject(target, new Map([['a/b.txt', 'text']]));
      expect(await readFile(join(target, 'a/b.txt'), 'utf8')).toBe('text');
    }
    // Nothing is left of the folder in which the files were written.
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('N43: fills the empty folder behind a link, and refuses a link to nothing', async () => {
    const at = (name: string) => join(folder, name);
    const [real, link, loose] = [at('real'), at('link'), at('loose')];
    await mkdir(real);
    await symlink(real, link);
    await writeProject(link, new Map([['a.txt', 'text']]));
    expect(await readFile(join(real, 'a.txt'), 'utf8')).toBe('text');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    await symlink(at('nowhere'), loose);
    await expect(writeProject(loose, new Map([['a.txt', 'text']]))).rejects.toThrow(
      /^init: the folder \S+loose cannot be used \(ENOTDIR\); choose another name$/,
    );
  });

  it('N44: says which folder cannot be written', async () => {
    const failure = writeProject(join(folder, 'absent/new'), new Map([['a.txt', 'text']]));
    await expect(failure).rejects.toThrow(
      /^init: \S+absent cannot be written \(ENOENT\); choose another folder$/,
    );
  });

  it('N44: refuses a folder with files, and leaves nothing behind', async () => {
    const target = join(folder, 'full');
    await mkdir(target);
    await writeFile(join(target, 'mine.txt'), '');
    const before = await readdir(folder);
    const failure = writeProject(target, new Map([['a.txt', 'text']]));
    await expect(failure).rejects.toThrow(/full is not empty, it has mine\.txt; choose another/);
    expect(await readdir(folder)).toEqual(before);
    expect(await readdir(target)).toEqual(['mine.txt']);
  });
});

describe('rx-informer init', () => {
  async function init(...args: string[]) {
    let error = '';
    const code = await runCommand(['init', ...args], {
      input: (async function* () {})(),
      out: () => {},
      error: (text) => {
        error += text;
      },
    });
    return { code, error };
  }

  it.each([
    [[], /^rx-informer: init needs \S+.*, and a name, for example init \S+ my-project; see/],
    [['boat', 'a'], /^rx-informer: init needs /],
    [['controller'], /^rx-informer: init needs /],
    [['controller', 'a', 'b'], /^rx-informer: init needs /],
    [['controller', 'My_App'], /init: "My_App" is no DNS label; use at most 63 lower-case letters/],
    [['controller', 'a'.repeat(64)], /is no DNS label/],
    [['controller', '../a'], /is no DNS label/],
    [['controller', 'a', '--crb', 'x'], /'--crb'.*see rx-informer init --help/s],
    [['dashboard', 'a', '--crd', 'x'], /init dashboard has no option --crd; leave it out/],
    [['controller', 'a'], /init controller needs --crd with the file of a CustomResourceDef/],
  ])('N44: refuses the arguments %j', async (args, message) => {
    const { code, error } = await init(...args);
    expect(error).toMatch(message);
    expect(code).toBe(2);
  });
});

// The tests that a new project has.
await import('../../lib/command/templates/controller/test/controller.test.ts');

const template = 'lib/command/templates/controller';
const file = `${template}/manifests/1-crd.yaml`;
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
