/** The errors for refused requests. */
import { expect, it } from 'vitest';
import { type ApiServer, configMaps, expectFailure, fill, type Json, post } from './api-server.ts';

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

  it('A1: options of a DELETE that are null count as absent, and those of another type are refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const send = (body: string, where = `${path}/a`) => server().request('DELETE', where, { body });
    for (const body of [
      'null',
      '{"preconditions":null}',
      '{"preconditions":{"uid":null}}',
      '{"dryRun":null,"propagationPolicy":null}',
    ]) {
      await post(server(), path, { metadata: { name: 'a' } });
      const answer = await send(body);
      expect(answer.status, answer.text).toBe(200);
    }
    await post(server(), path, { metadata: { name: 'a' } });
    for (const body of ['"x"', '[]', '3', '{']) {
      const message = /^couldn't get version\/kind; json parse error: /;
      expectFailure(await send(body), 400, 'BadRequest', message);
      expectFailure(await send(body, path), 400, 'BadRequest', message);
    }
    for (const body of [
      '{"preconditions":5}',
      '{"preconditions":{"uid":5}}',
      '{"dryRun":"All"}',
      '{"propagationPolicy":5}',
    ]) {
      expectFailure(await send(body), 400, 'BadRequest', /^json: cannot unmarshal /);
    }
  });

  it('A1: a review of access that cannot be read, or that asks nothing, is refused', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const send = (body: string) => server().request('POST', path, { body });
    for (const body of ['', '{', '[]', '"x"']) {
      const message = /is unrecognized \(must be of type SelfSubjectAccessReview\)/;
      expectFailure(await send(body), 400, 'BadRequest', message);
    }
    for (const body of ['{"spec":5}', '{"spec":{"resourceAttributes":{"verb":5}}}']) {
      const message = /cannot be handled as a SelfSubjectAccessReview: json: cannot unmarshal /;
      expectFailure(await send(body), 400, 'BadRequest', message);
    }
    for (const body of ['null', '{}', '{"spec":null}', '{"spec":{"resourceAttributes":null}}']) {
      expectFailure(await send(body), 422, 'Invalid', /resourceAttributes/);
    }
  });

  it('A1: a limit or a timeout that is no integer of 64 bits is refused, for lists and watches', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const name of ['limit', 'timeoutSeconds']) {
      for (const [text, why] of [
        ['abc', 'invalid syntax'],
        ['1.5', 'invalid syntax'],
        ['', 'invalid syntax'],
        ['9223372036854775808', 'value out of range'],
        ['-99999999999999999999', 'value out of range'],
      ] as const) {
        for (const watch of [{}, { watch: '1' }]) {
          const answer = await server().request('GET', path, { query: { [name]: text, ...watch } });
          const message = `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`;
          expectFailure(answer, 400, 'BadRequest', message);
        }
      }
      for (const text of ['-1', '0', '+5', '9223372036854775807']) {
        const answer = await server().request('GET', path, { query: { [name]: text } });
        expect(answer.status, answer.text).toBe(200);
      }
    }
  });

  it('A1: the data of an immutable config map or secret cannot be changed, and it stays immutable', async () => {
    const namespace = await server().freshNamespace();
    const headers = { 'content-type': 'application/merge-patch+json' };
    for (const [plural, kind] of [
      ['configmaps', 'ConfigMap'],
      ['secrets', 'Secret'],
    ]) {
      const path = `/api/v1/namespaces/${namespace}/${plural}`;
      const made = { metadata: { name: 'a' }, data: { key: 'AAAA' }, immutable: true };
      await post(server(), path, made);
      const message = /: Forbidden: field is immutable when `immutable` is set/;
      for (const [body, fields] of [
        [{ data: { key: 'AAAB' } }, ['data']],
        [{ data: null }, ['data']],
        [{ immutable: null }, ['immutable']],
        [{ immutable: false, data: { more: 'AAAA' } }, ['immutable', 'data']],
      ] as const) {
        const answer = await server().request('PATCH', `${path}/a`, { body, headers });
        expectFailure(answer, 422, 'Invalid', message);
        expect(answer.json.message).toMatch(`${kind} "a" is invalid: `);
        expect(answer.json.details.causes.map(({ field }: Json) => field)).toEqual(fields);
      }
      const put = { ...made, data: {} };
      const answer = await server().request('PUT', `${path}/a`, { body: put });
      expectFailure(answer, 422, 'Invalid', message);
      const body = { metadata: { labels: { own: 'yes' } } };
      expect((await server().request('PATCH', `${path}/a`, { body, headers })).status).toBe(200);
    }
  });
}
