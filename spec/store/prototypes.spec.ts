/**
 * Names with a meaning in JavaScript (`__proto__`, `constructor`, `toString`) are ordinary names wherever a cluster may
 * send them, and reach no prototype.
 */

import {
  byAnnotation,
  byLabel,
  byLabels,
  byNamespace,
  createClient,
  createIndexer,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  editPatch,
  jsonDifference,
  type KubernetesObject,
  metaNamespaceKeyFunc,
  parseFieldSelector,
  parseLabelSelector,
  splitMetaNamespaceKey,
  workQueue,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { from, lastValueFrom } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { afterEach, describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const before = Reflect.ownKeys(Object.prototype).map(
  (key) => [key, Object.getOwnPropertyDescriptor(Object.prototype, key)] as const,
);
afterEach(() => {
  const now = Reflect.ownKeys(Object.prototype).map(
    (key) => [key, Object.getOwnPropertyDescriptor(Object.prototype, key)] as const,
  );
  expect(now).toEqual(before);
  for (const maker of [Object, Array, Map, Set, Function, String]) {
    expect((maker.prototype as { polluted?: unknown }).polluted).toBeUndefined();
  }
});

const odd = fc.constantFrom(
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', 'then'],
  ...['__defineGetter__', 'length', 'polluted', 'a', ''],
);
const named = odd.filter((name) => name !== '');

/** Labels as `JSON.parse` returns them, in which `__proto__` is an own property. */
const labels = fc.array(fc.tuple(odd, odd), { maxLength: 5 }).map((pairs) => {
  const unique = [...new Map(pairs)];
  const text = unique.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return JSON.parse(`{${text.join(',')}}`) as Record<string, string>;
});
const object = fc
  .record({ name: named, namespace: named, labels, annotations: labels, uid: named })
  .map(
    (metadata): ConfigMap => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { ...metadata, resourceVersion: '5' },
    }),
  );
const own = (record: Record<string, string> | undefined, name: string) =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

describe('names of prototype properties', () => {
  it('S21: names of prototype properties are ordinary keys, labels and index values in a store', () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 12 }), odd, odd, (objects, label, value) => {
        const indexers = Object.defineProperty(
          {} as Record<string, typeof byLabels>,
          label || 'x',
          {
            value: byLabel(label),
            enumerable: true,
          },
        );
        const store = createIndexer<KubernetesObject>({ indexers: { ...indexers } });
        store.addIndexers({ namespaceOf: byNamespace, annotated: byAnnotation(label), byLabels });
        const model = new Map<string, KubernetesObject>();
        for (const each of objects) {
          store.add(each);
          model.set(metaNamespaceKeyFunc(each), each);
        }
        expect(new Set(store.listKeys())).toEqual(new Set(model.keys()));
        const found = (is: (each: KubernetesObject) => boolean) =>
          new Set([...model.values()].filter(is).map(metaNamespaceKeyFunc));
        const keys = (index: string, of: string) => new Set(store.indexKeys(index, of));
        expect(keys(label || 'x', value)).toEqual(
          found(({ metadata }) => own(metadata?.labels, label) === value),
        );
        expect(keys('annotated', value)).toEqual(
          found(({ metadata }) => own(metadata?.annotations, label) === value),
        );
        expect(keys('namespaceOf', value)).toEqual(
          found(({ metadata }) => metadata?.namespace === value),
        );
        for (const key of ['__proto__', 'constructor', 'a/toString']) {
          expect(store.getByKey(key)).toBe(model.get(key));
        }
      }),
    );
  });

  it('S21: names of prototype properties are ordinary names in selectors', () => {
    fc.assert(
      fc.property(object, named, odd, ({ metadata = {} }, key, value) => {
        const fields = parseFieldSelector(`${key}.${key}=x`);
        expect(fields.matches({})).toBe(false);
        expect(splitMetaNamespaceKey(`${key}/${key}`)).toEqual({ namespace: key, name: key });
        const exists = { matchExpressions: [{ key, operator: 'Exists' }] };
        const matchLabels = JSON.parse(`{${JSON.stringify(key)}:"v"}`) as Record<string, string>;
        if (key.startsWith('_')) {
          // No server accepts such a label.
          for (const selector of [key, exists, { matchLabels }]) {
            expect(() => parseLabelSelector(selector)).toThrow(/label key/);
          }
          return;
        }
        expect(parseLabelSelector(exists).matches({})).toBe(false);
        expect(parseLabelSelector(exists).matches(metadata.labels)).toBe(
          own(metadata.labels, key) !== undefined,
        );
        expect(parseLabelSelector({ matchLabels }).requirements).toEqual([
          { key, operator: 'In', values: ['v'] },
        ]);
        if (value.startsWith('_')) return;
        const selector = parseLabelSelector({
          matchExpressions: [{ key, operator: 'In', values: [value] }],
        });
        expect(selector.matches(metadata.labels)).toBe(own(metadata.labels, key) === value);
      }),
    );
  });

  it('S21: names of prototype properties are ordinary keys of a work queue', async () => {
    const keys = ['__proto__', 'constructor', 'toString', '__proto__/__proto__', 'then'];
    const outcomes = await lastValueFrom(
      from(keys).pipe(
        workQueue(() => {}),
        toArray(),
      ),
    );
    expect(outcomes.map(({ key, type }) => `${key} ${type}`)).toEqual(
      keys.map((key) => `${key} ok`),
    );
  });

  it('C12: an edit keeps fields with names of prototype properties, and reaches no prototype', () => {
    fc.assert(
      fc.property(object, odd, odd, (base, name, value) => {
        const recipe = (draft: ConfigMap) => {
          (draft as { data?: Record<string, string> }).data = { changed: value };
          for (const key of Object.keys(draft.metadata?.labels ?? {})) {
            if (key === name && key !== '__proto__') delete draft.metadata?.labels?.[key];
          }
        };
        for (const { path } of editPatch(base, recipe)) {
          expect(path.startsWith('/metadata/labels/__proto__')).toBe(false);
        }
        for (const step of jsonDifference(base.metadata?.labels, base.metadata?.annotations)) {
          expect('value' in step && step.path === '' ? 'complete' : 'part').toBe('part');
        }
      }),
    );
  });

  it('S21: names of prototype properties pass through a server, a client and an informer unchanged', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, qps: 0 });
    const api = createResourceClient(client, configMaps);
    const informer = createSharedInformer(createListWatch(client, configMaps), {
      indexers: { constructor: byNamespace },
    });
    informer.start();
    await informer.whenSynced();
    const names = ['__proto__', 'constructor', 'toString', 'then'];
    for (const name of names) {
      const metadata = { name, namespace: name, annotations: { [name]: name } };
      server.objects.create(configMaps, { metadata, data: { [name]: 'x' } });
      const patches = [
        { json: [{ op: 'add', path: `/data/${name}`, value: { polluted: 'x' } }] },
        { json: [{ op: 'add', path: '/constructor/prototype/polluted', value: 'x' }] },
        { json: [{ op: 'copy', from: '/metadata', path: '/__proto__/polluted' }] },
        {
          merge: JSON.parse(
            '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}}}',
          ),
        },
        { strategic: JSON.parse('{"data":{"__proto__":"x","constructor":"x"}}') },
      ] as const;
      for (const patch of patches)
        await api.patch(`${name}/${name}`, patch as never).catch(() => {});
      await api
        .edit(`${name}/${name}`, (draft) => {
          draft.data = JSON.parse('{"__proto__":"x","constructor":"y"}');
        })
        .catch(() => {});
      const got = await api.get(`${name}/${name}`);
      await informer.whenObserved(`${name}/${name}`, got.metadata?.resourceVersion ?? '');
      expect(informer.indexer.getByKey(`${name}/${name}`)).toEqual(got);
      expect(informer.indexer.byIndex('constructor', name)).toHaveLength(1);
      expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
      expect((got as { polluted?: unknown }).polluted).toBeUndefined();
    }
    await informer.stop();
  });
});
