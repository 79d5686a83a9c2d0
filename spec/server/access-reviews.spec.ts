/** Tests the rights that the API server reviews: what is asked, what permits, and how often. */
import type { KubeClient } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { type AccessReviewsOptions, accessReviews, type ServedUser } from 'rx-informer/server';
import { createVirtualTime } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { followed, names, UsersRig } from './users-rig.ts';

interface Spec {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes: {
    readonly verb: string;
    readonly namespace: string;
    readonly name?: string;
  };
}

const ANN: ServedUser = {
  ...{ name: 'ann', uid: 'u1', groups: ['team-a', 'system:authenticated'] },
  extra: { scopes: ['read'] },
};

/** An API server that reviews as `answer` says. */
function reviewing(
  answer: (spec: Spec, signal: AbortSignal) => unknown,
  options: AccessReviewsOptions = {},
) {
  const time = createVirtualTime();
  const asked: Spec[] = [];
  const request = async ({ body, signal }: { body: { spec: Spec }; signal: AbortSignal }) => {
    asked.push(body.spec);
    return await answer(body.spec, signal);
  };
  const { scheduler } = time;
  const rights = accessReviews({ request } as unknown as KubeClient, { scheduler, ...options });
  const said = () =>
    asked.map(({ resourceAttributes: { verb, namespace, name } }) =>
      [verb, namespace, name ?? ''].join(' ').trim(),
    );
  return { time, asked, said, rights };
}

const allowing =
  (...namespaces: readonly string[]) =>
  ({ resourceAttributes }: Spec) => ({
    status: { allowed: namespaces.includes(resourceAttributes.namespace) },
  });

describe('rights that the API server reviews', () => {
  it('E12: list and watch of all namespaces are reviewed first, for the user with all that signIn has named', async () => {
    const { rights, asked } = reviewing(allowing(''));
    expect(await rights(ANN, pods, {})).toBe('all');
    expect(asked.map(({ resourceAttributes: { verb } }) => verb)).toEqual(['list', 'watch']);
    expect(asked[0]).toEqual({
      ...{ user: 'ann', uid: 'u1', groups: ANN.groups, extra: ANN.extra },
      resourceAttributes: {
        ...{ group: '', version: 'v1', resource: 'pods', namespace: '', verb: 'list' },
      },
    });
  });

  it('E12: then the namespaces that a query names are reviewed, and watch only where list is permitted', async () => {
    const { rights, said } = reviewing(allowing('b'));
    expect(await rights(ANN, pods, { namespaces: ['a', 'b'] })).toEqual(['b']);
    expect(said()).toEqual(['list', 'list a', 'list b', 'watch b']);
    expect(await rights(ANN, nodes, {})).toEqual([]);
    expect(said().slice(4)).toEqual(['list']);
  });

  it('E12: a query for one name is reviewed with the name, and its answer is no right to the others', async () => {
    const { rights } = reviewing(({ resourceAttributes: { name, namespace } }) => ({
      status: { allowed: name === 'web' && namespace === 'a' },
    }));
    expect(await rights(ANN, pods, { namespaces: ['a'], name: 'web' })).toEqual(['a']);
    expect(await rights(ANN, pods, { namespaces: ['a'], name: 'db' })).toEqual([]);
    expect(await rights(ANN, pods, { namespaces: ['a'] })).toEqual([]);
  });

  it('E12: neither what is truthy nor what is malformed permits', async () => {
    for (const status of [
      ...[undefined, null, {}, { allowed: 'true' }, { allowed: 1 }, { allowed: {} }],
      ...[{ denied: false }, { allowed: [true] }],
    ]) {
      const { rights } = reviewing(() => ({ status }));
      expect([status, await rights(ANN, pods, { namespaces: ['a'] })]).toEqual([status, []]);
    }
    for (const answer of [undefined, null, 'yes', 1]) {
      const { rights } = reviewing(() => answer);
      expect([answer, await rights(ANN, pods, { namespaces: ['a'] })]).toEqual([answer, []]);
    }
  });

  it('E12: equal questions are one review, whose answer is valid for 30 seconds, and no failure is', async () => {
    let isDown = false;
    const { rights, time, said } = reviewing(() => {
      if (isDown) throw new Error('away');
      return { status: { allowed: true } };
    });
    const all = await Promise.all([rights(ANN, pods, {}), rights({ ...ANN }, pods, {})]);
    expect([all, said().length]).toEqual([['all', 'all'], 2]);
    await time.advance(29_000);
    await rights(ANN, pods, {});
    expect(said().length).toBe(2);
    await rights({ ...ANN, groups: [] }, pods, {});
    expect(said().length).toBe(4);
    await time.advance(1_000);
    isDown = true;
    await expect(rights(ANN, pods, {})).rejects.toThrow('away');
    isDown = false;
    expect(await rights(ANN, pods, {})).toBe('all');
  });

  it('E12: a review without an answer is aborted after five seconds, and rejects', async () => {
    const { rights, time } = reviewing(
      (_spec, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    const asked = expect(rights(ANN, pods, {})).rejects.toThrow('aborted');
    await time.advance(5_000);
    await asked;
  });

  it('E12: at most 200 reviews a second are requested for all users', async () => {
    const { rights, time, said } = reviewing(() => ({ status: { allowed: false } }));
    const all = Array.from({ length: 1_000 }, (_, at) => rights({ name: `u${at}` }, pods, {}));
    await time.advance(0);
    expect(said().length).toBe(200);
    await time.advance(1_000);
    expect(said().length).toBe(400);
    await time.advance(3_000);
    expect(said().length).toBe(1_000);
    await Promise.all(all);
  });

  it('E12: bindings propose namespaces for a user, its groups and its ServiceAccount, at most 100, and permit none', async () => {
    const list = (subject: object, count = 1) =>
      Array.from({ length: count }, (_, at) => ({
        metadata: { namespace: `${Object.values(subject).join('-')}-${at}` },
        subjects: [subject],
      }));
    const bindings = {
      indexer: {
        list: () => [
          ...list({ kind: 'User', name: 'ann' }),
          ...list({ kind: 'Group', name: 'team-a' }),
          ...list({ kind: 'User', name: 'team-a' }),
          ...list({ kind: 'ServiceAccount', namespace: 'shop', name: 'web' }),
          ...list({ kind: 'Group', name: 'many' }, 150),
          { metadata: { namespace: 'nobody' } },
        ],
      },
    };
    const { rights, said } = reviewing(allowing('User-ann-0'), { bindings: bindings as never });
    expect(await rights(ANN, pods, {})).toEqual(['User-ann-0']);
    expect(said()).toEqual(['list', 'list Group-team-a-0', 'list User-ann-0', 'watch User-ann-0']);
    const account = { name: 'system:serviceaccount:shop:web', groups: ['many'] };
    await rights(account, pods, {});
    expect(said().slice(4)).toHaveLength(101);
    await rights({ ...account, groups: [] }, pods, {});
    expect(said().at(-1)).toBe('list ServiceAccount-shop-web-0');
  });

  it('E12: a binding that changes asks anew for those whom it concerns alone', async () => {
    const rig = new UsersRig().serveShared();
    const views = ['t-ann', 't-bob'].map((token) => followed(rig.page(token).view(names)));
    await rig.pass(5_000);
    const reviews = () =>
      rig.api.requests.filter(({ path }) => path.endsWith('/subjectaccessreviews')).length;
    const before = reviews();
    rig.grant('read', { kind: 'Group', name: 'team-z' }, 'b');
    await rig.pass(5_000);
    expect(reviews()).toBe(before);
    rig.grant('also', { kind: 'Group', name: 'team-b' }, 'a');
    await rig.pass(5_000);
    expect(reviews()).toBeGreaterThan(before);
    expect(views.map(({ shown }) => shown().list)).toEqual(['api web', 'api db web']);
  });
});
