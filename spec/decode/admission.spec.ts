import {
  createClient,
  createListWatch,
  defineResource,
  type Refusal,
  type Transform,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { firstValueFrom, merge } from 'rxjs';
import { filter, mergeMap, scan, toArray } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { rig } from '../reflector/rig.ts';
import { decodings } from '../support/decodings.ts';
import { type Anything, bytes, list, watch } from './decoder.ts';

const object = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'd', uid: name, resourceVersion: '1' },
  ...more,
});
const bodyOf = (...items: object[]) =>
  JSON.stringify({ kind: 'List', metadata: { resourceVersion: '9' }, items });
const line = (type: string, body: unknown) => `${JSON.stringify({ type, object: body })}\n`;

describe('LIST and WATCH', () => {
  const widgets = defineResource<Anything>({
    group: 'example.com',
    version: 'v1',
    plural: 'widgets',
    kind: 'Widget',
    namespaced: true,
  });
  const pods = defineResource<Anything>({
    group: '',
    version: 'v1',
    plural: 'pods',
    kind: 'Pod',
    namespaced: true,
  });

  it.each([['built-in', pods] as const, ['custom', widgets] as const])(
    'D1: LIST and WATCH give the same representation of %s objects, with fields in the same order',
    async (_name, resource) => {
      const server = createFakeApiServer({ resources: [resource] });
      server.objects.create(resource, {
        metadata: { name: 'a', namespace: 'd', creationTimestamp: '2026-01-02T03:04:05Z' },
        spec: { z: 1, a: 2 },
      } as Anything);
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
      const { list, watch } = createListWatch(client, resource);
      const listed = list({ resourceVersion: '0' }).pipe(mergeMap(({ items }) => items));
      const watched = watch({
        resourceVersion: '',
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
        timeoutSeconds: 60,
      }).pipe(
        mergeMap((signal) => (signal.kind === 'events' ? signal.events : [])),
        mergeMap((event) => (event.type === 'ADDED' ? [event.object] : [])),
      );
      const both = await firstValueFrom(
        merge(listed, watched).pipe(
          scan((all: Anything[], each) => [...all, each], []),
          filter(({ length }) => length === 2),
        ),
      );
      const [one, other] = both.map((each) => JSON.stringify(each));
      expect(one).toBe(other);
      expect(both[0]).toMatchObject({
        kind: resource.kind,
        apiVersion: resource.apiVersion,
        metadata: { creationTimestamp: '2026-01-02T03:04:05Z' },
      });
      const pages = await firstValueFrom(list({ resourceVersion: '0' }).pipe(toArray()));
      expect(pages.at(-1)?.metadata?.resourceVersion).toBe('2');
    },
  );

  it('D1: an item keeps its own type if it has one', () => {
    const own = { apiVersion: 'v1', kind: 'Pod', ...object('a') };
    const late = { ...object('b'), kind: 'Pod', apiVersion: 'v1' };
    const { out } = list([bodyOf(own, late, object('c'))]);
    expect(out.map((each) => Object.keys(each))).toEqual([
      ['apiVersion', 'kind', 'metadata'],
      ['kind', 'apiVersion', 'metadata'],
      ['kind', 'apiVersion', 'metadata'],
    ]);
  });

  it('D1: a missing type in an event is filled in', () => {
    expect(watch([line('ADDED', object('a'))]).out).toEqual([
      { type: 'ADDED', key: 'd/a', object: { kind: 'Pod', apiVersion: 'v1', ...object('a') } },
    ]);
  });
});

describe('managedFields', () => {
  const managed = { metadata: { name: 'a', managedFields: [{ manager: 'kubectl' }] } };

  it('W70: managedFields are dropped', () => {
    const { out } = list([bodyOf(managed)]);
    const event = watch([line('MODIFIED', managed)]).out[0];
    for (const each of [out[0], event && 'object' in event ? event.object : undefined]) {
      expect(each?.metadata).toEqual({ name: 'a' });
    }
  });

  it('W70: managedFields are kept if they are requested', () => {
    const { out } = list([bodyOf(managed)], { keepManagedFields: true });
    expect(out[0]?.metadata).toEqual(managed.metadata);
  });

  it('W70: managedFields are dropped before the transform runs', () => {
    const seen: unknown[] = [];
    const transform = (each: Anything) => {
      seen.push(each.metadata);
      return each;
    };
    list([bodyOf(managed)], { transform });
    expect(seen).toEqual([{ name: 'a' }]);
  });
});

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}

describe('a transform', () => {
  it.each([
    ['a LIST', { initialList: 'pages' as const }, 'L0'],
    ['a streaming LIST', { initialList: 'stream' as const }, 'S'],
  ])(
    'D4: the transform runs once per object, from %s and from a WATCH (TestReflectorRespectStoreTransformer, TestTransformingInformer)',
    async (_name, reflect, asked) => {
      const seen: string[] = [];
      const transform: Transform<Anything> = (each) => {
        seen.push(`${each.metadata?.name}@${each.metadata?.resourceVersion}`);
        return { ...each, cut: true };
      };
      const run = rig({
        reflect,
        listWatch: { transform: transform as never },
        objects: ['a', 'b'],
      });
      await run.advance(10);
      run.touch('a');
      await run.advance(10);
      run.delete('b');
      await run.advance(10);
      expect(run.requested().startsWith(asked)).toBe(true);
      expect(seen).toEqual(['a@2', 'b@3', 'a@4', 'b@5']);
      const objects = run.deltas.flatMap((delta) =>
        'objects' in delta ? delta.objects : 'object' in delta ? [delta.object] : [],
      );
      expect(objects.map((each) => (each as { cut?: boolean } | undefined)?.cut)).toEqual([
        true,
        true,
        true,
        true,
      ]);
      run.subscription.unsubscribe();
    },
  );

  const throws: Transform<Anything> = (each) => {
    if (each.metadata?.name === 'bad') throw new Error('not this one');
    return each;
  };

  it.each(Object.entries(decodings))(
    'D4: a transform may change what it receives, with the decoding %s',
    (_name, decoding) => {
      const long = 'x'.repeat(100);
      const states = ['Pending', 'Pending', 'Pending', 'Running', 'Running', 'Pending'].map(
        (phase, at) => ({
          kind: 'Pod',
          apiVersion: 'v1',
          metadata: { name: 'a', uid: 'u1', resourceVersion: `${at + 1}`, annotations: { long } },
          spec: { containers: [{ name: 'main', image: 'web:1' }], long },
          status: { phase, conditions: [{ type: 'Noise' }, { type: 'Ready', message: long }] },
        }),
      );
      const transform = (object: Anything) => {
        const pod = object as unknown as (typeof states)[number];
        Object.assign(pod.metadata.annotations, { seen: true });
        if (pod.status.phase === 'Pending') return object;
        pod.status.conditions.shift();
        for (const each of pod.spec.containers) each.image = each.image.split(':')[0] ?? '';
        return object;
      };
      const stored = new Map<string, Anything>();
      const known = { get: (key: string) => stored.get(key), size: 1, keys: () => stored.keys() };
      const refusals: Refusal[] = [];
      const decoder = decoding().watch<Anything>({
        resource: defineResource<Anything>({
          ...{ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: false },
        }),
        ...{ maxFrameBytes: 10_000, keepManagedFields: false, transform, known },
        onRefused: (each) => refusals.push(each),
      });
      const shown: unknown[] = [];
      for (const state of states) {
        const [event] = decoder.push(bytes(line('MODIFIED', state))) ?? [];
        if (event?.type !== 'MODIFIED') continue;
        // As a store in development does, so that a change of an earlier state throws.
        freeze(event.object);
        stored.set('a', event.object);
        shown.push(event.object);
      }
      expect(refusals).toEqual([]);
      expect(shown).toEqual(states.map((each) => transform(structuredClone(each) as never)));
    },
  );

  it('D4: an object whose transform throws is refused and reported with its key; the others are stored', () => {
    const { out, refused, refusals, failure } = list(
      [bodyOf(object('a'), object('bad'), object('b'))],
      {
        transform: throws,
      },
    );
    expect(out.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
    expect(refused).toEqual([
      expect.objectContaining({ key: 'd/bad', uid: 'bad', resourceVersion: '1' }),
    ]);
    expect(failure).toBeUndefined();
    expect(refused?.[0]?.reason).toBe(refusals[0]?.reason);
    expect(
      refusals.map(({ key, resourceVersion, reason }) => [key, resourceVersion, reason.message]),
    ).toEqual([['d/bad', '1', 'd/bad: the transform threw: not this one']]);
  });

  it.each([[[null]], [{}], ['x']])(
    'D4: an object with the owner references %j whose transform throws fails no response',
    (ownerReferences) => {
      const bad = object('bad');
      Object.assign(bad.metadata ?? {}, { ownerReferences });
      const { out, refused, failure } = list([bodyOf(object('a'), bad)], { transform: throws });
      expect([out.length, refused?.[0]?.controllerUid, failure]).toEqual([1, '', undefined]);
    },
  );

  it('D4: an event whose transform throws moves the version without an object', () => {
    const { out, refusals } = watch(
      [line('ADDED', object('bad')), line('DELETED', object('bad')), line('ADDED', object('a'))],
      { transform: throws },
    );
    expect(out.slice(0, 2)).toEqual([
      {
        type: 'REFUSED',
        key: 'd/bad',
        refused: expect.objectContaining({ key: 'd/bad', uid: 'bad', resourceVersion: '1' }),
      },
      { type: 'DELETED', key: 'd/bad', resourceVersion: '1' },
    ]);
    // A deleted object needs no retry and no report.
    expect([out.length, refusals.length]).toEqual([3, 1]);
  });

  it('D4: the transform can be tried again with the received object', () => {
    let refuses = true;
    const transform: Transform<Anything> = (each) => {
      if (refuses) throw new Error('later');
      return each;
    };
    const { refusals } = list([bodyOf(object('a', { spec: 1 }))], { transform });
    expect(() => refusals[0]?.retry?.()).toThrow('d/a: the transform threw: later');
    refuses = false;
    expect(refusals[0]?.retry?.()).toMatchObject({ metadata: { name: 'a' }, spec: 1 });
  });

  it('D15: a transform that removed the version in place is refused at every later try, too', () => {
    const transform: Transform<Anything> = (each) => {
      const { metadata } = each;
      if (metadata?.resourceVersion !== undefined) delete metadata.resourceVersion;
      return each;
    };
    const { refusals, refused } = list([bodyOf(object('a'))], { transform });
    expect(refused?.[0]?.resourceVersion).toBe('1');
    for (let tries = 0; tries < 3; tries++) {
      expect(() => refusals[0]?.retry?.()).toThrow(/changed metadata\.resourceVersion/);
    }
  });

  it.each<[string, (each: Anything) => unknown, RegExp]>([
    [
      'the name',
      (each) => ({ ...each, metadata: { ...each.metadata, name: 'x' } }),
      /metadata\.name/,
    ],
    ['the UID', (each) => ({ ...each, metadata: { ...each.metadata, uid: 'x' } }), /metadata\.uid/],
    ['the namespace', (each) => ({ ...each, metadata: { name: 'a' } }), /metadata\.namespace/],
    ['no metadata', () => ({}), /metadata\.name/],
    [
      'the version, in place',
      (each) => {
        if (each.metadata) delete each.metadata.resourceVersion;
        return each;
      },
      /metadata\.resourceVersion; a store without it would lose updates/,
    ],
    ['nothing', () => undefined, /returned undefined instead of an object/],
    ['null', () => null, /returned null/],
    ['a text', () => 'x', /returned a string instead of an object/],
  ])('D4: a transform must not change or return %s', (_name, transform, message) => {
    const { out, refusals } = list([bodyOf(object('a'))], { transform: transform as never });
    expect([out, refusals.length]).toEqual([[], 1]);
    expect(refusals[0]?.reason.message).toMatch(message);
    expect(refusals[0]?.reason.reason).toBe('Refused');
  });
});
