/** Strategic merge patches: lists and directives. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  isNewer,
  type Json,
  post,
  widget,
  widgets,
} from './api-server.ts';
import { deployment, patch, patched, STRATEGIC } from './patches.ts';

const containersOf = (object: Json): Json[] => object.spec.template.spec.containers;
const namesOf = (items: Json[]): string[] => items.map(({ name }) => name);
const inPod = (fields: object) => ({ spec: { template: { spec: fields } } });

export function strategicTests(server: () => ApiServer): void {
  const make = async (containers: object[], fields: object = {}) => {
    const path = deployments(await server().freshNamespace());
    const object = deployment('web');
    Object.assign(object.spec.template.spec, { containers, ...fields });
    const one = await post(server(), path, object);
    return { path: `${path}/web`, one };
  };
  const change = (path: string, body: object) => patch(server(), STRATEGIC, path, body);
  const c = { name: 'c', image: 'c:1' };
  const d = { name: 'd', image: 'd:1' };

  it('containers are merged by name, ports by number, variables by name', async () => {
    const env = [{ name: 'A', value: '1' }];
    const { path, one } = await make([{ ...c, env, ports: [{ containerPort: 80 }] }, d]);
    const two = await change(
      path,
      inPod({
        containers: [
          { name: 'd', image: 'd:2' },
          { name: 'c', env: [{ name: 'B', value: '2' }], ports: [{ containerPort: 81 }] },
          { name: 'e', image: 'e:1' },
        ],
      }),
    );
    const containers = containersOf(two);
    expect(namesOf(containers)).toEqual(['d', 'c', 'e']);
    expect(containers[0].image).toBe('d:2');
    expect(containers[1].image).toBe('c:1');
    expect(namesOf(containers[1].env)).toEqual(['B', 'A']);
    expect(containers[1].ports.map((port: Json) => port.containerPort)).toEqual([81, 80]);
    expect(two.metadata.generation).toBe(2);
    expect(isNewer(two, one)).toBe(true);
  });

  it('items that the patch does not name keep their places', async () => {
    const { path } = await make([c, d]);
    const two = await change(path, inPod({ containers: [{ name: 'd', image: 'd:2' }] }));
    expect(namesOf(containersOf(two))).toEqual(['c', 'd']);
    const three = await change(path, inPod({ containers: [{ name: 'e', image: 'e:1' }] }));
    expect(namesOf(containersOf(three))).toEqual(['e', 'c', 'd']);
  });

  it('lists without a merge key are replaced', async () => {
    const { path } = await make([{ ...c, args: ['a', 'b'] }], { tolerations: [{ key: 'x' }] });
    const containers = [{ name: 'c', args: ['z'] }];
    const two = await change(path, inPod({ containers, tolerations: [{ key: 'y' }] }));
    expect(containersOf(two)[0].args).toEqual(['z']);
    expect(two.spec.template.spec.tolerations).toEqual([{ key: 'y' }]);
  });

  it('$patch: delete removes items, and null removes fields', async () => {
    const { path } = await make([{ ...c, args: ['a'] }, d]);
    const two = await change(
      path,
      inPod({
        containers: [
          { name: 'd', $patch: 'delete' },
          { name: 'c', args: null },
        ],
      }),
    );
    expect(namesOf(containersOf(two))).toEqual(['c']);
    expect(containersOf(two)[0]).not.toHaveProperty('args');
    const anew = [
      { name: 'c', image: 'c:2' },
      { name: 'c', $patch: 'delete' },
    ];
    const three = await change(path, inPod({ containers: anew }));
    expect(containersOf(three)).toMatchObject([{ name: 'c', image: 'c:2' }]);
  });

  it('$patch: replace replaces lists and objects', async () => {
    const { path } = await make([c, d]);
    const containers = [{ name: 'e', image: 'e:1' }, { $patch: 'replace' }];
    expect(namesOf(containersOf(await change(path, inPod({ containers }))))).toEqual(['e']);
    const maps = configMaps(path.split('/')[5] as string);
    await post(server(), maps, { metadata: { name: 'a' }, data: { k: '1', l: '2' } });
    const data = { $patch: 'replace', m: '3' };
    expect((await change(`${maps}/a`, { data })).data).toEqual({ m: '3' });
  });

  it('$setElementOrder orders a list, and a list that contradicts it is refused', async () => {
    const { path } = await make([c, d]);
    const e = { name: 'e', image: 'e:1' };
    const order = { '$setElementOrder/containers': [{ name: 'd' }, { name: 'e' }, { name: 'c' }] };
    const two = await change(path, inPod({ ...order, containers: [e] }));
    expect(namesOf(containersOf(two))).toEqual(['d', 'e', 'c']);
    const containers = [{ name: 'c', image: 'c:2' }, e];
    const answer = await patched(server(), STRATEGIC, path, inPod({ ...order, containers }));
    expectFailure(answer, 500, undefined, /doesn't match \$setElementOrder list/);
  });

  it('$retainKeys removes all other fields', async () => {
    const volumes = [{ name: 'v', emptyDir: {} }];
    const { path } = await make([c], { volumes });
    const retained = {
      name: 'v',
      $retainKeys: ['name', 'configMap'],
      configMap: { name: 'm' },
    };
    const two = await change(path, inPod({ volumes: [retained] }));
    expect(two.spec.template.spec.volumes[0]).toMatchObject({ configMap: { name: 'm' } });
    expect(two.spec.template.spec.volumes[0]).not.toHaveProperty('emptyDir');
  });

  it('finalizers are merged as a set, and $deleteFromPrimitiveList removes some', async () => {
    const path = configMaps(await server().freshNamespace());
    const finalizers = ['example.com/a'];
    await post(server(), path, { metadata: { name: 'a', finalizers } });
    const more = { metadata: { finalizers: ['example.com/b', 'example.com/a'] } };
    const two = await change(`${path}/a`, more);
    expect(two.metadata.finalizers).toEqual(['example.com/b', 'example.com/a']);
    const less = { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] };
    const three = await change(`${path}/a`, { metadata: less });
    expect(three.metadata.finalizers).toEqual(['example.com/b']);
  });

  it('owner references are merged by UID', async () => {
    const path = configMaps(await server().freshNamespace());
    const owner = (uid: string, name = uid) => ({ apiVersion: 'v1', kind: 'Pod', name, uid });
    const metadata = { name: 'a', ownerReferences: [owner('1'), owner('2')] };
    await post(server(), path, { metadata });
    const ownerReferences = [
      { uid: '1', $patch: 'delete' },
      { uid: '2', controller: true },
    ];
    const two = await change(`${path}/a`, { metadata: { ownerReferences } });
    expect(two.metadata.ownerReferences).toEqual([{ ...owner('2'), controller: true }]);
  });

  it('conditions are merged by type', async () => {
    const { path } = await make([c]);
    const status = (conditions: object[]) => change(`${path}/status`, { status: { conditions } });
    await status([{ type: 'A', status: 'True' }]);
    const two = await status([{ type: 'B', status: 'True' }]);
    expect(two.status.conditions.map((each: Json) => each.type)).toEqual(['B', 'A']);
    expect(two.metadata.generation).toBe(1);
    const three = await status([{ type: 'A', $patch: 'delete' }]);
    expect(three.status.conditions.map((each: Json) => each.type)).toEqual(['B']);
  });

  it('an item without its merge key, or a body that is not an object, is refused', async () => {
    const { path } = await make([c]);
    const keyless = inPod({ containers: [{ image: 'x' }] });
    const answer = await patched(server(), STRATEGIC, path, keyless);
    expectFailure(answer, 500, undefined, /does not contain declared merge key: name$/);
    for (const body of ['{nope', [1]]) {
      expectFailure(await patched(server(), STRATEGIC, path, body), 400, 'BadRequest', /./);
    }
  });

  it('a patch that changes nothing keeps the version, and a patch with an outdated version is refused', async () => {
    const { path, one } = await make([c, d]);
    const same = await change(path, inPod({ containers: [{ name: 'd', image: 'd:1' }] }));
    expect(same.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    const stale = { metadata: { resourceVersion: '1' }, spec: { replicas: 2 } };
    expectFailure(await patched(server(), STRATEGIC, path, stale), 409, 'Conflict', /modified/);
  });

  it('a strategic merge patch of a custom resource is refused', async ({ skip }) => {
    if (!server().capabilities.widgets) return skip('this server has no widgets');
    const path = widgets(await server().freshNamespace());
    await post(server(), path, widget('w', { spec: { a: 1 } }));
    const answer = await patched(server(), STRATEGIC, `${path}/w`, { spec: { b: 2 } });
    expectFailure(
      answer,
      415,
      'UnsupportedMediaType',
      /types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml$/,
    );
  });
}
