/** The layout of a bucket: the subjects of objects and records, and the tally of their states. */
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
import { Tally } from '../../lib/nats/tally.ts';
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

/** A tally of states, given as pairs. */
function tallyOf(states: Iterable<readonly [key: string, state: string]>): Tally {
  const tally = new Tally();
  for (const [key, state] of states) tally.replace(key, undefined, state);
  return tally;
}

describe('a tally', () => {
  it('J3: has the same digest for the same states, whatever the order of the changes was', () => {
    const changed = new Tally();
    const states = new Map<string, string>();
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 48271) >>> 0) % 2147483647;
      return seed % below;
    };
    for (let step = 0; step < 5_000; step++) {
      const key = `shop/pod-${random(50)}`;
      const state = random(3) === 0 ? undefined : `uid-${random(4)}/${random(1_000)}`;
      changed.replace(key, states.get(key), state);
      if (state === undefined) states.delete(key);
      else states.set(key, state);
    }
    const fresh = tallyOf([...states].reverse());
    expect(changed.digest).toBe(fresh.digest);
    expect(changed.count).toBe(states.size);
    for (const key of states.keys()) changed.replace(key, states.get(key), undefined);
    expect(changed.digest).toBe('0'.repeat(16));
  });

  it('J3: has another digest for each similar set of states', () => {
    const digests = new Set<string>();
    let sets = 0;
    for (let a = 0; a < 150; a++) {
      for (let b = 0; b < 150; b++) {
        const pair = [
          ['shop/a', `uid-a/${1000 + a}`],
          ['shop/b', `uid-b/${1000 + b}`],
        ] as const;
        digests.add(tallyOf(pair).digest);
        sets++;
      }
    }
    expect(digests.size).toBe(sets);
  });

  it('J3: two objects that exchange their states are found', () => {
    const before = tallyOf([['shop/a', 'u/1'], ['shop/b', 'u/2']]); // biome-ignore format: one line
    const after = tallyOf([['shop/a', 'u/2'], ['shop/b', 'u/1']]); // biome-ignore format: one line
    expect(before.digest).not.toBe(after.digest);
  });

  it('J3: a copy does not follow the changes of the original', () => {
    const tally = tallyOf([['shop/a', 'u/1']]);
    const copy = tally.copy();
    tally.replace('shop/a', 'u/1', 'u/2');
    expect(copy.digest).toBe(tallyOf([['shop/a', 'u/1']]).digest);
    expect(copy.digest).not.toBe(tally.digest);
  });
});
