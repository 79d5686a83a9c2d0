/** Lists: their objects, versions and pages. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  expectFailure,
  fill,
  get,
  type Json,
  names,
  post,
  put,
  succeed,
  untilCached,
} from './api-server.ts';

export function listTests(server: () => ApiServer): void {
  it('a list contains the objects of a namespace in the order of their names, without kind and apiVersion', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['b', 'a-1', 'a']);
    const list = await get(server(), configMaps(namespace));
    expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(Object.keys(list.metadata)).toEqual(['resourceVersion']);
    expect(names(list)).toEqual(['a', 'a-1', 'b']);
    for (const item of list.items) {
      expect(item).not.toHaveProperty('kind');
      expect(item).not.toHaveProperty('apiVersion');
    }
  });

  it('a list without objects has an empty array of items', async () => {
    const list = await get(server(), configMaps(await server().freshNamespace()));
    expect(list.items).toEqual([]);
    expect(list.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
  });

  it('a list of all namespaces contains the objects of each', async () => {
    const [one, two] = [await server().freshNamespace(), await server().freshNamespace()];
    const name = `everywhere-${one}`;
    await fill(server(), one, [name]);
    await fill(server(), two, [name]);
    const query = { fieldSelector: `metadata.name=${name}` };
    const list = await get(server(), '/api/v1/configmaps', query);
    const found = list.items.map(({ metadata }: Json) => metadata.namespace);
    expect(found).toEqual([one, two].sort());
  });

  const selected: [Record<string, string>, string[]][] = [
    [{ labelSelector: 'app=web' }, ['a', 'b']],
    [{ labelSelector: 'app==web' }, ['a', 'b']],
    [{ labelSelector: 'app!=web' }, ['c', 'd']],
    [{ labelSelector: 'app in (web, db)' }, ['a', 'b', 'c']],
    [{ labelSelector: 'app notin (web)' }, ['c', 'd']],
    [{ labelSelector: 'canary' }, ['b']],
    [{ labelSelector: '!canary' }, ['a', 'c', 'd']],
    [{ labelSelector: 'app=web,!canary' }, ['a']],
    [{ labelSelector: 'size>3' }, ['c']],
    [{ labelSelector: 'canary=' }, ['b']],
    [{ labelSelector: 'canary in ()' }, ['b']],
    [{ fieldSelector: 'metadata.name=a' }, ['a']],
    [{ fieldSelector: 'metadata.name!=a' }, ['b', 'c', 'd']],
    [{ fieldSelector: 'metadata.name!=a', labelSelector: 'app=web' }, ['b']],
    [{ fieldSelector: 'metadata.namespace=elsewhere' }, []],
  ];
  it('a list with selectors contains the matching objects', async () => {
    const path = configMaps(await server().freshNamespace());
    const labels: Record<string, Record<string, string>> = {
      a: { app: 'web', size: '1' },
      b: { app: 'web', canary: '' },
      c: { app: 'db', size: '10' },
      d: {},
    };
    for (const name of 'abcd')
      await post(server(), path, { metadata: { name, labels: labels[name] } });
    for (const [query, expected] of selected) {
      expect(names(await get(server(), path, query)), JSON.stringify(query)).toEqual(expected);
    }
  });

  it('the pages of a list have one version', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    await fill(server(), namespace, ['a', 'b', 'c', 'd', 'e']);
    const first = await get(server(), path, { limit: '2' });
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.metadata.remainingItemCount).toBe(3);
    // Both changes are newer than the version of the first page.
    await fill(server(), namespace, ['bb']);
    await succeed(server(), 'DELETE', `${path}/d`);
    const query = { limit: '2', continue: first.metadata.continue };
    const second = await get(server(), path, query);
    expect(names(second)).toEqual(['c', 'd']);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second.metadata.remainingItemCount).toBe(1);
    const third = await get(server(), path, { ...query, continue: second.metadata.continue });
    expect(names(third)).toEqual(['e']);
    expect(Object.keys(third.metadata)).toEqual(['resourceVersion']);
    const rest = await get(server(), path, { continue: first.metadata.continue });
    expect(names(rest)).toEqual(['c', 'd', 'e']);
    expect(names(await get(server(), path))).toEqual(['a', 'b', 'bb', 'c', 'e']);
  });

  it('a page of a list with a selector has no remainingItemCount', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const name of 'abc')
      await post(server(), path, { metadata: { name, labels: { x: '1' } } });
    const first = await get(server(), path, { limit: '1', labelSelector: 'x=1' });
    expect(names(first)).toEqual(['a']);
    expect(first.metadata).not.toHaveProperty('remainingItemCount');
    const query = { limit: '5', labelSelector: 'x=1', continue: first.metadata.continue };
    expect(names(await get(server(), path, query))).toEqual(['b', 'c']);
  });

  it('with a limit as large as the list, or a limit of 0, the list is one page', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a', 'b']);
    for (const limit of ['2', '0']) {
      const list = await get(server(), configMaps(namespace), { limit });
      expect(names(list)).toEqual(['a', 'b']);
      expect(list.metadata).not.toHaveProperty('continue');
    }
  });

  it('a list at version 0 ignores the limit', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    const [, b] = await fill(server(), namespace, ['a', 'b']);
    await untilCached(server(), path, b);
    const list = await get(server(), path, { resourceVersion: '0', limit: '1' });
    expect(names(list)).toEqual(['a', 'b']);
    expect(list.metadata).not.toHaveProperty('continue');
  });

  it('a list is at the exact version, or at one that is not older, as requested', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    const [a, b] = await fill(server(), namespace, ['a', 'b']);
    const newest = await put(server(), `${path}/a`, { ...a, data: { k: '2' } });
    const { resourceVersion } = b.metadata;
    const exact = await get(server(), path, { resourceVersion, resourceVersionMatch: 'Exact' });
    expect(exact.metadata.resourceVersion).toBe(resourceVersion);
    expect(exact.items[0]).not.toHaveProperty('data');
    const early = await get(server(), path, {
      resourceVersion: a.metadata.resourceVersion,
      resourceVersionMatch: 'Exact',
    });
    expect(names(early)).toEqual(['a']);
    await untilCached(server(), path, newest);
    for (const resourceVersionMatch of ['NotOlderThan', '']) {
      const newer = await get(server(), path, { resourceVersion, resourceVersionMatch });
      expect(newer.items[0].data).toEqual({ k: '2' });
    }
  });

  it('a version with a limit means exactly that version', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    const [a, , c] = await fill(server(), namespace, ['a', 'b', 'c']);
    const { resourceVersion } = a.metadata;
    const exact = await get(server(), path, { resourceVersion, limit: '1' });
    expect(names(exact)).toEqual(['a']);
    expect(exact.metadata).toEqual({ resourceVersion });
    await untilCached(server(), path, c);
    const newer = await get(server(), path, {
      resourceVersion,
      resourceVersionMatch: 'NotOlderThan',
      limit: '1',
    });
    expect(newer.metadata.remainingItemCount).toBe(2);
  });

  it('a list at a version that the server has not reached is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const query = { resourceVersion: '999999999' };
    const answer = await server().request('GET', path, { query });
    expectFailure(
      answer,
      504,
      'Timeout',
      /^Timeout: Too large resource version: 999999999, current: /,
    );
    expect(answer.json.details).toEqual({
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it.each<[Record<string, string>, RegExp, string]>([
    [
      { resourceVersionMatch: 'Exact' },
      /forbidden unless resourceVersion is provided/,
      'resourceVersionMatch',
    ],
    [
      { resourceVersionMatch: 'Exact', resourceVersion: '0' },
      /is forbidden for resourceVersion "0"/,
      'resourceVersionMatch',
    ],
    [
      { resourceVersionMatch: 'Some', resourceVersion: '1' },
      /Unsupported value: "Some"/,
      'resourceVersionMatch',
    ],
    [{ sendInitialEvents: 'true' }, /sendInitialEvents is forbidden for list/, 'sendInitialEvents'],
  ])('a list with the options %j is refused', async (query, message, field) => {
    const path = configMaps(await server().freshNamespace());
    const answer = await server().request('GET', path, { query });
    expectFailure(answer, 422, 'Invalid', message);
    expect(answer.json.details).toMatchObject({ group: 'meta.k8s.io', kind: 'ListOptions' });
    expect(answer.json.details.causes[0].field).toBe(field);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ labelSelector: 'a b' }, /unable to parse requirement/],
    [{ fieldSelector: 'spec.foo=1' }, /spec\.foo/],
    [{ fieldSelector: 'spec.foo' }, /spec\.foo/],
    [{ limit: '' }, /strconv.ParseInt: parsing "": invalid syntax/],
    [{ limit: 'many' }, /strconv.ParseInt: parsing "many": invalid syntax/],
    [{ continue: 'nonsense' }, /invalid continue token|continue key is not valid/],
    [{ resourceVersion: 'abc' }, /invalid resource version: .*"abc"/],
  ])('a list with the malformed options %j is refused', async (query, message) => {
    const path = configMaps(await server().freshNamespace());
    expectFailure(await server().request('GET', path, { query }), 400, 'BadRequest', message);
  });

  it('a request for a next page with a version other than 0 is refused', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    await fill(server(), namespace, ['a', 'b']);
    const first = await get(server(), path, { limit: '1' });
    const { continue: token, resourceVersion } = first.metadata;
    const query = { continue: token, resourceVersion };
    const answer = await server().request('GET', path, { query });
    expectFailure(answer, 400, 'BadRequest', /specifying resource version is not allowed/);
    const zero = await get(server(), path, { continue: token, resourceVersion: '0' });
    expect(names(zero)).toEqual(['b']);
  });
}
