/** Patches, dry runs and deletions on the fake server, in details that a test on a real server cannot observe. */

import { leases } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../lib/meta/json-fields.ts';

import { applyPatch } from '../../lib/testing/patch/server-side-apply.ts';
import { strategicMergePatch } from '../../lib/testing/patch/strategic-merge-patch.ts';
import * as fc from '../support/fast-check.ts';
import { pod, pods, Wire } from './wire.ts';

const PATH = 'http://fake/api/v1/namespaces/shop/pods/a';
const shop = (name: string) => ({ name, namespace: 'shop' });

function sending(server: ReturnType<typeof createFakeApiServer>, type: string, query = '') {
  return (body: unknown) =>
    server.fetch(`${PATH}${query}`, {
      method: 'PATCH',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': `application/${type}` },
    });
}

const container = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    image: fc.constantFrom('i', 'j'),
    env: fc.uniqueArray(fc.record({ name: fc.constantFrom('X', 'Y', 'Z'), value: fc.string() }), {
      selector: ({ name }) => name,
    }),
    args: fc.array(fc.constantFrom('1', '2')),
  },
  { requiredKeys: ['name'] },
);
const template = fc
  .record({
    containers: fc.uniqueArray(container, { selector: ({ name }) => name }),
    nodeSelector: fc.dictionary(fc.constantFrom('k', 'constructor'), fc.string()),
  })
  .map((spec): Fields => ({ spec }));

describe('patches of a fake server', () => {
  it('A2: are applied completely or not at all, as one event; a patch without changes causes no event', async () => {
    const server = createFakeApiServer();
    const { metadata } = server.objects.create(pods, pod('a'));
    const wire = await Wire.open(
      server.fetch,
      `watch=1&resourceVersion=${server.objects.resourceVersion}`,
    );
    const send = sending(server, 'json-patch+json');
    const first = { op: 'add', path: '/spec', value: { x: 1 } };
    const failed = await send([first, { op: 'test', path: '/spec/x', value: 2 }]);
    expect(failed.status).toBe(422);
    expect((await send([])).status).toBe(200);
    expect(server.objects.get(pods, shop('a'))?.metadata).toEqual(metadata);
    const both = await send([first, { op: 'add', path: '/spec/y', value: 2 }]);
    expect((await both.json()).spec).toEqual({ x: 1, y: 2 });
    expect(await wire.lines()).toEqual(['MODIFIED a']);
  });

  it('A4: apply merges, and does not track who owns a field', async () => {
    const server = createFakeApiServer();
    const spec = (containers: object[]) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers },
    });
    const me = sending(server, 'apply-patch+yaml', '?fieldManager=me');
    const you = sending(server, 'apply-patch+yaml', '?fieldManager=you');
    const made = await me(spec([{ name: 'c', image: 'c:1' }]));
    expect(made.status).toBe(201);
    const taken = await you(spec([{ name: 'c', image: 'c:2' }]));
    expect(taken.status).toBe(200);
    expect(taken.headers.get('warning')).toContain('does not track field ownership');
    const less = await you(spec([{ name: 'd', image: 'd:1' }]));
    expect((await less.json()).spec.containers).toEqual([
      { name: 'c', image: 'c:2' },
      { name: 'd', image: 'd:1' },
    ]);
    const yaml = await me('apiVersion: v1\nkind: Pod\n');
    expect([yaml.status, (await yaml.json()).message]).toEqual([
      400,
      'error decoding patch: the fake API server reads only JSON',
    ]);
  });

  it('merging lists by key neither loses nor duplicates an item', () => {
    fc.assert(
      fc.property(template, template, (current, patch) => {
        const names = (object: Fields) =>
          (object.spec as { containers: { name: string }[] }).containers.map(({ name }) => name);
        const all = [...new Set([...names(current), ...names(patch)])].sort();
        expect(names(strategicMergePatch(current, patch)).sort()).toEqual(all);
        expect(names(applyPatch(current, patch, false) as Fields).sort()).toEqual(all);
      }),
    );
  });
});

describe('writes of a fake server', () => {
  it('A5: a dry run uses up no version and no name, and causes no event', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, pod('a'));
    const before = server.objects.snapshot();
    const wire = await Wire.open(server.fetch, `watch=1&resourceVersion=${before.resourceVersion}`);
    const collection = 'http://fake/api/v1/namespaces/shop/pods?dryRun=All';
    const body = JSON.stringify({ metadata: { name: 'b' } });
    for (const path of [collection, collection]) {
      const made = await server.fetch(path, { method: 'POST', body });
      expect(made.status).toBe(201);
      expect((await made.json()).metadata).not.toHaveProperty('resourceVersion');
    }
    const patched = await sending(server, 'merge-patch+json', '?dryRun=All')({ spec: { x: 1 } });
    expect((await patched.json()).spec).toEqual({ x: 1 });
    for (const path of [`${PATH}?dryRun=All`, collection]) {
      expect((await server.fetch(path, { method: 'DELETE' })).status).toBe(200);
    }
    expect(server.objects.snapshot()).toEqual(before);
    server.objects.delete(pods, shop('a'));
    expect(await wire.lines()).toEqual(['DELETED a']);
  });

  it('A5: a deletion takes effect immediately, whatever its propagation policy, and dependents stay', async () => {
    for (const propagationPolicy of ['Foreground', 'Orphan', 'Background']) {
      const server = createFakeApiServer();
      const { metadata } = server.objects.create(pods, pod('a'));
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: metadata.uid };
      const dependent = pod('b');
      server.objects.create(pods, {
        ...dependent,
        metadata: { ...dependent.metadata, ownerReferences: [owner] },
      });
      const body = JSON.stringify({ propagationPolicy });
      const answer = await server.fetch(PATH, { method: 'DELETE', body });
      expect((await answer.json()).status).toBe('Success');
      expect(server.objects.list(pods).map((each) => each.metadata.name)).toEqual(['b']);
    }
  });

  const putting = (server: ReturnType<typeof createFakeApiServer>, plural: string) => {
    return async (metadata: object, name = 'a') => {
      const body = JSON.stringify({ metadata: { name, ...metadata } });
      const url = `http://fake/apis/${plural}/${name}`;
      const answer = await server.fetch(url, { method: 'PUT', body });
      return answer.status;
    };
  };

  it('A10: a PUT creates a lease that does not exist, and must name the version of a lease that exists', async () => {
    const server = createFakeApiServer();
    const put = putting(server, 'coordination.k8s.io/v1/namespaces/shop/leases');
    expect(await put({})).toBe(201);
    expect(await put({ labels: { mine: '1' } })).toBe(422);
    expect(await put({ uid: 'another' }, 'b')).toBe(409);
    const lease = server.objects.get(leases, shop('a'));
    const { resourceVersion, uid } = lease?.metadata ?? {};
    expect(await put({ resourceVersion, uid, labels: { mine: '1' } })).toBe(200);
  });

  it('A11: a generated name is at most 58 characters of generateName and five more, with and without a request', async () => {
    const server = createFakeApiServer();
    const generateName = `${'g'.repeat(60)}-`;
    const metadata = { namespace: 'shop', generateName };
    const made = server.objects.create(pods, { metadata });
    expect(made.metadata.name).toMatch(/^g{58}[a-z0-9]{5}$/);
    const url = 'http://fake/api/v1/namespaces/shop/pods';
    const answer = await server.fetch(url, { method: 'POST', body: JSON.stringify({ metadata }) });
    expect((await answer.json()).metadata).toMatchObject({
      name: expect.stringMatching(/^g{58}[a-z0-9]{5}$/),
      generateName,
    });
  });

  it('take their timestamps from the scheduler', () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    scheduler.frame = 5000;
    const made = server.objects.create(pods, pod('a'));
    expect(made.metadata.creationTimestamp).toBe('1970-01-01T00:00:05Z');
  });
});

describe('a null in metadata', () => {
  const post = (server: ReturnType<typeof createFakeApiServer>, metadata: Fields) =>
    server.fetch('http://fake/api/v1/namespaces/shop/pods', {
      method: 'POST',
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ...metadata } }),
      headers: { 'content-type': 'application/json' },
    });

  it('A1: is an empty value, as Go decodes it', async () => {
    const server = createFakeApiServer();
    const answer = await post(server, { labels: { x: null }, annotations: { y: null, z: 'z' } });
    expect(answer.status).toBe(201);
    const { metadata } = await answer.json();
    expect([metadata.labels, metadata.annotations]).toEqual([{ x: '' }, { y: '', z: 'z' }]);
    const send = sending(server, 'json-patch+json');
    const patched = await send([{ op: 'add', path: '/metadata/labels/q', value: null }]);
    expect((await patched.json()).metadata.labels).toEqual({ x: '', q: '' });
  });

  it.each([
    [{ finalizers: [null] }, 'metadata.finalizers'],
    [{ ownerReferences: [null] }, 'metadata.ownerReferences[0].apiVersion'],
    [{ ownerReferences: [{ apiVersion: null, kind: null }] }, 'metadata.ownerReferences[0].kind'],
  ])('A1: is refused where a value must not be empty: %j', async (metadata, field) => {
    const answer = await post(createFakeApiServer(), metadata);
    expect(answer.status).toBe(422);
    const { details } = await answer.json();
    expect(details.causes.map((cause: { field: string }) => cause.field)).toContain(field);
  });
});
