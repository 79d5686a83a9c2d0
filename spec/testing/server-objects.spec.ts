import { nodes } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Line, pod, pods, Wire } from './wire.ts';

const shop = (name: string) => ({ name, namespace: 'shop' });

async function listed(server: ReturnType<typeof createFakeApiServer>, query = '') {
  const answer = await server.fetch(`http://fake/api/v1/pods${query}`);
  return answer.json();
}

describe('objects of a fake server', () => {
  it('are frozen copies with UID, version and creation time', () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler, random: () => 0.5 });
    const given = pod('a');
    const stored = server.objects.create(pods, given);
    expect(stored).toMatchObject({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { resourceVersion: '2', generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' },
      status: { phase: 'Running' },
    });
    expect(Object.isFrozen(stored.metadata.labels)).toBe(true);
    given.status.phase = 'Failed';
    expect(server.objects.get(pods, shop('a'))).toBe(stored);
  });

  it('are changed by update, modify, apply and delete', () => {
    const { objects } = createFakeApiServer();
    const one = objects.create(pods, pod('a'));
    const two = objects.modify(pods, shop('a'), (draft) => {
      draft.metadata = { ...draft.metadata, labels: { x: '1' } };
    });
    expect(two.metadata).toMatchObject({ uid: one.metadata.uid, resourceVersion: '3' });
    expect(() => objects.update(pods, one)).toThrow(/the object has been modified/);
    expect(objects.apply(pods, [pod('a'), pod('b')]).map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
    ]);
    expect(objects.apply(pods, [pod('b')])[0]?.metadata.resourceVersion).toBe('5');
    objects.delete(pods, shop('a'));
    expect(objects.list(pods).map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(objects.list(pods, 'elsewhere')).toEqual([]);
    expect(() => objects.delete(pods, shop('a'))).toThrow('pods "a" not found');
  });

  it('A95: are not replaced by a creation, with or without a namespace, and need a name', () => {
    const { objects } = createFakeApiServer();
    const first = objects.create(pods, { metadata: { name: 'a' } });
    expect(first.metadata.namespace).toBe('default');
    const taken = expect.objectContaining({ code: 409, reason: 'AlreadyExists' });
    for (const namespace of [undefined, '', 'default']) {
      const again = { metadata: { name: 'a', ...(namespace === undefined ? {} : { namespace }) } };
      expect(() => objects.create(pods, again)).toThrow(taken);
    }
    objects.create(pods, { metadata: { name: 'a', namespace: 'shop' } });
    expect(objects.get(pods, { name: 'a' })).toBe(first);
    const node = { metadata: { name: 'n', namespace: 'shop' } };
    expect(objects.create(nodes, node).metadata).not.toHaveProperty('namespace');
    expect(() => objects.create(nodes, node)).toThrow(taken);
    for (const object of [{}, { metadata: {} }, { metadata: { name: '' } }]) {
      expect(() => objects.create(pods, object)).toThrow(
        'Pod "" is invalid: metadata.name: Required value: name or generateName is required',
      );
    }
    expect(objects.list(pods)).toHaveLength(2);
  });

  it('have versions beyond the safe integers of JavaScript', async () => {
    const server = createFakeApiServer({ initialResourceVersion: '9007199254740992' });
    for (const name of ['a', 'b', 'c']) server.objects.create(pods, pod(name));
    const first = await listed(server, '?limit=1');
    expect(first.metadata.resourceVersion).toBe('9007199254740995');
    server.objects.create(pods, pod('aa'));
    const rest = await listed(server, `?continue=${first.metadata.continue}`);
    expect(rest.items.map((item: Line['object']) => item.metadata.resourceVersion)).toEqual([
      '9007199254740994',
      '9007199254740995',
    ]);
    expect(() => createFakeApiServer({ initialResourceVersion: '0' })).toThrow(TypeError);
  });

  it('report each change synchronously, whoever made it, until the listener is removed', async () => {
    const server = createFakeApiServer();
    const changes: string[] = [];
    const text = (one?: { metadata: { labels?: Readonly<Record<string, string>> | undefined } }) =>
      one === undefined ? '-' : (one.metadata.labels?.['app'] ?? 'none');
    const remove = server.objects.onChange(pods, ({ before, after, resourceVersion }) => {
      expect(resourceVersion).toBe(server.objects.resourceVersion);
      changes.push(`${text(before)}>${text(after)}`);
    });
    const ref = { namespace: 'shop', name: 'seen' };
    server.objects.create(pods, { metadata: { ...ref, labels: { app: 'a' } } });
    await server.fetch('http://fake/api/v1/namespaces/shop/pods/seen', {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata: { labels: { app: 'b' } } }),
    });
    server.objects.delete(pods, ref);
    expect(changes).toEqual(['->a', 'a>b', 'b>-']);
    remove();
    server.objects.create(pods, { metadata: ref });
    expect(changes).toHaveLength(3);
  });

  it('can change without an event to a watch', async () => {
    const server = createFakeApiServer();
    const wire = await Wire.open(server.fetch);
    server.objects.create(pods, pod('a'), { silent: true });
    server.objects.create(pods, pod('b'));
    expect(await wire.lines()).toEqual(['ADDED b']);
    expect((await listed(server)).items).toHaveLength(2);
    const replay = await Wire.open(server.fetch, 'watch=1&resourceVersion=1');
    expect(await replay.lines()).toEqual(['ADDED b']);
  });

  it('can be restored from a snapshot, including the versions', async () => {
    const server = createFakeApiServer();
    const a = server.objects.create(pods, pod('a'));
    const snapshot = server.objects.snapshot();
    server.objects.create(pods, pod('b'));
    server.objects.delete(pods, shop('a'));
    const wire = await Wire.open(server.fetch, 'watch=1&resourceVersion=4');
    server.objects.restoreSnapshot(snapshot);
    await expect(wire.chunk()).rejects.toThrow(TypeError);
    expect(server.openWatches).toEqual([]);
    expect(server.objects.list(pods)).toEqual([a]);
    expect(server.objects.create(pods, pod('c')).metadata.resourceVersion).toBe('3');
    const again = await Wire.open(server.fetch, 'watch=1&resourceVersion=2');
    expect(await again.lines()).toEqual(['ADDED c']);
    server.objects.reset();
    expect([server.objects.resourceVersion, server.objects.list(pods)]).toEqual(['1', []]);
  });

  it('expire from the history when it exceeds its limit', async () => {
    const server = createFakeApiServer({ historyLimit: 2 });
    for (const name of 'abcde') server.objects.create(pods, pod(name));
    const old = await Wire.open(server.fetch, 'watch=1&resourceVersion=3');
    expect(await old.lines()).toEqual(['ERROR Expired']);
    const kept = await Wire.open(server.fetch, 'watch=1&resourceVersion=4');
    expect(await kept.lines()).toEqual(['ADDED d', 'ADDED e']);
  });

  it('A73: expire from the history when their JSON exceeds its limit', async () => {
    const large = (name: string) => ({ ...pod(name), spec: { text: 'x'.repeat(1000) } });
    const server = createFakeApiServer({ historyMaxBytes: 6000 });
    for (const name of 'abcdefghij') server.objects.create(pods, large(name));
    // The versions begin at 2. Of ten changes with more than 1,000 bytes each, a few fit.
    const watch = async (resourceVersion: number) =>
      (await Wire.open(server.fetch, `watch=1&resourceVersion=${resourceVersion}`)).lines();
    expect(await watch(5)).toEqual(['ERROR Expired']);
    expect(await watch(8)).toEqual(['ADDED h', 'ADDED i', 'ADDED j']);
    const exact = 'resourceVersion=5&resourceVersionMatch=Exact';
    const list = await server.fetch(`http://fake/api/v1/pods?${exact}`);
    expect(list.status).toBe(410);
    expect(server.objects.list(pods)).toHaveLength(10);
    const tiny = createFakeApiServer({ historyMaxBytes: 1 });
    const open = await Wire.open(tiny.fetch, 'watch=1&resourceVersion=1');
    for (const name of 'ab') {
      tiny.objects.create(pods, large(name));
      expect(await open.lines()).toEqual([`ADDED ${name}`]);
    }
    // A compaction counts as well.
    server.objects.compact();
    for (const name of 'kl') server.objects.create(pods, large(name));
    expect(await watch(11)).toEqual(['ADDED k', 'ADDED l']);
  });
});
