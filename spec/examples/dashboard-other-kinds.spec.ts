/** Tests the kinds that only discovery knows: their ids, their rows and columns, and which requests of them are forwarded. */
import { createClient, type TableColumn, type TableRow } from 'rx-informer';
import { deployments, secrets, storageClasses } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { expect, test } from 'vitest';
import { kindOf } from '../../examples/dashboard/page/kinds/index.ts';
import {
  idOfServed,
  otherKind,
  rowIn,
  withColumns,
} from '../../examples/dashboard/page/kinds/other-kinds.ts';
import { createClusterProxy } from '../../examples/dashboard/proxy.ts';
import { judge } from '../../examples/dashboard/server/allowed-requests.ts';
import { ServedKinds } from '../../examples/dashboard/server/served-kinds.ts';
import { serveDashboard } from '../../examples/dashboard/server.ts';

const certificates = 'certs.example/v1/certificates/Certificate/namespaced';

test('the id of a kind says what it is, and the same id is the same kind', () => {
  const of = { group: 'certs.example', version: 'v1', plural: 'certificates', shortNames: [] };
  const id = idOfServed({ ...of, kind: 'Certificate', namespaced: true });
  expect(id).toBe(certificates);
  const kind = kindOf(id);
  expect(kind).toMatchObject({ id, title: 'Certificates', isTable: true });
  expect(kind.resource).toMatchObject({ apiVersion: 'certs.example/v1', namespaced: true });
  expect(kindOf(id)).toBe(kind);
  const policies = otherKind('networking.k8s.io/v1/networkpolicies/NetworkPolicy/namespaced');
  expect(policies?.title).toBe('NetworkPolicies');
  const node = otherKind('/v1/componentstatuses/ComponentStatus');
  expect(node?.resource).toMatchObject({ apiVersion: 'v1', namespaced: false });
  for (const text of ['pods', 'a/b', '', '/v1//X']) expect(otherKind(text)).toBeUndefined();
});

test('of a Secret only the metadata is read', () => {
  expect(otherKind('/v1/secrets/Secret/namespaced')?.as).toBe('metadata');
  expect(otherKind('vault.example/v1/secrets/Secret/namespaced')?.as).toBeUndefined();
});

const column = (name: string, type = 'string', priority = 0): TableColumn => {
  return { name, type, priority, format: '', description: '' };
};

const columns = [
  column('Name'),
  column('Ready'),
  column('Count', 'integer'),
  column('Reason', 'string', 1),
  column('Age', 'date'),
];

const rowOf = (cells: unknown[]) =>
  rowIn(columns, { metadata: { name: 'web', namespace: 'shop', uid: 'u' }, cells } as TableRow);

test('a row has the cells of the server, and the tone of what they say', () => {
  expect(rowOf(['web', 'False', 3, 'no issuer', '5d'])).toMatchObject({
    ...{ name: 'web', namespace: 'shop', status: 'Not ready', tone: 'bad', why: 'no issuer' },
    2: 3,
    text: 'shop/web not ready web false 3 no issuer 5d',
  });
  expect(rowOf(['web', 'True', 3, 'fine', '5d'])).toMatchObject({ tone: 'good', why: '' });
  expect(rowOf(['web', null, 3, '', '5d'])).toMatchObject({ status: '', tone: 'done', 1: '' });
  expect(rowOf(['web', 'Draining', 3, '', '5d'])).toMatchObject({
    ...{ status: 'Draining', tone: 'done' },
  });
});

test('the columns of the server are between the name and the age', () => {
  const kind = withColumns(kindOf(certificates), columns);
  expect(kind.columns.map(({ id, title, type }) => [id, title, type])).toEqual([
    ['name', 'Name', 'name'],
    ['status', 'Ready', 'status'],
    ['2', 'Count', 'number'],
    ['3', 'Reason', 'text'],
    ['createdMs', 'Age', 'age'],
    ['namespace', 'Namespace', 'text'],
  ]);
  expect(kind.columns.find(({ title }) => title === 'Reason')?.optional).toBe(true);
  expect(Object.keys(kind.tones)).toEqual(['good', 'bad', 'done']);
  expect(withColumns(kindOf(certificates), [column('Name')]).tones).toEqual({});
});

/** A dashboard of a cluster with Secrets and storage classes. */
async function open() {
  const server = createFakeApiServer({ resources: [secrets, deployments, storageClasses] });
  const metadata = { name: 'password', namespace: 'shop' };
  server.objects.create(secrets, { metadata, data: { password: 'aHVudGVyMg==' } });
  const client = createClient({ baseUrl: 'http://cluster', fetch: server.fetch, qps: 0 });
  const kinds = new ServedKinds(client);
  const rules = { others: kinds.byPath };
  const proxy = createClusterProxy(client, rules);
  const options = { proxy, rules, kinds, files: () => false, cluster: 'test', port: 0 };
  const dashboard = await serveDashboard(options);
  const ask = async (path: string, accept = '*/*') => {
    const answer = await fetch(`${dashboard.url}${path}`, { headers: { accept } });
    return { status: answer.status, text: await answer.text() };
  };
  return { server, rules, ask, close: () => dashboard.close() };
}

test('discovery finds the kinds that the page does not know, and only reads of them are forwarded', async () => {
  const { server, rules, ask, close } = await open();
  const path = 'apis/storage.k8s.io/v1/storageclasses';
  expect((await ask(path)).status).toBe(403);
  const names = async () =>
    (JSON.parse((await ask('dashboard/kinds')).text) as { kind: string }[]).map(({ kind }) => kind);
  expect(await names()).toEqual(['Secret', 'StorageClass']);
  expect((await ask(path)).status).toBe(200);
  for (const method of ['PATCH', 'PUT', 'POST', 'DELETE']) {
    expect(judge(method, `/${path}/fast`, rules), method).toMatchObject({ code: 405 });
  }
  for (const wrong of [`/${path}/a/b`, `/apis/storage.k8s.io/v1/namespaces/a/storageclasses`]) {
    expect(judge('GET', wrong, rules), wrong).toMatchObject({ code: 403 });
  }
  const one = { ...rules, namespace: 'shop' };
  expect(judge('GET', `/${path}`, one)).toMatchObject({ code: 403 });
  server.faults.failNext({ method: 'GET' }, { status: 503, times: 2 });
  expect((await ask('dashboard/kinds')).status).toBe(502);
  await close();
});

test('a Secret is read alone, and a list or a watch of Secrets has no data, whatever is asked for', async () => {
  const { ask, close } = await open();
  await ask('dashboard/kinds');
  const of = (as: string) => `application/json;as=${as};g=meta.k8s.io;v=v1`;
  const inside = 'api/v1/namespaces/shop/secrets';
  const queries = ['', '?includeObject=Object', '?fieldSelector=metadata.name=password'];
  for (const query of queries) {
    for (const accept of [
      'application/json',
      '*/*',
      of('Table'),
      of('PartialObjectMetadataList'),
    ]) {
      for (const collection of ['api/v1/secrets', inside]) {
        const { status, text } = await ask(`${collection}${query}`, accept);
        expect(status).toBe(200);
        expect(text).toContain('password');
        expect(text).not.toContain('aHVudGVyMg');
      }
    }
  }
  expect((await ask(`${inside}/password`, 'application/json')).text).toContain('aHVudGVyMg');
  await close();
});
