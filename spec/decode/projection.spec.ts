/** Metadata and tables as a kube-apiserver 1.36 sends them, and resources without a kind. */
import { defineResource, type Projection, type TableColumn } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { metadataProjection, tableProjection } from '../../lib/decode/projection.ts';
import { type Anything, bytes, cuts, list, watch } from './decoder.ts';

const v1 = '"apiVersion":"meta.k8s.io/v1"';
const meta = (name: string, version: number) =>
  `"metadata":{"name":"${name}","namespace":"shop","uid":"u-${name}","resourceVersion":"${version}","managedFields":[{}]}`;
const partial = (name: string, version: number) =>
  `{"kind":"PartialObjectMetadata",${v1},${meta(name, version)}}`;
const row = (name: string, version: number, ready = '0/1') =>
  `{"cells":["${name}","${ready}",3],"object":${partial(name, version)}}`;
const columns =
  '[{"name":"Name","type":"string","format":"name","description":"d","priority":0},{"name":"Ready","type":"string","format":"","description":"d","priority":0}]';
const table = (version: number, rows: string, definitions = 'null') =>
  `{"kind":"Table",${v1},"metadata":{"resourceVersion":"${version}"},"columnDefinitions":${definitions},"rows":${rows}}`;
const event = (type: string, object: string) => `{"type":"${type}","object":${object}}\n`;

function tables(): { projection: Projection; reported: string[][] } {
  const reported: string[][] = [];
  const onColumns = (sent: readonly TableColumn[]) => reported.push(sent.map(({ name }) => name));
  return { projection: tableProjection(onColumns), reported };
}

const stored = (name: string, version: number) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { name, namespace: 'shop', uid: `u-${name}`, resourceVersion: String(version) },
});
const storedRow = (name: string, version: number, ready = '0/1') => ({
  ...stored(name, version),
  kind: 'TableRow',
  cells: [name, ready, 3],
});

describe('metadata', () => {
  const options = { projection: metadataProjection };

  it('D11: metadata are stored, from a list and from a watch', () => {
    const body = `{"kind":"PartialObjectMetadataList",${v1},"metadata":{"resourceVersion":"9"},"items":[${partial('a', 5)},{${meta('b', 6)}}]}`;
    const listed = list([body], options);
    expect(listed.out).toEqual([stored('a', 5), stored('b', 6)]);
    expect(listed).toMatchObject({ refusals: [], metadata: { resourceVersion: '9' } });
    const empty = `{"kind":"PartialObjectMetadataList",${v1},"metadata":{"resourceVersion":"9"},"items":null}`;
    expect(list([empty], options)).toMatchObject({ out: [], metadata: { resourceVersion: '9' } });

    const end = `{"kind":"PartialObjectMetadata",${v1},"metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}`;
    const watched = watch(
      [
        event('ADDED', partial('a', 5)),
        event('BOOKMARK', end),
        event('MODIFIED', partial('a', 13)),
        event('DELETED', partial('a', 14)),
      ],
      options,
    );
    expect(watched.out).toEqual([
      { type: 'ADDED', key: 'shop/a', object: stored('a', 5) },
      { type: 'BOOKMARK', resourceVersion: '12', initialEventsEnd: true },
      { type: 'MODIFIED', key: 'shop/a', object: stored('a', 13) },
      { type: 'DELETED', key: 'shop/a', object: stored('a', 14), resourceVersion: '14' },
    ]);
  });

  it('D11: complete objects instead of metadata are a 406 before an object is stored', () => {
    const typed = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{${meta('a', 5)},"spec":{}}]}`;
    const failed = list([typed], options);
    expect(failed).toMatchObject({ out: [], reason: 'NotAcceptable' });
    expect(failed.failure).toBe(
      'pods: asked for a PartialObjectMetadataList, got PodList: the server ignores the Accept header, so this resource has only complete objects',
    );
    // The list of a custom resource has its kind at the end; its items have their own.
    const late = `{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod",${meta('a', 5)}}],"kind":"PodList","metadata":{"resourceVersion":"9"}}`;
    expect(list([late], options)).toMatchObject({ out: [], reason: 'NotAcceptable' });
    const none = '{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}';
    expect(list([none], options)).toMatchObject({ reason: 'NotAcceptable' });

    const pod = `{"kind":"Pod","apiVersion":"v1",${meta('a', 5)}}`;
    const watched = watch([event('ADDED', pod)], options);
    expect(watched.out).toEqual([]);
    expect(watched.failure).toContain('asked for a PartialObjectMetadata, got Pod');
    // Otherwise an empty store would be reported as synced.
    const end = `{"kind":"Pod","metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}`;
    expect(watch([event('BOOKMARK', end)], options)).toMatchObject({ out: [] });
    expect(watch([event('BOOKMARK', end)], options).failure).toContain('got Pod');
  });
});

describe('a table', () => {
  it('D11: a table gives an object per row, wherever the body is cut, and reports its columns first', () => {
    const body = table(9, `[${row('a', 5)},${row('b', 6, '1/1')}]`, columns);
    for (const [head, tail] of cuts(bytes(body))) {
      const { projection, reported } = tables();
      const listed = list([head, tail], { projection });
      expect(listed.out).toEqual([storedRow('a', 5), storedRow('b', 6, '1/1')]);
      expect(listed).toMatchObject({ refusals: [], metadata: { resourceVersion: '9' } });
      // Before the first row and at the end, however many rows there are.
      expect(reported).toEqual(Array(2).fill(['Name', 'Ready']));
    }
  });

  it('D11: a table without rows reports its columns, too', () => {
    const { projection, reported } = tables();
    expect(list([table(9, '[]', columns)], { projection })).toMatchObject({ out: [] });
    expect(reported).toEqual([['Name', 'Ready']]);
    const other = tables();
    const bookmark = `{"cells":["",null,0],"object":{"kind":"PartialObjectMetadata",${v1},"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`;
    const watched = watch([event('BOOKMARK', table(9, `[${bookmark}]`, columns))], {
      projection: other.projection,
    });
    expect(watched.out).toEqual([
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true },
    ]);
    expect(other.reported).toEqual([['Name', 'Ready']]);
  });

  it('D11: in a watch the first event contains the columns, and each event a row, with its conditions if it has any', () => {
    const { projection, reported } = tables();
    const done = `{"cells":["a"],"conditions":[{"type":"Completed","status":"True"}],"object":${partial('a', 7)}}`;
    const { out } = watch(
      [
        event('ADDED', table(5, `[${row('a', 5)}]`, columns)),
        event('MODIFIED', table(7, `[${done}]`)),
        event('BOOKMARK', table(8, 'null')),
        event('DELETED', table(9, `[${row('a', 9)}]`)),
      ],
      { projection },
    );
    expect(reported).toHaveLength(1);
    expect(out).toEqual([
      { type: 'ADDED', key: 'shop/a', object: storedRow('a', 5) },
      {
        type: 'MODIFIED',
        key: 'shop/a',
        object: {
          ...stored('a', 7),
          kind: 'TableRow',
          cells: ['a'],
          conditions: [{ type: 'Completed', status: 'True' }],
        },
      },
      { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: false },
      { type: 'DELETED', key: 'shop/a', object: storedRow('a', 9), resourceVersion: '9' },
    ]);
  });

  it('D11: a response that is not a table is a 406; a row without metadata is refused', () => {
    const { projection } = tables();
    const complete = `{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{${meta('a', 5)}}]}`;
    expect(list([complete], { projection }).failure).toContain('asked for a Table, got PodList');
    const bare = table(9, '[{"cells":["a"],"object":null},{"cells":["b"]}]', columns);
    const listed = list([bare], { projection });
    expect(listed.out).toEqual([]);
    expect(listed.refusals.map(({ reason }) => reason.message)).toEqual([
      'pods: expected a TableRow, got an object without metadata; the last of 2 refused items',
    ]);
  });

  it('D7: a table is refused if objects were requested, also at the end of a streaming list', () => {
    const end = `{"cells":[],"object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}`;
    const { out, refusals } = watch([
      event('ADDED', table(5, `[${row('a', 5)}]`, columns)),
      event('BOOKMARK', table(9, `[${end}]`)),
    ]);
    expect(out).toEqual([{ type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false }]);
    expect(refusals).toHaveLength(1);
  });
});

describe('a resource without a kind', () => {
  const named = defineResource<Anything>({
    group: '',
    version: 'v1',
    plural: 'pods',
    kind: 'Any',
    namespaced: true,
  });
  const resource = { ...named, kind: '' };

  it('D13: objects of any kind are accepted, with their own kind or that of their list', () => {
    const body = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{${meta('a', 5)}},{"kind":"Odd","apiVersion":"x/v1",${meta('b', 6)}}]}`;
    const { out, refusals } = list([body], { resource });
    expect(out.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`)).toEqual([
      'v1 Pod',
      'x/v1 Odd',
    ]);
    expect(refusals).toEqual([]);
    const custom = `{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Widget",${meta('a', 5)}}],"kind":"WidgetList","metadata":{"resourceVersion":"9"}}`;
    expect(list([custom], { resource }).out).toMatchObject([{ kind: 'Widget' }]);
    const watched = watch([event('ADDED', `{"kind":"Pod",${meta('a', 5)}}`)], { resource });
    expect(watched.out).toMatchObject([{ object: { kind: 'Pod', apiVersion: 'v1' } }]);
  });

  it('D13: objects without a kind, a Table and a Status are refused, and a body that is not a list is refused', () => {
    const late = `{"items":[{${meta('a', 5)}}],"kind":"PodList","metadata":{"resourceVersion":"9"}}`;
    expect(list([late], { resource }).refusals.map(({ reason }) => reason.message)).toEqual([
      'pods: expected an object, got an object without a kind',
    ]);
    const { out, refusals } = watch(
      [event('ADDED', table(5, '[]')), event('ADDED', `{"kind":"Status",${meta('a', 5)}}`)],
      { resource },
    );
    expect(out).toEqual([]);
    expect(refusals).toHaveLength(2);
    const status = '{"kind":"Status","metadata":{}}';
    expect(list([status], { resource }).failure).toBe('pods: expected a List, got "Status"');
  });
});
