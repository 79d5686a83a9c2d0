import {
  compareResourceVersion,
  joinMetaNamespaceKey,
  type KubernetesObject,
  metaNamespaceKeyFunc,
  splitMetaNamespaceKey,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { isKeyOf } from '../../lib/meta/key.ts';
import { uidOf } from '../../lib/meta/kubernetes-object.ts';
import { isOlder } from '../../lib/meta/resource-version.ts';
import * as fc from '../support/fast-check.ts';

describe('key', () => {
  it.each<[KubernetesObject, string]>([
    [{ metadata: { namespace: 'shop', name: 'web' } }, 'shop/web'],
    [{ metadata: { name: 'node-1' } }, 'node-1'],
    [{ metadata: { namespace: '', name: 'node-1' } }, 'node-1'],
    [{ metadata: { name: '__proto__' } }, '__proto__'],
  ])('M2: the key of %j is %j', (object, key) => {
    expect(metaNamespaceKeyFunc(object)).toBe(key);
  });

  it('M2: a text is recognized as the key of an object exactly if it is that key', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 });
    const sample = fc.record({ namespace: fc.option(text), name: text, key: text });
    fc.assert(
      fc.property(sample, ({ namespace, name, key }) => {
        const object = { metadata: { name, ...(namespace === null ? {} : { namespace }) } };
        const own = name === '' ? undefined : metaNamespaceKeyFunc(object);
        expect(isKeyOf(key, object)).toBe(key === own);
        expect(isKeyOf(own, object)).toBe(own !== undefined);
        const other = own?.replaceAll('/', 'a');
        expect(isKeyOf(other, object)).toBe(own !== undefined && other === own);
      }),
    );
    expect(isKeyOf(undefined, {})).toBe(false);
    expect(isKeyOf('web', {})).toBe(false);
  });

  it.each<KubernetesObject>([
    {},
    { metadata: {} },
    { kind: 'Pod', metadata: { name: '', namespace: 'shop' } },
  ])('M2: %j has no key', (object) => {
    expect(() => metaNamespaceKeyFunc(object)).toThrow(TypeError);
    expect(() => metaNamespaceKeyFunc(object)).toThrow(
      `an object of kind ${object.kind ?? 'unknown'} has no metadata.name`,
    );
  });

  it.each<[string, string, string]>([
    ['shop/web', 'shop', 'web'],
    ['node-1', '', 'node-1'],
    ['', '', ''],
    ['/web', '', 'web'],
  ])('M2: %j splits into %j and %j (TestObjectNames)', (key, namespace, name) => {
    expect(splitMetaNamespaceKey(key)).toEqual({ namespace, name });
  });

  it.each(['a/b/c', '//', 'shop/web/'])('M2: %j is refused (TestObjectNames)', (key) => {
    expect(() => splitMetaNamespaceKey(key)).toThrow(
      `unexpected key format: ${JSON.stringify(key)}`,
    );
  });

  it('M2: joining and splitting are inverse', () => {
    const part = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(fc.oneof(fc.constant(''), part), part, (namespace, name) => {
        const key = joinMetaNamespaceKey({ namespace, name });
        expect(splitMetaNamespaceKey(key)).toEqual({ namespace, name });
        expect(metaNamespaceKeyFunc({ metadata: { namespace, name } })).toBe(key);
      }),
    );
  });

  it('M2: the UID of an object without one is empty', () => {
    expect([uidOf(undefined), uidOf({}), uidOf({ metadata: { uid: 'u' } })]).toEqual(['', '', 'u']);
  });
});

describe('a version beside another', () => {
  it('M1: is older exactly if the comparison says so, for any texts', () => {
    const digits = fc.string({ unit: fc.constantFrom('0', '1', '2', 'x'), maxLength: 3 });
    fc.assert(
      fc.property(digits, digits, (a, b) => {
        expect(isOlder(a, b)).toBe(compareResourceVersion(a, b) === -1);
      }),
    );
  });
});
