/** The errors for refused requests. */
import { expect, it } from 'vitest';
import { type ApiServer, configMaps, expectFailure, fill, post } from './api-server.ts';

export function failureTests(server: () => ApiServer): void {
  it('a request for a missing object is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const [method, body] of [
      ['GET', undefined],
      ['DELETE', undefined],
      ['PUT', { metadata: { name: 'a' } }],
    ] as const) {
      const answer = await server().request(method, `${path}/a`, { body });
      expectFailure(answer, 404, 'NotFound', /^configmaps "a" not found$/);
      expect(answer.json.details).toEqual({ name: 'a', kind: 'configmaps' });
    }
  });

  it('a creation in a missing namespace is refused', async () => {
    const path = configMaps('no-such-namespace');
    const answer = await server().request('POST', path, { body: { metadata: { name: 'a' } } });
    expectFailure(answer, 404, 'NotFound', /^namespaces "no-such-namespace" not found$/);
    const list = await server().request('GET', path);
    expect(list.json.items).toEqual([]);
  });

  it('a request for an unknown resource is refused', async () => {
    for (const path of ['/api/v1/nothings', '/api/v1/namespaces/default/nothings/a']) {
      const answer = await server().request('GET', path);
      expectFailure(answer, 404, 'NotFound', /^the server could not find the requested resource$/);
      expect(answer.json.details).toEqual({});
    }
  });

  it('a request for an unknown group is refused', async () => {
    const answer = await server().request('GET', '/apis/nothing.example.com/v1/nothings');
    expect([answer.status, answer.text]).toEqual([404, '404 page not found\n']);
  });

  it('a path with a malformed escape is refused, and the server goes on', async () => {
    const namespace = await server().freshNamespace();
    for (const path of ['/api/v1/namespaces/%zz/pods', `${configMaps(namespace)}/%`, '/%4']) {
      const answer = await server().request('GET', path);
      expect([answer.status, answer.text]).toEqual([400, '400 Bad Request']);
    }
    const answer = await server().request('GET', `${configMaps(namespace)}/%61%ff`);
    expectFailure(answer, 404, 'NotFound', /^configmaps "a.*" not found$/);
  });

  it('a request for an unknown subresource is refused', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a']);
    const answer = await server().request('GET', `${configMaps(namespace)}/a/status`);
    expectFailure(answer, 404, 'NotFound', /^the server could not find the requested resource$/);
  });

  it('a request with an unsupported method is refused', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a']);
    const path = configMaps(namespace);
    for (const [method, where] of [
      ['POST', `${path}/a`],
      ['PUT', path],
      ['POST', '/api/v1/configmaps'],
    ] as const) {
      const answer = await server().request(method, where, { body: { metadata: { name: 'a' } } });
      expectFailure(answer, 405, 'MethodNotAllowed', /does not allow this method/);
    }
  });

  it.each<[string, unknown, number, string | undefined, RegExp]>([
    ['no name', { metadata: {} }, 422, 'Invalid', /name or generateName is required/],
    [
      'a bad name',
      { metadata: { name: 'A_' } },
      422,
      'Invalid',
      /Invalid value: "A_": a lowercase RFC 1123/,
    ],
    [
      'a body that is not JSON',
      '{nope',
      400,
      'BadRequest',
      /is unrecognized \(must be of type ConfigMap\)/,
    ],
    ['an empty body', '', 400, 'BadRequest', /is unrecognized \(must be of type ConfigMap\)/],
    [
      'another kind',
      { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } },
      400,
      'BadRequest',
      /^Pod in version "v1" cannot be handled as a ConfigMap/,
    ],
    [
      'another version',
      { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'a' } },
      400,
      'BadRequest',
      /^ConfigMap in version "v2" cannot be handled as a ConfigMap/,
    ],
    [
      'another namespace',
      { metadata: { name: 'a', namespace: 'elsewhere' } },
      400,
      'BadRequest',
      /^the namespace of the provided object does not match/,
    ],
    [
      'a version',
      { metadata: { name: 'a', resourceVersion: '5' } },
      500,
      undefined,
      /^resourceVersion should not be set on objects to be created$/,
    ],
  ])('a POST with %s is refused', async (_, body, code, reason, message) => {
    const path = configMaps(await server().freshNamespace());
    const answer = await server().request('POST', path, { body });
    expectFailure(answer, code, reason, message);
    if (code === 422) expect(answer.json.details.causes[0].field).toBe('metadata.name');
  });

  it('a PUT with another name than in the path is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const answer = await server().request('PUT', `${path}/a`, {
      body: { metadata: { name: 'b' } },
    });
    expectFailure(
      answer,
      400,
      'BadRequest',
      /^the name of the object \(b\) does not match the name on the URL \(a\)$/,
    );
  });

  it('a body of an unsupported media type is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const headers = { 'content-type': 'text/plain' };
    const post = await server().request('POST', path, { body: 'x', headers });
    expectFailure(
      post,
      415,
      'UnsupportedMediaType',
      /unknown format - accepted media types include/,
    );
    await fill(server(), path.split('/')[4] as string, ['a']);
    const patch = await server().request('PATCH', `${path}/a`, { body: {} });
    expectFailure(patch, 415, 'UnsupportedMediaType', /./);
  });

  it('a request for an unsupported media type is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const answer = await server().request('GET', path, { headers: { accept: 'text/xml' } });
    expectFailure(answer, 406, 'NotAcceptable', /./);
  });

  it('a DELETE with an unknown propagationPolicy is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const body = { propagationPolicy: 'Sometimes' };
    const answer = await server().request('DELETE', `${path}/a`, { body });
    expectFailure(answer, 422, 'Invalid', /propagationPolicy: Unsupported value: "Sometimes"/);
    expect(answer.json.details.kind).toBe('DeleteOptions');
  });

  it('the server reports its version and that it is ready', async () => {
    const ready = await server().request('GET', '/readyz');
    expect([ready.status, ready.text]).toEqual([200, 'ok']);
    expect((await server().request('GET', '/version')).json.major).toBe('1');
    const api = await server().request('GET', '/api');
    expect(api.json).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = (await server().request('GET', '/apis')).json.groups;
    expect(groups).toContainEqual({
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    });
    const { resources } = (await server().request('GET', '/api/v1')).json;
    expect(resources).toContainEqual(
      expect.objectContaining({ name: 'configmaps', kind: 'ConfigMap', namespaced: true }),
    );
  });
}
