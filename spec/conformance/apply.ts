/** Server-side apply. Tests of field ownership run only on servers that track it. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  get,
  isNewer,
  type Json,
  post,
  WIDGETS,
  widget,
  widgets,
} from './api-server.ts';
import { APPLY, deployment, patch, patched } from './patches.ts';

const me = { fieldManager: 'me' };
const other = { fieldManager: 'other', force: 'true' };

const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

const web = (containers: object[]) => {
  const object = deployment('web');
  object.spec.template.spec.containers = containers;
  return { apiVersion: 'apps/v1', kind: 'Deployment', ...object };
};

export function applyTests(server: () => ApiServer): void {
  it('an apply creates a missing object and changes an existing one', async () => {
    const path = configMaps(await server().freshNamespace());
    const made = await patched(server(), APPLY, `${path}/a`, configMap('a', { k: '1' }), me);
    expect(made.status, made.text).toBe(201);
    expect(made.json).toMatchObject({ kind: 'ConfigMap', data: { k: '1' } });
    const again = await patched(server(), APPLY, `${path}/a`, configMap('a', { k: '1' }), me);
    expect(again.status).toBe(200);
    expect(again.json.metadata.resourceVersion).toBe(made.json.metadata.resourceVersion);
    const two = await patch(server(), APPLY, `${path}/a`, configMap('a', { k: '2' }), me);
    expect(two.data).toEqual({ k: '2' });
    expect(isNewer(two, made.json)).toBe(true);
    expect(await get(server(), `${path}/a`)).toEqual(two);
  });

  it('an apply to an existing object may leave out the name; an apply that creates needs it', async () => {
    const path = configMaps(await server().freshNamespace());
    const { metadata: _, ...nameless } = configMap('a', { k: '1' });
    const none = await patched(server(), APPLY, `${path}/a`, nameless, me);
    expectFailure(none, 400, 'BadRequest', /^the name of the object \(a based on URL\) was undet/);
    await patch(server(), APPLY, `${path}/a`, configMap('a', { k: '1' }), me);
    const made = await patch(server(), APPLY, `${path}/a`, nameless, me);
    expect(made.metadata.name).toBe('a');
  });

  it('an apply with dryRun creates no object', async () => {
    const path = configMaps(await server().freshNamespace());
    const dry = { ...me, dryRun: 'All' };
    const tried = await patched(server(), APPLY, `${path}/a`, configMap('a', { k: '1' }), dry);
    expect(tried.status).toBe(201);
    expect(tried.json.metadata).toMatchObject({ name: 'a', uid: expect.any(String) });
    expect((await server().request('GET', `${path}/a`)).status).toBe(404);
  });

  it('an apply merges the lists of a built-in object by their keys', async () => {
    const path = deployments(await server().freshNamespace());
    const env = (...names: string[]) => names.map((name) => ({ name, value: name }));
    const ports = [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }];
    await patch(
      server(),
      APPLY,
      `${path}/web`,
      web([
        { name: 'a', image: 'i', env: env('X', 'Y'), ports },
        { name: 'b', image: 'i' },
      ]),
      me,
    );
    const two = await patch(
      server(),
      APPLY,
      `${path}/web`,
      web([
        { name: 'z', image: 'i' },
        { name: 'b', env: env('B') },
      ]),
      other,
    );
    const containers = (object: Json): Json[] => object.spec.template.spec.containers;
    const names = (items: Json[]) => items.map(({ name }) => name);
    expect(names(containers(two))).toEqual(['a', 'z', 'b']);
    expect(containers(two)[2]).toMatchObject({ image: 'i', env: env('B') });
    const three = await patch(
      server(),
      APPLY,
      `${path}/web`,
      web([
        {
          name: 'a',
          env: env('W', 'X'),
          ports: [{ containerPort: 81 }, { containerPort: 80, protocol: 'UDP', name: 'u' }],
        },
        { name: 'z', image: 'i' },
        { name: 'b', env: env('B') },
      ]),
      other,
    );
    const [a] = containers(three);
    expect(names(a.env)).toEqual(['W', 'X', 'Y']);
    expect(a.ports.map((port: Json) => [port.containerPort, port.protocol ?? 'TCP'])).toEqual([
      [80, 'TCP'],
      [81, 'TCP'],
      [80, 'UDP'],
    ]);
    expect(a.ports[2].name).toBe('u');
    expect(three.metadata.generation).toBe(3);
    const order = [{ name: 'b' }, { name: 'n', image: 'i' }, { name: 'z' }];
    const four = await patch(server(), APPLY, `${path}/web`, web(order), {
      ...other,
      fieldManager: 'x',
    });
    expect(names(containers(four))).toEqual(['a', 'b', 'n', 'z']);
    const back = [{ name: 'z' }, { name: 'a' }];
    const five = await patch(server(), APPLY, `${path}/web`, web(back), {
      ...other,
      fieldManager: 'y',
    });
    expect(names(containers(five))).toEqual(['b', 'n', 'z', 'a']);
  });

  it('an apply replaces the lists of a custom object, but merges its finalizers', async ({
    skip,
  }) => {
    if (!server().capabilities.widgets) return skip('this server has no widgets');
    const path = widgets(await server().freshNamespace());
    const one = (finalizer: string, spec: object) => ({
      ...widget('w', { spec, status: { ignored: true } }),
      metadata: { name: 'w', finalizers: [finalizer] },
    });
    const list = (name: string) => [{ name }];
    const first = one('example.com/a', { list: list('x'), o: { a: 1 } });
    const made = await patch(server(), APPLY, `${path}/w`, first, me);
    expect(made).not.toHaveProperty('status');
    const second = one('example.com/b', { list: list('y'), o: { b: 2 } });
    const two = await patch(server(), APPLY, `${path}/w`, second, other);
    expect(two.spec).toEqual({ list: list('y'), o: { a: 1, b: 2 } });
    expect(two.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
    const status = widget('w', { spec: { o: 5 }, status: { ok: true } });
    const three = await patch(server(), APPLY, `${path}/w/status`, status, me);
    expect(three).toMatchObject({ spec: two.spec, status: { ok: true } });
    expect(three.metadata.generation).toBe(2);
    const none = await patched(server(), APPLY, `${path}/none/status`, widget('none'), me);
    expectFailure(none, 404, 'NotFound', new RegExp(`^widgets.${WIDGETS.group} "none" not found$`));
  });

  it('an invalid apply is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const attempt = (body: unknown, query: Record<string, string> = me) =>
      patched(server(), APPLY, `${path}/a`, body, query);
    const a = configMap('a', {});
    const nobody = await attempt(a, {});
    expectFailure(nobody, 422, 'Invalid', /fieldManager: Required value: is required for apply/);
    expect(nobody.json.details.kind).toBe('PatchOptions');
    const { apiVersion: _, ...versionless } = a;
    const undecoded = server().minor < 37 ? /^error decoding YAML: / : /^error decoding patch: /;
    for (const [body, message] of [
      [versionless, /^invalid object type: \/, Kind=ConfigMap$/],
      [{ ...a, kind: 'Pod' }, /^invalid object type: \/v1, Kind=Pod$/],
      [configMap('b', {}), /^the name of the object \(b\) does not match the name on the URL/],
      [configMap('a', {}, { namespace: 'b' }), /^the namespace of the provided object does not/],
      [configMap('a', {}, { managedFields: [{}] }), /^metadata.managedFields must be nil$/],
      ['{nope: [', undecoded],
      [[1], undecoded],
    ] as const) {
      expectFailure(await attempt(body), 400, 'BadRequest', message);
    }
    const stale = configMap('a', { k: '1' }, { resourceVersion: '1' });
    expectFailure(await attempt(stale), 409, 'Conflict', /the object has been modified/);
    const uid = configMap('a', {}, { uid: 'other' });
    expectFailure(await attempt(uid), 422, 'Invalid', /metadata.uid: .*field is immutable/);
  });

  it('the option force is refused for patches other than apply', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const type = 'application/merge-patch+json';
    const answer = await patched(server(), type, `${path}/a`, {}, other);
    expectFailure(answer, 422, 'Invalid', /force: Forbidden: may not be specified for non-apply/);
  });

  it('an apply of a field with another owner is a conflict, and an own field that is left out is removed', async ({
    skip,
  }) => {
    if (!server().capabilities.fieldOwnership) return skip('this server tracks no field ownership');
    const path = configMaps(await server().freshNamespace());
    await patch(server(), APPLY, `${path}/a`, configMap('a', { k: '1', l: '1' }), me);
    const mine = configMap('a', { k: '2' });
    const answer = await patched(server(), APPLY, `${path}/a`, mine, { fieldManager: 'other' });
    expectFailure(answer, 409, 'Conflict', /conflict with "me": .data.k$/);
    const less = await patch(server(), APPLY, `${path}/a`, configMap('a', { k: '1' }), me);
    expect(less.data).toEqual({ k: '1' });
  });

  it('a server without field ownership merges the fields and sends a warning', async ({ skip }) => {
    if (server().capabilities.fieldOwnership) return skip('this server tracks field ownership');
    const path = configMaps(await server().freshNamespace());
    await patch(server(), APPLY, `${path}/a`, configMap('a', { k: '1', l: '1' }), me);
    const taken = await patched(server(), APPLY, `${path}/a`, configMap('a', { k: '2' }), {
      fieldManager: 'other',
    });
    expect(taken.json.data).toEqual({ k: '2', l: '1' });
    expect(taken.headers.get('warning')).toMatch(/^299 - ".* does not track field ownership: /);
    expect(taken.json.metadata).not.toHaveProperty('managedFields');
  });
}
