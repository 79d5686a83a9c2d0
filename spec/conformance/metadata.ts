/** The validation of metadata and sizes: codes, reasons and causes of refused objects. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  get,
  isNewer,
  post,
  put,
  WIDGETS,
  widget,
  widgets,
} from './api-server.ts';
import { deployment, MERGE, patch, patched, STRATEGIC } from './patches.ts';

const KEY = /consist of alphanumeric characters, '-', '_' or '.', and must start and end with/;
const owner = (name: string, fields: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true },
  ...fields,
});

/** Metadata that no server accepts, the fields of the causes, and a cause. */
const invalid: readonly [string, object, readonly string[], RegExp][] = [
  ['a label with an invalid key', { labels: { 'a b': 'c' } }, ['labels'], KEY],
  [
    'a label with an invalid value',
    { labels: { a: '-' } },
    ['labels'],
    /^Invalid value: "-": a valid label must be an empty string or consist/,
  ],
  [
    'a label with a long key',
    { labels: { ['k'.repeat(64)]: '' } },
    ['labels'],
    /": name part must be no more than 63 bytes$/,
  ],
  [
    'a label with a long value',
    { labels: { a: 'v'.repeat(64) } },
    ['labels'],
    /": must be no more than 63 bytes$/,
  ],
  [
    'a label with a value of few characters and many bytes',
    { labels: { a: 'é'.repeat(32) } },
    ['labels', 'labels'],
    /": must be no more than 63 bytes$/,
  ],
  [
    'a label with an invalid prefix',
    { labels: { 'A_/b': '' } },
    ['labels'],
    /"A_\/b": prefix part a lowercase RFC 1123 subdomain must consist of lower case/,
  ],
  [
    'a label with an empty prefix',
    { labels: { '/b': '' } },
    ['labels'],
    /: prefix part must be non-empty$/,
  ],
  [
    'a label with two prefixes',
    { labels: { 'a/b/c': '' } },
    ['labels'],
    /a valid label key must consist .* with an optional DNS subdomain prefix and '\/'/,
  ],
  ['an annotation with an invalid key', { annotations: { 'a b': '' } }, ['annotations'], KEY],
  [
    'large annotations',
    { annotations: { a: 'é'.repeat(131_072) } },
    ['annotations'],
    /^Too long: may not be more than 262144 bytes$/,
  ],
  [
    'an unqualified finalizer',
    { finalizers: ['x'] },
    ['finalizers[0]'],
    /^Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified$/,
  ],
  [
    'an invalid finalizer',
    { finalizers: ['a b/c'] },
    ['finalizers'],
    /"a b\/c": prefix part a lowercase/,
  ],
  [
    'contradictory finalizers',
    { finalizers: ['orphan', 'foregroundDeletion'] },
    ['finalizers'],
    /: finalizer orphan and foregroundDeletion cannot be both set$/,
  ],
  [
    'two controllers',
    { ownerReferences: [owner('x'), owner('y')] },
    ['ownerReferences'],
    /Only one reference can have Controller set to true. Found "true" in references for Pod\/x and Pod\/y$/,
  ],
  [
    'an empty owner',
    { ownerReferences: [{}] },
    ['apiVersion', 'kind', 'name', 'uid'].map((field) => `ownerReferences[0].${field}`),
    /^Required value: must not be empty$/,
  ],
  [
    'an Event as an owner',
    { ownerReferences: [owner('x', { kind: 'Event' })] },
    ['ownerReferences[0]'],
    /: \/v1, Kind=Event is disallowed from being an owner$/,
  ],
  [
    'an owner with an invalid apiVersion',
    { ownerReferences: [owner('x', { apiVersion: 'a/b/c' })] },
    ['ownerReferences[0].apiVersion'],
    /"a\/b\/c": must be <group>\/<version> or <version>$/,
  ],
];

/** Metadata of wrong types, and the error of the decoder. */
const mistyped: readonly [object | string, string][] = [
  [{ labels: { a: 5 } }, 'number into Go struct field ObjectMeta.metadata.labels of type string'],
  [
    { labels: 'x' },
    'string into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
  [
    { labels: ['x'] },
    'array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
  [
    { annotations: { a: true } },
    'bool into Go struct field ObjectMeta.metadata.annotations of type string',
  ],
  [
    { finalizers: 'x' },
    'string into Go struct field ObjectMeta.metadata.finalizers of type []string',
  ],
  [
    { finalizers: [1] },
    'number into Go struct field ObjectMeta.metadata.finalizers of type string',
  ],
  [
    { ownerReferences: {} },
    'object into Go struct field ObjectMeta.metadata.ownerReferences of type []v1.OwnerReference',
  ],
  [
    { ownerReferences: [owner('x', { controller: 'yes' })] },
    'string into Go struct field OwnerReference.metadata.ownerReferences.controller of type bool',
  ],
  [{ name: 5 }, 'number into Go struct field ObjectMeta.metadata.name of type string'],
  ['x', 'string into Go struct field ConfigMap.metadata of type v1.ObjectMeta'],
];

export function metadataTests(server: () => ApiServer): void {
  it.each(invalid)(
    '%s is refused, in a new object and in an update',
    async (_, metadata, fields, cause) => {
      const path = configMaps(await server().freshNamespace());
      const created = await server().request('POST', path, {
        body: { metadata: { name: 'a', ...metadata } },
      });
      expectFailure(created, 422, 'Invalid', /^ConfigMap "a" is invalid: /);
      const { causes, ...details } = created.json.details;
      expect(details).toEqual({ name: 'a', kind: 'ConfigMap' });
      expect(causes.map(({ field }: { field: string }) => field)).toEqual(
        fields.map((field) => `metadata.${field}`),
      );
      expect(causes[0].message).toMatch(cause);
      const one = await post(server(), path, { metadata: { name: 'a' } });
      for (const answer of [
        await server().request('PUT', `${path}/a`, {
          body: { metadata: { name: 'a', ...metadata } },
        }),
        await patched(server(), MERGE, `${path}/a`, { metadata }),
      ]) {
        expectFailure(answer, 422, 'Invalid', /^ConfigMap "a" is invalid: /);
        expect(answer.json.details.causes[0].message).toMatch(cause);
      }
      expect(await get(server(), `${path}/a`)).toEqual(one);
    },
  );

  it('several invalid fields are reported together, the name first', async () => {
    const path = configMaps(await server().freshNamespace());
    const metadata = { name: 'A_', labels: { 'a b': 'c d' }, finalizers: ['x'] };
    const answer = await server().request('POST', path, { body: { metadata } });
    expectFailure(
      answer,
      422,
      'Invalid',
      /^ConfigMap "A_" is invalid: \[metadata.name: .*, metadata.labels: .*\]$/,
    );
    expect(answer.json.details.causes.map(({ field }: { field: string }) => field)).toEqual(
      ['name', 'labels', 'labels', 'finalizers[0]'].map((field) => `metadata.${field}`),
    );
  });

  it('valid metadata is kept', async () => {
    const path = configMaps(await server().freshNamespace());
    const metadata = {
      name: 'a',
      labels: { 'example.com/A_b.c-1': '', app: 'A_b.c-1' },
      annotations: { 'Example.com/A': 'any text: é' },
      finalizers: ['example.com/x', 'orphan'],
      ownerReferences: [owner('x'), owner('y', { controller: false })],
    };
    const made = await post(server(), path, { metadata });
    expect(made.metadata).toMatchObject({
      ...metadata,
      finalizers: expect.arrayContaining(metadata.finalizers),
    });
    await patch(server(), MERGE, `${path}/a`, { metadata: { finalizers: null } });
  });

  it.each(mistyped)('metadata of a wrong type is refused: %j', async (metadata, error) => {
    const path = configMaps(await server().freshNamespace());
    const body = { metadata: typeof metadata === 'string' ? metadata : { name: 'a', ...metadata } };
    const text = `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ${error}`;
    const answer = await server().request('POST', path, { body });
    expectFailure(answer, 400, 'BadRequest', /./);
    expect(answer.json.message).toBe(text);
  });

  it('a patch to a wrong type is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' } });
    for (const type of [MERGE, STRATEGIC]) {
      const answer = await patched(server(), type, `${path}/a`, { metadata: { labels: { a: 5 } } });
      expectFailure(
        answer,
        422,
        'Invalid',
        /^ "" is invalid: patch: Invalid value: .*cannot (unmarshal number|convert int64)/,
      );
      expect(answer.json.details.causes[0]).toMatchObject({
        reason: 'FieldValueInvalid',
        field: 'patch',
      });
    }
    expect(await get(server(), `${path}/a`)).toEqual(one);
  });

  it('a custom resource takes an unqualified finalizer, and no other invalid metadata', async ({
    skip,
  }) => {
    if (!server().capabilities.widgets) return skip('this server has no widgets');
    const path = widgets(await server().freshNamespace());
    const made = (metadata: object) =>
      server().request('POST', path, {
        body: { ...widget('w'), metadata: { name: 'w', ...metadata } },
      });
    expectFailure(
      await made({ labels: { a: 5 } }),
      400,
      'BadRequest',
      /^Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string$/,
    );
    const bad = await made({ labels: { 'a b': '' } });
    expectFailure(
      bad,
      422,
      'Invalid',
      /^Widget.conformance.example.com "w" is invalid: metadata.labels: /,
    );
    expect(bad.json.details).toMatchObject({ name: 'w', group: WIDGETS.group, kind: 'Widget' });
    expectFailure(
      await made({ finalizers: ['a b'] }),
      422,
      'Invalid',
      /metadata.finalizers: Invalid value: "a b"/,
    );
    const kept = await made({ finalizers: ['x'] });
    expect(kept.status, kept.text).toBe(201);
    await patch(server(), MERGE, `${path}/w`, { metadata: { finalizers: null } });
  });

  it.each([
    ['/api/v1/namespaces', 'a.b', 'Namespace', /^Invalid value: "a.b": must not contain dots$/],
    [
      '/api/v1/namespaces',
      'A',
      'Namespace',
      /"A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and/,
    ],
    ['services', 'a.b', 'Service', /^Invalid value: "a.b": must not contain dots$/],
    ['roles', 'a/b', 'Role', /^Invalid value: "a\/b": may not contain '\/'$/],
    ['roles', 'a%b', 'Role', /^Invalid value: "a%b": may not contain '%'$/],
    ['roles', '..', 'Role', /^Invalid value: "..": may not be '..'$/],
  ])('%s have rules for names: %s', async (where, name, kind, cause) => {
    const namespace = await server().freshNamespace();
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`;
    const path =
      where === 'roles'
        ? rbac
        : where.startsWith('/')
          ? where
          : `/api/v1/namespaces/${namespace}/${where}`;
    const spec = where === 'services' ? { spec: { ports: [{ port: 80 }] } } : {};
    const answer = await server().request('POST', path, { body: { metadata: { name }, ...spec } });
    expectFailure(answer, 422, 'Invalid', new RegExp(`^${kind}[a-z0-9.]* "`));
    expect(answer.json.details.causes[0]).toMatchObject({
      field: 'metadata.name',
      message: expect.stringMatching(cause),
    });
  });

  it('names of roles are path segments', async () => {
    const namespace = await server().freshNamespace();
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`;
    for (const name of ['system:reader', 'Reader', 'a b']) {
      const made = await post(server(), path, { metadata: { name }, rules: [] });
      expect(await get(server(), `${path}/${encodeURIComponent(name)}`)).toEqual(made);
    }
    const generated = await post(server(), path, {
      metadata: { generateName: 'System:' },
      rules: [],
    });
    expect(generated.metadata.name).toMatch(/^System:[a-z0-9]{5}$/);
  });

  it('a large body, ConfigMap or Secret is refused', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    const text = (length: number) => 'x'.repeat(length);
    const map = (data: string) => ({ metadata: { name: 'a' }, data: { x: data } });
    await post(server(), path, map(text(1_048_576)));
    const huge = map(text(3_145_728));
    for (const answer of [
      await server().request('POST', path, { body: huge }),
      await server().request('PUT', `${path}/a`, { body: huge }),
      await patched(server(), MERGE, `${path}/a`, huge),
      await server().request('DELETE', `${path}/a`, { body: huge }),
    ]) {
      expectFailure(
        answer,
        413,
        'RequestEntityTooLarge',
        /^Request entity too large: limit is 3145728$/,
      );
    }
    const cause = (field: string) => [
      {
        reason: 'FieldValueTooLong',
        message: 'Too long: may not be more than 1048576 bytes',
        field,
      },
    ];
    for (const answer of [
      await server().request('PUT', `${path}/a`, { body: map(text(1_048_577)) }),
      await patched(server(), MERGE, `${path}/a`, { binaryData: { y: btoa(text(1)) } }),
    ]) {
      expectFailure(answer, 422, 'Invalid', /^ConfigMap "a" is invalid: \[\]: Too long/);
      expect(answer.json.details.causes).toEqual(cause('[]'));
    }
    const secrets = path.replace(/configmaps$/, 'secrets');
    const secret = await server().request('POST', secrets, { body: map(btoa(text(1_048_578))) });
    expectFailure(secret, 422, 'Invalid', /^Secret "a" is invalid: data: Too long/);
    expect(secret.json.details.causes).toEqual(cause('data'));
    await post(server(), secrets, map(btoa(text(1_048_575))));
  });

  it('a write of the status keeps metadata, except the labels of a Deployment and the owners of a Pod', async () => {
    const namespace = await server().freshNamespace();
    const more = {
      labels: { added: 'x' },
      annotations: { added: 'x' },
      ownerReferences: [owner('x')],
      finalizers: ['example.com/x'],
    };
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const template = { metadata: { labels: { app: 'web' } }, spec };
    const selector = { matchLabels: { app: 'web' } };
    const set = { ...deployment('web'), kind: 'ReplicaSet', spec: { selector, template } };
    const { ownerReferences: _o, ...pods } = more;
    const { labels: _l, ...others } = more;
    for (const [path, body, kept] of [
      [`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'web' }, spec }, pods],
      [deployments(namespace), deployment('web'), others],
      [deployments(namespace).replace(/deployments$/, 'replicasets'), set, more],
    ] as const) {
      const one = await post(server(), path, body);
      const changed = { ...one, metadata: { ...one.metadata, ...more } };
      const two = await put(server(), `${path}/web/status`, changed);
      const { labels, annotations, ownerReferences, finalizers } = two.metadata;
      const { labels: had } = one.metadata;
      const expected = { labels: had, ...kept };
      expect(
        JSON.parse(JSON.stringify({ labels, annotations, ownerReferences, finalizers })),
      ).toEqual(JSON.parse(JSON.stringify(expected)));
      expect(isNewer(two, one)).toBe(true);
      const three = await patch(server(), MERGE, `${path}/web/status`, {
        metadata: { annotations: { patched: 'x' }, finalizers: null },
      });
      expect(three.metadata.annotations).toEqual({ added: 'x', patched: 'x' });
      expect(three.metadata).not.toHaveProperty('finalizers');
    }
  });

  it('a write of the status of a custom resource keeps no metadata', async ({ skip }) => {
    if (!server().capabilities.widgets) return skip('this server has no widgets');
    const path = widgets(await server().freshNamespace());
    const one = await post(server(), path, widget('w'));
    const labels = { a: 'b' };
    const two = await put(server(), `${path}/w/status`, {
      ...one,
      metadata: { ...one.metadata, labels, annotations: labels },
      status: { ready: true },
    });
    expect(two.status).toEqual({ ready: true });
    expect(two.metadata).not.toHaveProperty('labels');
    expect(two.metadata).not.toHaveProperty('annotations');
  });

  it('both groups of Events are there', async () => {
    const namespace = await server().freshNamespace();
    const body = {
      metadata: { name: 'a' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      ...{ action: 'Do', reason: 'Done', type: 'Normal', regarding: { namespace } },
      ...{ reportingController: 'example.com/c', reportingInstance: 'c-0' },
    };
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const made = await post(server(), path, body);
    expect(made).toMatchObject({ kind: 'Event', apiVersion: 'events.k8s.io/v1', reason: 'Done' });
    await get(server(), `/api/v1/namespaces/${namespace}/events`);
  });
}
