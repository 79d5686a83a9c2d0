/** `rx-informer rbac`: what it prints, and what it refuses. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient, createResourceClient, type DeclaredAccess, rolesFor } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer, permittedBy } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../../lib/command/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
beforeAll(async () => {
  await mkdir(`${root}.cache`, { recursive: true });
  folder = await mkdtemp(`${root}.cache/rbac-`);
});
afterAll(() => rm(folder, { recursive: true }));

async function rbac(text: string, ...more: string[]) {
  const file = join(folder, `access-${Math.random().toString(36).slice(2)}.ts`);
  await writeFile(file, text);
  return await command(file, ...more);
}

async function command(...args: string[]) {
  let out = '';
  let error = '';
  const code = await runCommand(['rbac', ...args], {
    input: (async function* () {})(),
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
  });
  return { code, out, error: error.replaceAll(folder, '') };
}

const rulesOf = (access: Partial<DeclaredAccess>) =>
  rolesFor({ name: 'it', ...access }).map(({ kind, metadata: { namespace = '' }, rules }) => [
    `${kind} ${namespace}`.trim(),
    ...rules.map(({ resources, verbs, resourceNames }) =>
      [resources, verbs, resourceNames].filter(Boolean).join(' '),
    ),
  ]);

describe('the roles of a declared access', () => {
  it('N41: have sorted rules, one for each resource, and one for resources with equal verbs', () => {
    const watched = { group: '', plural: 'services' };
    const access = {
      informers: [pods, watched],
      clients: [
        { resource: pods, calls: ['patch', 'patchStatus'] },
        { resource: pods, calls: ['get', 'patch'], subresource: 'resize' },
        { resource: pods, calls: ['evict', 'log', 'edit'] },
        { resource: { group: 'apps', plural: 'deployments' }, calls: ['apply', 'patchScale'] },
        { resource: { group: '', plural: 'endpoints' }, calls: ['watch', 'list'] },
      ],
    } as const;
    const expected = [
      [
        'ClusterRole',
        'endpoints,services list,watch',
        'pods get,list,patch,watch',
        'pods/eviction create',
        'pods/log get',
        'pods/resize get,patch',
        'pods/status patch',
        'deployments create,patch',
        'deployments/scale patch',
      ],
    ];
    expect(rulesOf(access)).toEqual(expected);
    const reversed = { clients: access.clients.toReversed(), informers: [watched, pods] };
    expect(rulesOf(reversed)).toEqual(expected);
  });

  it('N41: a namespace makes Roles, except for resources without one, and the Lease is restricted by its name', () => {
    const leaderElection = { namespace: 'system', name: 'it' };
    const access = { namespace: 'shop', informers: [pods, nodes], events: true };
    const lease = ['leases create', 'leases get,update it'];
    const [cluster, shop] = [
      ['ClusterRole', 'nodes list,watch'],
      ['Role shop', 'pods list,watch', 'events create,patch'],
    ];
    expect(rulesOf({ ...access, leaderElection })).toEqual([
      cluster,
      shop,
      ['Role system', ...lease],
    ]);
    const same = { ...access, leaderElection: { namespace: 'shop', name: 'it' } };
    expect(rulesOf(same)).toEqual([
      cluster,
      ['Role shop', 'pods list,watch', ...lease, 'events create,patch'],
    ]);
    expect(rulesOf({})).toEqual([]);
  });

  it('N41: resources of one name in two groups have two rules', () => {
    const informers = ['events.k8s.io', ''].map((group) => ({ group, plural: 'events' }));
    const [role] = rolesFor({ name: 'it', informers });
    expect(role?.rules.map(({ apiGroups, resources }) => [apiGroups, resources])).toEqual([
      [[''], ['events']],
      [['events.k8s.io'], ['events']],
    ]);
  });

  it('N40: an edit of a subresource runs with its roles, also after a conflict, and needs each of their verbs', async () => {
    const roles = rolesFor({
      name: 'it',
      clients: [{ resource: pods, calls: ['edit'], subresource: 'status' }],
    });
    const edited = async (given: typeof roles) => {
      const { objects, fetch } = createFakeApiServer({ allows: permittedBy(given) });
      const stale = objects.create(pods, {
        metadata: { namespace: 'shop', name: 'web' },
        spec: { containers: [{ name: 'web', image: 'web' }] },
      });
      objects.update(pods, { ...stale, metadata: { ...stale.metadata, labels: { app: 'web' } } });
      const client = createResourceClient(createClient({ baseUrl: 'http://fake', fetch }), pods);
      const recipe = (pod: { status?: { message?: string } | undefined }) => {
        pod.status = { message: 'ready' };
      };
      const result = client.edit(stale, recipe, { subresource: 'status' });
      return result.then(
        ({ status }) => status?.message,
        (error: Error & { code: number }) => error.code,
      );
    };
    expect(
      rulesOf({ clients: [{ resource: pods, calls: ['edit'], subresource: 'status' }] }),
    ).toEqual([['ClusterRole', 'pods get', 'pods/status patch']]);
    expect(await edited(roles)).toBe('ready');
    for (const { resources } of roles[0]?.rules ?? []) {
      const less = roles.map((role) => ({
        ...role,
        rules: role.rules.filter((rule) => rule.resources !== resources),
      }));
      expect(await edited(less)).toBe(403);
    }
  });

  it.each<[string, unknown, RegExp]>([
    [
      'nothing',
      undefined,
      /^access: the declaration is undefined; it must be an object; declare it as in \{ name/,
    ],
    ['no name', {}, /^access: name is undefined; it must be a name such as 'my-controller'$/],
    ['a namespace', { name: 'a', namespace: 'A' }, /^access: namespace is "A"; it must be a name/],
    ['no list', { name: 'a', informers: pods }, /^access: informers is \{.*; it must be a list/],
    [
      'no resource',
      { name: 'a', informers: [pods, 'pods'] },
      /^access: informers\[1\] is "pods"; it must be a Resource/,
    ],
    [
      'a call that does not exist',
      { name: 'a', clients: [{ resource: pods, calls: ['get', 'edti'] }] },
      /^access: clients\[0\]\.calls\[1\] is "edti"; it must be a call of a client: did you mean 'edit'\?$/,
    ],
    [
      'a verb of another spelling',
      { name: 'a', clients: [{ resource: pods, calls: ['escalate'] }] },
      /it must be a call of a client: get, list, watch, create/,
    ],
    [
      'a client without calls',
      { name: 'a', clients: [{ resource: pods }] },
      /^access: clients\[0\]\.calls is undefined; it must be a list/,
    ],
    [
      'a Lease without a name',
      { name: 'a', leaderElection: { namespace: 'a' } },
      /^access: leaderElection\.name is undefined/,
    ],
  ])('N42: refuses %s', (_what, access, message) => {
    expect(() => rolesFor(access as DeclaredAccess)).toThrow(message);
  });
});

describe('rx-informer rbac', () => {
  const declaration = `{ name: 'it', informers: [{ group: '', plural: 'pods' }] }`;

  it('N40: prints the roles as YAML', async () => {
    const { code, out } = await rbac(`export const access = ${declaration};`);
    const documents = parseAllDocuments(out);
    if (!Array.isArray(documents)) return expect.fail('no document');
    const expected = rolesFor({ name: 'it', informers: [pods] });
    expect(documents.map((document) => document.toJS())).toEqual(expected);
    expect(code).toBe(0);
    const named = await rbac(`export const rights = ${declaration};`, '--export', 'rights');
    expect(named.out).toBe(out);
  });

  it('N42: with --out a file is written, and stays as it is if the access is wrong', async () => {
    const out = join(folder, 'roles.yaml');
    const printed = await rbac(`export const access = ${declaration};`);
    expect(await rbac(`export const access = ${declaration};`, '--out', out)).toMatchObject({
      ...{ code: 0, out: '' },
    });
    expect(await readFile(out, 'utf8')).toBe(printed.out);
    expect(await rbac('export const access = {};', '--out', out)).toMatchObject({ code: 1 });
    expect(await readFile(out, 'utf8')).toBe(printed.out);
  });

  it.each([
    ['a module that does not exist', [], /^rx-informer: rbac needs one module, for example/],
    ['two modules', ['a.ts', 'b.ts'], /^rx-informer: rbac needs one module/],
    ['no file', ['absent.ts'], /rbac: there is no file absent\.ts; name the module that exports/],
    ['an option that does not exist', ['--exprot'], /'--exprot'.*see rx-informer rbac --help/s],
  ])('N42: refuses %s', async (_what, args, message) => {
    const { code, out, error } = await command(...args);
    expect(error).toMatch(message);
    expect([out, code]).toEqual(['', args[0] === 'absent.ts' ? 1 : 2]);
  });

  it.each([
    [
      'a module without the export',
      `export const other = 1;`,
      /rbac: \S+\.ts has no export access; it exports other\. Name another one with --export/,
    ],
    ['a module without exports', '', /has no export access; it exports nothing/],
    ['a module that throws', `throw new Error('no disk');`, /\.ts cannot be imported: no disk/],
    [
      'an invalid declaration',
      `export const access = { name: 'it', informers: {} };`,
      /rbac: the export access of \S+\.ts: access: informers is \{\}; it must be a list/,
    ],
  ])('N42: refuses %s', async (_what, text, message) => {
    const { code, out, error } = await rbac(text);
    expect(error).toMatch(message);
    expect([out, code]).toEqual(['', 1]);
  });

  it('N42: a module whose import opens a connection is refused, and the command ends', async () => {
    const file = join(folder, 'program.ts');
    const text = `import { createServer } from 'node:net';
      await new Promise((resolve) => createServer().listen(0, '127.0.0.1', resolve));
      export const access = ${declaration};`;
    await writeFile(file, text);
    const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const args = [...flags, 'lib/command/rx-informer.ts', 'rbac', file];
    const failure = promisify(execFile)(process.execPath, args, { cwd: root });
    await expect(failure).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/program\.ts opened a connection, so it starts the program/),
    });
  });
});
