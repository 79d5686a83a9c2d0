/** Resources, their paths and names, and the order of their versions. */

import { compareResourceVersion, defineResource, resourceName, resourcePath } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const definition = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
} as const;
const pods = defineResource(definition);
const nodes = defineResource({ ...definition, plural: 'nodes', kind: 'Node', namespaced: false });
const widgets = defineResource({ ...definition, group: 'example.com', plural: 'widgets' });

describe('resource', () => {
  it('has an apiVersion and a name, and is frozen', () => {
    expect([pods.apiVersion, widgets.apiVersion]).toEqual(['v1', 'example.com/v1']);
    expect([resourceName(pods), resourceName(widgets)]).toEqual(['pods', 'widgets.example.com']);
    expect(Object.isFrozen(pods)).toBe(true);
  });

  it.each<[object, string]>([
    [{ version: '' }, 'version is ""'],
    [{ plural: 'pods/log' }, 'plural is "pods/log"'],
    [{ plural: undefined }, 'plural is undefined'],
    [{ kind: 'Po d' }, 'kind is "Po d"'],
    [{ group: 'Apps' }, 'group is "Apps"'],
    [{ group: undefined }, 'group is undefined'],
    [{ group: 'apps/v1' }, 'group is "apps/v1"; it must be \'\' (core) or a DNS name'],
    [{ namespaced: 'yes' }, 'namespaced of pods is "yes"; it must be true or false'],
  ])('refuses %j and names the field', (change, message) => {
    const define = () => defineResource({ ...definition, ...change });
    expect(define).toThrow(TypeError);
    expect(define).toThrow(`defineResource: ${message}`);
  });

  it.each([
    [pods, {}, '/api/v1/pods'],
    [pods, { namespace: '' }, '/api/v1/pods'],
    [pods, { namespace: 'shop' }, '/api/v1/namespaces/shop/pods'],
    [pods, { namespace: 'shop', name: 'web' }, '/api/v1/namespaces/shop/pods/web'],
    [
      pods,
      { namespace: 'shop', name: 'web', subresource: 'status' },
      '/api/v1/namespaces/shop/pods/web/status',
    ],
    [pods, { namespace: 'x y', name: 'a b' }, '/api/v1/namespaces/x%20y/pods/a%20b'],
    [nodes, { name: 'node-1' }, '/api/v1/nodes/node-1'],
    [nodes, { namespace: '' }, '/api/v1/nodes'],
    [widgets, { namespace: 'shop' }, '/apis/example.com/v1/namespaces/shop/widgets'],
  ])('has the path of %j %j', (resource, target, path) => {
    expect(resourcePath(resource, target)).toBe(path);
  });

  it('refuses a namespace for a cluster-scoped resource, and a name without its namespace', () => {
    expect(() => resourcePath(nodes, { namespace: 'shop' })).toThrow(
      'nodes is cluster-scoped, but namespace "shop" was given',
    );
    for (const target of [{ name: 'web' }, { namespace: '', name: 'web' }]) {
      expect(() => resourcePath(pods, target)).toThrow(
        'pods is namespaced; pass the namespace of "web"',
      );
    }
  });

  it.each([
    { plural: 'pods/x/exec' },
    { plural: '../../../secrets' },
    { plural: 'pods?watch=' },
    { plural: '' },
    { version: 'v1/../../x' },
    { group: '..' },
    { group: 'a%2f..' },
    { group: undefined },
  ])('T11: refuses a resource that is data with %j', (over) => {
    const resource = { ...pods, ...over } as unknown as typeof pods;
    expect(() => resourcePath(resource)).toThrow(/^the (group|version|plural) of a resource is /);
  });

  it('T11: takes the path from group and version, and not from an apiVersion that says something else', () => {
    const resource = { ...widgets, apiVersion: '../api/v1/secrets#' };
    expect(resourcePath(resource)).toBe('/apis/example.com/v1/widgets');
  });

  it.each(['.', '..', '', 'a/b', 'a%2Fb'])(
    'T11: refuses the name %j, which would change the path',
    (name) => {
      expect(() => resourcePath(pods, { namespace: 'shop', name })).toThrow(
        /the name is .*; it must be text without '\/', '%'/,
      );
      expect(() => resourcePath(nodes, { name })).toThrow(/the name is/);
      if (name === '') return;
      expect(() => resourcePath(pods, { namespace: name })).toThrow(/the namespace is/);
      const definition = {
        group: '',
        version: 'v1',
        plural: 'pods',
        kind: 'Pod',
        namespaced: true,
      };
      for (const field of ['version', 'plural', 'group']) {
        expect(() => defineResource({ ...definition, [field]: name })).toThrow(field);
      }
    },
  );
});

describe('resourceVersion', () => {
  it('M1: compares versions of any length like BigInt', () => {
    const version = fc.bigInt({ min: 1n, max: 10n ** 40n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a === b ? 0 : a < b ? -1 : 1;
        expect(compareResourceVersion(String(a), String(b))).toBe(expected);
      }),
    );
  });

  it.each(['', '0', '007', '-1', '1e3', ' 1', 'abc'])('M1: does not compare %j', (text) => {
    expect(compareResourceVersion(text, '10')).toBeUndefined();
    expect(compareResourceVersion('10', text)).toBeUndefined();
  });
});
