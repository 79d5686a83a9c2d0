/** Edits, while other writers change the same object. */
import {
  createResourceClient,
  editPatch,
  type JsonPatchOperation,
  type KubernetesObject,
  type ResourceClient,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { failureOf } from '../support/errors.ts';
import { applyJsonPatch } from './apply-json-patch.ts';
import { type Asked, refusal, type Scripted, scriptedServer } from './scripted-server.ts';

const path = '/api/v1/namespaces/shop/configmaps/prices';

function prices(resourceVersion = '7', data: Record<string, string> = { tea: '3' }): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'prices', uid: 'u', resourceVersion },
    data,
  };
}

/** A server with one object, which it patches like a kube-apiserver: a step that cannot be applied is a 422. */
function rig(first: KubernetesObject | undefined = prices()) {
  const time = new VirtualTime();
  const state: { object: KubernetesObject | undefined; version: number } = {
    object: first,
    version: 7,
  };
  const write = (object: KubernetesObject) => {
    state.version++;
    const metadata = { ...object.metadata, resourceVersion: String(state.version) };
    state.object = { ...object, metadata };
  };
  /** The writes of others before the patch with this number, from 1. */
  const others = new Map<number, () => void>();
  let patches = 0;
  const answer = ({ method, body }: Asked): Scripted => {
    if (method === 'PATCH') others.get(++patches)?.();
    if (state.object === undefined) return refusal(404, 'NotFound');
    if (method === 'GET') return { body: state.object };
    try {
      write(applyJsonPatch(state.object, body as JsonPatchOperation[]));
    } catch {
      return refusal(422, 'Invalid', 'the server rejected our request');
    }
    return { body: state.object };
  };
  const server = scriptedServer(answer, time);
  const client: ResourceClient<ConfigMap> = createResourceClient(server.client, configMaps, {
    scheduler: time,
    random: () => 0,
  });
  const set = (name: string, value: string) => () => {
    const { data = {} } = (state.object ?? prices()) as ConfigMap;
    write({ ...state.object, data: { ...data, [name]: value } } as ConfigMap);
  };
  /** Advances the clock until the promise is settled. */
  const settled = async <R>(promise: Promise<R>): Promise<R> => {
    let done = false;
    promise.then(
      () => (done = true),
      () => (done = true),
    );
    for (let waited = 0; waited < 100 && !done; waited++) await time.advance(10);
    return await promise;
  };
  return { ...server, client, state, others, set, settled, write, time };
}

const raise = (draft: { data?: Record<string, string> }) => {
  const data = draft.data ?? {};
  data['tea'] = String(Number(data['tea']) + 1);
};
const methods = (asked: readonly Asked[]) => asked.map(({ method }) => method);

describe('an edit', () => {
  it('C12: sends the changes of the recipe with a test of the version, and returns the object as written', async () => {
    const { client, asked, settled } = rig();
    const base = Object.freeze(prices());
    Object.freeze(base.data);
    const written = await settled(client.edit(base, raise, { fieldManager: 'me', dryRun: true }));
    expect(asked).toEqual([
      {
        method: 'PATCH',
        path,
        query: { dryRun: 'All', fieldManager: 'me' },
        contentType: 'application/json-patch+json',
        accept: 'application/json',
        body: [
          { op: 'test', path: '/metadata/resourceVersion', value: '7' },
          { op: 'replace', path: '/data/tea', value: '4' },
        ],
      },
    ]);
    expect(written).toMatchObject({ metadata: { resourceVersion: '8' }, data: { tea: '4' } });
    expect(base).toEqual(prices());
  });

  it('C12: does not freeze or change its argument', async () => {
    const { client, settled } = rig();
    const base = prices();
    await settled(client.edit(base, raise));
    expect([base, base.data, base.metadata].some(Object.isFrozen)).toBe(false);
    expect(base).toEqual(prices());
  });

  it('C12, C15: reads the object first if the target is a name, or has no version or no UID', async () => {
    const metadata = { namespace: 'shop', name: 'prices' };
    const noUid = { metadata: { ...metadata, resourceVersion: '7' }, data: { tea: '3' } };
    for (const target of ['shop/prices', { metadata }, noUid]) {
      const { client, asked, settled } = rig();
      await settled(client.edit(target, raise));
      expect(methods(asked)).toEqual(['GET', 'PATCH']);
    }
  });

  it.each(['PartialObjectMetadata', 'TableRow'])(
    'C12: reads the object first if the target is its %s, because the recipe must see all of it',
    async (kind) => {
      const { client, asked, state, settled } = rig();
      const row = { ...prices(), kind } as ConfigMap;
      delete (row as { data?: unknown }).data;
      const written = await settled(
        client.edit(row, ({ data }) => {
          // Metadata have no data.
          if (data) data['tea'] = '4';
        }),
      );
      expect(written).toMatchObject({ kind: 'ConfigMap', data: { tea: '4' } });
      expect(methods(asked)).toEqual(['GET', 'PATCH']);
      expect(state.object).toMatchObject({ data: { tea: '4' } });
      const another = { ...row, metadata: { ...row.metadata, uid: 'former' } } as ConfigMap;
      const refused = await settled(failureOf(client.edit(another, () => undefined)));
      expect(refused?.message).toContain('is gone');
    },
  );

  it('C12: sends nothing if the recipe changes nothing', async () => {
    const { client, asked, settled } = rig();
    const base = prices();
    expect(await settled(client.edit(base, () => {}))).toBe(base);
    const undone = (draft: { data?: Record<string, string> }) => {
      draft.data = { tea: '4' };
      draft.data['tea'] = '3';
    };
    expect(await settled(client.edit(base, undone))).toBe(base);
    expect(asked).toEqual([]);
  });

  interface Draft {
    data: Record<string, string>;
  }
  it.each<[string, (draft: Draft) => unknown]>([
    ['a new object', (draft) => ({ ...draft, data: { tea: '9' } })],
    [
      'a new object after a change',
      (draft) => {
        draft.data['tea'] = '9';
        return { ...draft };
      },
    ],
    ['an object and changes nothing', () => ({ data: { tea: '9' } })],
  ])('C15: a recipe that returns %s is refused, and nothing is sent', async (_name, recipe) => {
    const { client, asked, settled } = rig();
    const failure = await failureOf(settled(client.edit(prices(), recipe as never)));
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure.message).toBe(
      'edit: the recipe returned an object, which is ignored; change the draft, and return nothing',
    );
    expect(() => editPatch(prices(), recipe as never)).toThrow(failure.message);
    expect(asked).toEqual([]);
  });

  it.each<[string, (draft: Draft) => unknown, boolean]>([
    ['the draft', (draft) => draft, false],
    ['a part of the draft', (draft) => draft.data, false],
    [
      'the object that it has assigned',
      (draft) => {
        const data = { tea: '9' };
        draft.data = data;
        return data;
      },
      true,
    ],
    ['a list', () => [1, 2], false],
    ['a Set', () => new Set([1]), false],
  ])('C15: a recipe may return %s', (_name, recipe, changes) => {
    expect(editPatch(prices(), recipe as never).length > 0).toBe(changes);
  });

  it('C12: ignores the return value of a recipe, but refuses a Promise', async () => {
    const { client, asked, settled } = rig();
    const written = await settled(
      client.edit('shop/prices', (draft) => (draft.data = { tea: '9' })),
    );
    expect(written.data).toEqual({ tea: '9' });
    const later = client.edit(written, async (draft) => {
      await Promise.resolve();
      draft.data = {};
    });
    const failure = await failureOf(settled(later));
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure.message).toContain('the recipe returned a Promise');
    const thrown = client.edit(written, () => {
      throw new RangeError('my own');
    });
    expect(await failureOf(settled(thrown))).toBeInstanceOf(RangeError);
    const check = 'generation' as 'uid';
    expect(await failureOf(client.edit(written, raise, { check }))).toBeInstanceOf(TypeError);
    expect(methods(asked)).toEqual(['GET', 'PATCH']);
  });

  it.each([
    [
      'changes',
      '"z"',
      (draft: { metadata?: object }) => Object.assign(draft.metadata ?? {}, { name: 'z' }),
    ],
    ['removes', 'undefined', (draft: { metadata?: object }) => delete draft.metadata],
  ])('C15: a recipe that %s the name is refused, and nothing is sent', async (_, shown, recipe) => {
    const { client, asked, settled } = rig();
    const failure = await failureOf(settled(client.edit(prices(), recipe)));
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure.message).toBe(
      `edit: after the recipe metadata.name is ${shown}; it must stay "prices"`,
    );
    expect(() => editPatch(prices(), recipe)).toThrow(failure.message);
    expect(asked).toEqual([]);
  });

  it('C12: an edit of the status is sent to the status subresource', async () => {
    const { client, asked, settled } = rig();
    await settled(client.edit(prices(), raise, { subresource: 'status' }));
    expect(asked[0]?.path).toBe(`${path}/status`);
  });

  it('C14: ends without a write if the newest object needs no change', async () => {
    const { client, asked, others, set, settled } = rig();
    others.set(1, set('tea', '4'));
    const four = (draft: { data?: Record<string, string> }) => {
      draft.data = { ...draft.data, tea: '4' };
    };
    const written = await settled(client.edit(prices(), four));
    expect(written.metadata?.resourceVersion).toBe('8');
    expect(methods(asked)).toEqual(['PATCH', 'GET']);
  });

  it('C14: rejects after the configured number of attempts, with advice', async () => {
    const { client, asked, others, set, settled } = rig();
    for (let at = 1; at < 20; at++) others.set(at, set('tea', String(at)));
    const failure = await failureOf(settled(client.edit('shop/prices', raise, { attempts: 3 })));
    expect(failure).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(failure.message).toBe(
      "edit of configmaps shop/prices: another writer changed the object during each of 3 attempts; try later, raise 'attempts', or use check: 'uid' if other changes do not matter",
    );
    expect(methods(asked).filter((method) => method === 'PATCH')).toHaveLength(3);
    const five = rig();
    for (let at = 1; at < 20; at++) five.others.set(at, five.set('tea', String(at)));
    await failureOf(five.settled(five.client.edit('shop/prices', raise)));
    expect(methods(five.asked).filter((method) => method === 'PATCH')).toHaveLength(5);
  });

  it('C14: does not retry a 422 that is a validation error', async () => {
    const time = new VirtualTime();
    const { client, asked } = scriptedServer(
      ({ method }) =>
        method === 'GET' ? { body: prices() } : refusal(422, 'Invalid', 'data: too long'),
      time,
    );
    const shop = createResourceClient(client, configMaps, { scheduler: time });
    const failure = await failureOf(shop.edit('shop/prices', raise));
    expect(failure).toMatchObject({
      code: 422,
      message: `PATCH http://server${path}: data: too long`,
    });
    expect(methods(asked)).toEqual(['GET', 'PATCH', 'GET']);
    // A base that the caller passed may lack data that a transform removed, so the edit retries on the server's object.
    asked.length = 0;
    const given = failureOf(shop.edit(prices(), raise));
    await time.advance(50);
    expect(await given).toMatchObject({ code: 422 });
    expect(methods(asked)).toEqual(['PATCH', 'GET', 'PATCH', 'GET']);
  });

  it('C14: does not retry a 422 with causes on an object of the server, although others change the object constantly', async () => {
    const time = new VirtualTime();
    let version = 7;
    const { client, asked } = scriptedServer(({ method }) => {
      if (method === 'GET') return { body: prices(String(++version)) };
      const { body } = refusal(422, 'Invalid', 'data: too long') as { body: object };
      return {
        status: 422,
        body: { ...body, details: { causes: [{ field: 'data', message: 'too long' }] } },
      };
    }, time);
    const shop = createResourceClient(client, configMaps, { scheduler: time });
    const failure = failureOf(shop.edit('shop/prices', raise));
    await time.advance(1_000);
    expect(await failure).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(methods(asked)).toEqual(['GET', 'PATCH']);
    // An object of the caller may lack parts, so the first 422 is no proof.
    asked.length = 0;
    const given = failureOf(shop.edit(prices(), raise));
    await time.advance(1_000);
    expect(await given).toMatchObject({ code: 422 });
    expect(methods(asked)).toEqual(['PATCH', 'GET', 'PATCH']);
  });

  it('C14: aborting its signal ends a wait', async () => {
    const { client, asked, others, set, time } = rig();
    others.set(1, set('tea', '4'));
    const controller = new AbortController();
    const { signal } = controller;
    const failure = failureOf(client.edit(prices(), raise, { signal, backoff: () => 60_000 }));
    await time.advance(1_000);
    controller.abort();
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    expect(methods(asked)).toEqual(['PATCH', 'GET']);
    expect(time.pending).toBe(0);
  });

  it('C14, C43: if a transform shortened a list, the edit applies to the indexes of the server’s list', async () => {
    const owners = ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'X', name, uid: name }));
    const complete = { ...prices(), metadata: { ...prices().metadata, ownerReferences: owners } };
    const cut = {
      ...prices(),
      metadata: { ...prices().metadata, ownerReferences: owners.slice(1) },
    };
    const { client, asked, settled } = rig(complete);
    const written = await settled(
      client.edit(cut, ({ metadata }) => {
        for (const each of metadata?.ownerReferences ?? []) {
          if (each.name === 'b') each.controller = true;
        }
      }),
    );
    expect(written.metadata?.ownerReferences).toEqual([
      owners[0],
      { ...owners[1], controller: true },
    ]);
    expect(methods(asked)).toEqual(['PATCH', 'GET', 'PATCH']);
  });

  it('C15: never changes another object of the same name', async () => {
    const { client, asked, others, settled, write, state } = rig();
    others.set(1, () => {
      const { metadata } = prices();
      write({ ...prices(), metadata: { ...metadata, uid: 'another' } });
    });
    const failure = await failureOf(settled(client.edit(prices(), raise)));
    expect(failure).toMatchObject({ code: 404, reason: 'NotFound' });
    expect(failure.message).toContain('the object with uid u is gone');
    expect(methods(asked)).toEqual(['PATCH', 'GET']);
    expect((state.object as ConfigMap).data).toEqual({ tea: '3' });

    const gone = rig();
    gone.others.set(1, () => {
      gone.state.object = undefined;
    });
    expect(await failureOf(gone.settled(gone.client.edit(prices(), raise)))).toMatchObject({
      code: 404,
    });
  });

  it('C15: an edit of an object without a version also applies to its UID only', async () => {
    const { client, asked, settled } = rig();
    const target = { metadata: { namespace: 'shop', name: 'prices', uid: 'another' } };
    expect(await failureOf(settled(client.edit(target, raise)))).toMatchObject({ code: 404 });
    expect(methods(asked)).toEqual(['GET']);
    const own = { metadata: { ...target.metadata, uid: 'u' } };
    expect((await settled(client.edit(own, raise))).data).toEqual({ tea: '4' });
  });

  it('C15, C44: with check uid, other fields may change, but not a list that the recipe changes inside', async () => {
    const { client, asked, others, set, settled } = rig();
    others.set(1, set('coffee', '5'));
    const written = await settled(client.edit(prices(), raise, { check: 'uid' }));
    expect(written.data).toEqual({ tea: '4', coffee: '5' });
    expect(methods(asked)).toEqual(['PATCH']);
    expect(asked[0]?.body).toMatchObject([{ op: 'test', path: '/metadata/uid', value: 'u' }, {}]);

    const finalized = prices();
    const withFinalizers = (finalizers: string[]) => ({
      ...finalized,
      metadata: { ...finalized.metadata, finalizers },
    });
    const lists = rig(withFinalizers(['a', 'b']));
    lists.others.set(1, () => lists.write(withFinalizers(['b', 'c'])));
    const left = await lists.settled(
      lists.client.edit(
        withFinalizers(['a', 'b']),
        ({ metadata }) => {
          if (metadata?.finalizers) {
            metadata.finalizers = metadata.finalizers.filter((each) => each !== 'b');
          }
        },
        { check: 'uid' },
      ),
    );
    expect(left.metadata?.finalizers).toEqual(['c']);
  });

  type Meta = NonNullable<ConfigMap['metadata']>;
  /** Edits an object with this metadata by UID, while another writer writes other metadata. */
  const besides = async (
    before: Partial<Meta>,
    others: Partial<Meta>,
    recipe: (metadata: Meta) => void,
  ) => {
    const object = (metadata: Partial<Meta>) => ({
      ...prices(),
      metadata: { ...prices().metadata, ...metadata },
    });
    const made = rig(object(before));
    made.others.set(1, () => made.write(object(others)));
    const edited = made.client.edit('shop/prices', (draft) => recipe(draft.metadata as Meta), {
      check: 'uid',
    });
    await made.settled(edited);
    const { metadata } = made.state.object as ConfigMap;
    const {
      name: _name,
      namespace: _namespace,
      uid: _uid,
      resourceVersion: _version,
      ...rest
    } = metadata as Meta;
    return { rest, sent: methods(made.asked).join(' ') };
  };
  const again = 'GET PATCH GET PATCH';

  it('C15, C44: with check uid, keeps what others wrote into a list or map that the recipe adds or removes', async () => {
    const cases: [Partial<Meta>, Partial<Meta>, (metadata: Meta) => void, object][] = [
      [
        {},
        { finalizers: ['theirs'] },
        (metadata) => {
          metadata.finalizers = [...(metadata.finalizers ?? []), 'mine'];
        },
        { finalizers: ['theirs', 'mine'] },
      ],
      [
        { finalizers: ['mine'] },
        { finalizers: ['mine', 'theirs'] },
        (metadata) => {
          const left = (metadata.finalizers ?? []).filter((each) => each !== 'mine');
          if (left.length > 0) metadata.finalizers = left;
          else delete metadata.finalizers;
        },
        { finalizers: ['theirs'] },
      ],
      [
        {},
        { labels: { theirs: '1' } },
        (metadata) => {
          metadata.labels = { ...metadata.labels, mine: '1' };
        },
        { labels: { theirs: '1', mine: '1' } },
      ],
      [
        { labels: { mine: '1' } },
        { labels: { mine: '1', theirs: '1' } },
        (metadata) => {
          delete metadata.labels?.['mine'];
          if (Object.keys(metadata.labels ?? {}).length === 0) delete metadata.labels;
        },
        { labels: { theirs: '1' } },
      ],
    ];
    for (const [before, others, recipe, left] of cases) {
      expect(await besides(before, others, recipe)).toEqual({ rest: left, sent: again });
    }
  });

  it('C15, C44: with check uid, keeps what others wrote into a value that the recipe replaces by another type', async () => {
    const data = (value: unknown) => ({ ...prices(), data: value }) as unknown as ConfigMap;
    const { client, state, others, settled, write, asked } = rig(data({ tea: '3' }));
    others.set(1, () => write(data({ tea: '3', theirs: '1' })));
    const seen: unknown[] = [];
    await settled(
      client.edit(
        'shop/prices',
        (draft) => {
          seen.push(draft.data?.['theirs']);
          Object.assign(draft, { data: Object.keys(draft.data ?? {}) });
        },
        { check: 'uid' },
      ),
    );
    expect((state.object as { data?: unknown }).data).toEqual(['tea', 'theirs']);
    expect(seen).toEqual([undefined, '1']);
    expect(methods(asked).join(' ')).toBe(again);
  });

  it('C15, C44: with check uid, overwrites a single value, whatever another writer made of it', async () => {
    const { rest, sent } = await besides(
      { labels: { tier: 'a', old: 'x' } },
      { labels: { tier: 'b', old: 'y', theirs: '1' } },
      (metadata) => {
        metadata.labels = { ...metadata.labels, tier: 'mine' };
        delete metadata.labels['old'];
      },
    );
    expect({ rest, sent }).toEqual({
      rest: { labels: { tier: 'mine', theirs: '1' } },
      sent: 'GET PATCH',
    });
  });

  it('C15: with check uid, each of twenty concurrent edits is either kept or rejects', async () => {
    const { client, state, settled } = rig();
    const names = Array.from({ length: 20 }, (_, at) => `example.com/f${at}`);
    const edits = names.map(async (name) => {
      const add = ({ metadata }: ConfigMap) => {
        const own = metadata as Meta;
        own.finalizers = [...(own.finalizers ?? []), name];
      };
      const options = { check: 'uid', attempts: 5 } as const;
      return await client.edit('shop/prices', add as never, options).then(
        () => name,
        (error) => {
          expect(error).toMatchObject({ code: 409, reason: 'Conflict' });
          return undefined;
        },
      );
    });
    const kept = (await settled(Promise.all(edits))).filter((name) => name !== undefined);
    expect(kept.length).toBeGreaterThan(1);
    expect(((state.object as ConfigMap).metadata?.finalizers ?? []).toSorted()).toEqual(
      kept.toSorted(),
    );
  });

  it('C14, C43: if a transform removed a map or a list, the edit runs again on the server’s object', async () => {
    const complete = {
      ...prices(),
      metadata: { ...prices().metadata, labels: { theirs: '1' }, finalizers: ['theirs'] },
    };
    for (const check of ['resourceVersion', 'uid'] as const) {
      const { client, asked, settled } = rig(complete);
      const written = await settled(
        client.edit(
          prices(),
          ({ metadata }) => {
            const own = metadata as Meta;
            own.labels = { ...own.labels, mine: '1' };
            own.finalizers = [...(own.finalizers ?? []), 'mine'];
          },
          { check },
        ),
      );
      expect(written.metadata).toMatchObject({
        labels: { theirs: '1', mine: '1' },
        finalizers: ['theirs', 'mine'],
      });
      expect(methods(asked)).toEqual(['PATCH', 'GET', 'PATCH']);
    }
  });
});
