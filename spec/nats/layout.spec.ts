import { createNatsListWatch, type PublishToNatsOptions, publishToNats } from 'rx-informer/nats';
import { pods as podResource } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import {
  collectionPrefix,
  escapeToken,
  metaSubject,
  objectSubject,
  readSubject,
  scopeFilter,
  unescapeToken,
} from '../../lib/nats/layout.ts';
import * as fc from '../support/fast-check.ts';
import { FakeConnection } from './fake-connection.ts';

const pods = { group: '', plural: 'pods' };
const prefix = collectionPrefix('k8s', pods);
/** Names of Kubernetes, names that look like tokens of this layout, and any text. */
const name = fc.oneof(
  fc.constantFrom('web-0', 'system:node', '_', '_meta', '=5F', 'core', 'a.b', 'ä', '>'),
  fc.string({ minLength: 1 }),
  fc.string({ minLength: 1, unit: 'grapheme' }),
);

describe('the layout of a bucket', () => {
  it('J2: a name is one token without wildcards, and unescaping returns it', () => {
    fc.assert(
      fc.property(name, (text) => {
        const token = escapeToken(text);
        expect(token).toMatch(/^[A-Za-z0-9=_-]+$/);
        expect(unescapeToken(token)).toBe(text);
      }),
    );
  });

  it('J2: no object has the subject of a record or of another object', () => {
    fc.assert(
      fc.property(name, name, (namespace, object) => {
        const subject = objectSubject(prefix, namespace, object);
        expect(readSubject(prefix, subject)).toEqual({ kind: 'object', namespace, name: object });
        expect(subject.startsWith(scopeFilter(prefix, namespace).slice(0, -1))).toBe(true);
      }),
    );
    expect(readSubject(prefix, metaSubject(prefix, ''))).toEqual({ kind: 'meta', namespace: '' });
    expect(metaSubject(prefix, 'shop')).toBe('$KV.k8s.core.pods.shop._meta');
    expect(objectSubject(prefix, '', '_meta')).toBe('$KV.k8s.core.pods._.=5Fmeta');
  });

  it('J2: a subject that this layout does not write has no meaning', () => {
    for (const rest of ['shop', 'shop.web.x', 'shop.=2e', 'shop.=zz', 'shop.', '.web']) {
      expect(readSubject(prefix, `${prefix}.${rest}`)).toBe(undefined);
    }
    expect(readSubject(prefix, '$KV.k8s.core.pod.shop.web')).toBe(undefined);
    const group = { group: 'networking.k8s.io', plural: 'ingresses' };
    expect(collectionPrefix('k8s', group)).toBe('$KV.k8s.networking=2Ek8s=2Eio.ingresses');
  });

  it('J2: no two API groups have the same token, the empty one and one called core neither', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.constant(''), name), { minLength: 2, maxLength: 2 }),
        (groups) => {
          const [a, b] = groups.map((group) => collectionPrefix('k8s', { group, plural: 'pods' }));
          expect(a).not.toBe(b);
        },
      ),
      { examples: [[['', 'core']], [['core', '=63ore']]] },
    );
  });
});

describe('the name of a content', () => {
  const { connection } = new FakeConnection();
  const read = (content?: string) =>
    createNatsListWatch(connection, podResource, { bucket: 'k8s', content });
  const publish = (content: string) => {
    const options = { connection, resource: podResource, bucket: 'k8s', content };
    publishToNats(undefined as never, options as PublishToNatsOptions as never);
  };

  it.each(['', ' rows', 'rows ', 'a\nb', 'a\rb', '\trows', 5 as never])(
    'J17: is refused if a header cannot carry it unchanged: %j',
    (content) => {
      const words = `content is ${JSON.stringify(content)}; it must be one line without blanks at its ends`;
      for (const [where, call] of Object.entries({
        publishToNats: publish,
        createNatsListWatch: read,
      })) {
        expect(() => call(content)).toThrow(new TypeError(`${where}: ${words}`));
      }
    },
  );

  it('J17: may have blanks inside, and letters of any language', () => {
    for (const content of ['r', 'slim rows', 'schlank/ä', undefined]) read(content);
  });
});
