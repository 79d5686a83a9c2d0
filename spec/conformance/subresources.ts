/** Scale, eviction, logs and the options of deletions. */
import { describe, expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  get,
  isNewer,
  names,
  post,
  put,
  succeed,
} from './api-server.ts';
import { APPLY, deployment, JSON_PATCH, MERGE, patch, patched, STRATEGIC } from './patches.ts';

export function subresourceTests(server: () => ApiServer): void {
  describe('scale', () => {
    const make = async () => {
      const path = deployments(await server().freshNamespace());
      const one = await post(server(), path, deployment('web'));
      return { path: `${path}/web`, one };
    };

    it('the scale shows and sets the replicas', async () => {
      const { path, one } = await make();
      const scale = await get(server(), `${path}/scale`);
      const { name, namespace, uid, resourceVersion, creationTimestamp } = one.metadata;
      expect(scale).toEqual({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: 1 },
        status: { replicas: 0, selector: 'app=web' },
      });
      const two = await put(server(), `${path}/scale`, { ...scale, spec: { replicas: 3 } });
      expect(two).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      expect(isNewer(two, one)).toBe(true);
      const scaled = await get(server(), path);
      expect(scaled.spec).toEqual({ ...one.spec, replicas: 3 });
      expect(scaled.metadata.generation).toBe(2);
      const none = await put(server(), `${path}/scale`, { metadata: { name }, spec: {} });
      expect(none.spec).toEqual({});
      expect((await get(server(), path)).spec.replicas).toBe(0);
    });

    it('the scale accepts all types of patches, and dry runs', async () => {
      const { path } = await make();
      const change = [{ op: 'replace', path: '/spec/replicas', value: 2 }];
      expect((await patch(server(), JSON_PATCH, `${path}/scale`, change)).spec.replicas).toBe(2);
      const spec = (replicas: number) => ({ spec: { replicas } });
      expect((await patch(server(), MERGE, `${path}/scale`, spec(3))).spec.replicas).toBe(3);
      expect((await patch(server(), STRATEGIC, `${path}/scale`, spec(4))).spec.replicas).toBe(4);
      const head = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'web' } };
      const mine = { fieldManager: 'me', force: 'true' };
      const applied = await patch(server(), APPLY, `${path}/scale`, { ...head, ...spec(5) }, mine);
      expect(applied.spec.replicas).toBe(5);
      const dry = await patch(server(), MERGE, `${path}/scale`, spec(9), { dryRun: 'All' });
      expect(dry.spec.replicas).toBe(9);
      expect((await get(server(), path)).spec.replicas).toBe(5);
    });

    it('A1: replicas that are no integer of 32 bits are refused', async () => {
      const { path } = await make();
      const merge = { 'content-type': 'application/merge-patch+json' };
      const send = (method: string, replicas: unknown, headers = {}) =>
        server().request(method, `${path}/scale`, {
          ...{ headers, body: { metadata: { name: 'web' }, spec: { replicas } } },
        });
      for (const replicas of ['x', '1', 1.5, 5e10, 2 ** 31, true, {}]) {
        const put = await send('PUT', replicas);
        expectFailure(
          put,
          400,
          'BadRequest',
          /^Scale in version "v1" cannot be handled as a Scale/,
        );
        expectFailure(await send('PATCH', replicas, merge), 422, 'Invalid', /invalid: patch: Inv/);
      }
      const none = await server().request('PUT', `${path}/scale`, {
        body: { metadata: { name: 'web' }, spec: 5 },
      });
      expectFailure(none, 400, 'BadRequest', /cannot be handled as a Scale: json: cannot unmarsh/);
      expect((await send('PUT', null)).status).toBe(200);
      expect((await get(server(), path)).spec).toMatchObject({ replicas: 0 });
    });

    it('an invalid scale is refused', async () => {
      const { path } = await make();
      const attempt = (body: object) => server().request('PUT', `${path}/scale`, { body });
      const spec = { replicas: 1 };
      const stale = await attempt({ metadata: { name: 'web', resourceVersion: '1' }, spec: {} });
      expectFailure(stale, 409, 'Conflict', /^Operation cannot be fulfilled on deployments.apps/);
      const other = await attempt({ metadata: { name: 'other' }, spec });
      expectFailure(other, 400, 'BadRequest', /^the name of the object \(other\) does not match/);
      const negative = await attempt({ metadata: { name: 'web' }, spec: { replicas: -1 } });
      expectFailure(negative, 422, 'Invalid', /^Scale.autoscaling "web" is invalid: spec.replicas/);
      const kind = await attempt({ kind: 'Deployment', apiVersion: 'apps/v1', metadata: {}, spec });
      expectFailure(
        kind,
        400,
        'BadRequest',
        /^Deployment in version "v1" cannot be handled as a Scale/,
      );
      const none = await server().request('GET', path.replace(/web$/, 'none/scale'));
      expectFailure(none, 404, 'NotFound', /^deployments.apps "none" not found$/);
      for (const method of ['POST', 'DELETE']) {
        const answer = await server().request(method, `${path}/scale`, {
          ...(method === 'POST' ? { body: {} } : {}),
        });
        expectFailure(answer, 405, 'MethodNotAllowed', /does not allow this method/);
      }
      const maps = configMaps(path.split('/')[5] as string);
      await post(server(), maps, { metadata: { name: 'a' } });
      const scaleless = await server().request('GET', `${maps}/a/scale`);
      expectFailure(scaleless, 404, 'NotFound', /could not find the requested resource$/);
    });
  });

  const makePod = async (...containers: string[]) => {
    const pods = `/api/v1/namespaces/${await server().freshNamespace()}/pods`;
    const spec = { containers: containers.map((name) => ({ name, image: 'i' })) };
    const pod = await post(server(), pods, { metadata: { name: 'p' }, spec });
    return { pods, path: `${pods}/p`, pod };
  };

  it('an eviction deletes a pod, and an invalid one is refused', async () => {
    const { pods, path } = await makePod('c');
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    const evict = (fields: object, at = path) =>
      server().request('POST', `${at}/eviction`, { body: { ...body, ...fields } });
    expectFailure(await evict({ metadata: { name: 'q' } }), 400, 'BadRequest', /^name in URL does/);
    const pod = { apiVersion: 'v1', kind: 'Pod' };
    expectFailure(await evict(pod), 400, 'BadRequest', /cannot be handled as a Eviction/);
    const other = { deleteOptions: { preconditions: { uid: 'other' } } };
    expectFailure(await evict(other), 409, 'Conflict', /the UID in the precondition \(other\)/);
    const none = await evict({ metadata: { name: 'none' } }, `${pods}/none`);
    expectFailure(none, 404, 'NotFound', /^pods "none" not found$/);
    expectFailure(
      await server().request('GET', `${path}/eviction`),
      405,
      'MethodNotAllowed',
      /does not allow this method/,
    );
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 };
    const tried = await evict({ deleteOptions: { dryRun: ['All'] } });
    expect(tried.status, tried.text).toBe(201);
    expect(tried.json).toMatchObject(status);
    expect(names(await get(server(), pods))).toEqual(['p']);
    const done = await evict({});
    expect(done.status).toBe(201);
    expect(done.json).toEqual({ ...status, metadata: {} });
    expect(names(await get(server(), pods))).toEqual([]);
  });

  it('a request for a log must name one container of a pod with several', async () => {
    const { pods, path } = await makePod('c', 'd');
    const attempt = (query: Record<string, string>, at = path) =>
      server().request('GET', `${at}/log`, { query });
    expectFailure(
      await attempt({}),
      400,
      'BadRequest',
      /^a container name must be specified for pod p, choose one of: \[c d\]$/,
    );
    const unknown = await attempt({ container: 'e' });
    expectFailure(unknown, 400, 'BadRequest', /^container e is not valid for pod p$/);
    expectFailure(await attempt({}, `${pods}/none`), 404, 'NotFound', /^pods "none" not found$/);
    const negative = await attempt({ container: 'c', tailLines: '-1' });
    expectFailure(negative, 422, 'Invalid', /^PodLogOptions "p" is invalid: tailLines: Invalid/);
    const time = '2026-01-01T00:00:00.5+01:00';
    const noTime = await attempt({ container: 'c', sinceTime: '2026' });
    expectFailure(
      noTime,
      400,
      'BadRequest',
      /^parsing time "2026" as "2006-01-02T15:04:05Z07:00": /,
    );
    const noNumber = await attempt({ container: 'c', sinceSeconds: 'x' });
    expectFailure(noNumber, 400, 'BadRequest', /^strconv.ParseInt: parsing "x": invalid syntax$/);
    const both = await attempt({ container: 'c', sinceTime: time, sinceSeconds: '5' });
    expectFailure(both, 422, 'Invalid', /: at most one of `sinceTime` or `sinceSeconds` may be/);
    expect((await attempt({ container: 'c', sinceTime: time })).status).toBeLessThan(300);
    const empty = await attempt({ container: 'c' });
    expect(empty.status).toBeLessThan(300);
    expect(empty.text).toBe('');
  });

  it('a deletion with the policy Foreground or Orphan sets a finalizer if the server has garbage collection', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const [policy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      await post(server(), path, { metadata: { name: 'a' } });
      const body = { propagationPolicy: policy };
      const answer = await succeed(server(), 'DELETE', `${path}/a`, { body });
      if (server().capabilities.garbageCollection) {
        expect(answer.metadata.finalizers).toEqual([finalizer]);
        await patch(server(), MERGE, `${path}/a`, { metadata: { finalizers: null } });
      } else expect(answer.status).toBe('Success');
      expect(names(await get(server(), path))).toEqual([]);
    }
    await post(server(), path, { metadata: { name: 'a' } });
    const query = { propagationPolicy: 'Background' };
    const answer = await succeed(server(), 'DELETE', `${path}/a`, { query });
    expect(answer.status).toBe('Success');
    const unknown = { query: { propagationPolicy: 'Sometimes' } };
    const refused = await server().request('DELETE', `${path}/a`, unknown);
    expectFailure(refused, 422, 'Invalid', /propagationPolicy: Unsupported value: "Sometimes"/);
  });

  it('a collection is deleted by field selector', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const name of ['a', 'b', 'c']) await post(server(), path, { metadata: { name } });
    const query = { fieldSelector: 'metadata.name!=b' };
    expect(names(await succeed(server(), 'DELETE', path, { query }))).toEqual(['a', 'c']);
    expect(names(await get(server(), path))).toEqual(['b']);
  });

  it('a Lease has neither a generation nor a status', async () => {
    const namespace = await server().freshNamespace();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    const one = await post(server(), path, lease);
    expect(one.metadata).not.toHaveProperty('generation');
    const stale = { ...one, spec: { holderIdentity: 'you' } };
    const two = await put(server(), `${path}/l`, stale);
    expect(two.spec.holderIdentity).toBe('you');
    const late = await server().request('PUT', `${path}/l`, { body: stale });
    expectFailure(late, 409, 'Conflict', /the object has been modified/);
    const status = await patched(server(), MERGE, `${path}/l/status`, {});
    expectFailure(status, 404, 'NotFound', /could not find the requested resource$/);
  });
}
