/** Tests the rights that the API server reviews: what is asked, what permits, and how often. */
import { createClient, createInformerFactory, type KubeClient } from 'rx-informer';
import { deployments, nodes, pods, roleBindings } from 'rx-informer/resources';
import {
  type AccessReviewsOptions,
  accessReviews,
  type Rights,
  type ServedUser,
  tokenReviews,
} from 'rx-informer/server';
import { createVirtualTime } from 'rx-informer/testing';
import { EMPTY, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { followed, names, namesOf, UsersRig } from './users-rig.ts';

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

/** Rights that say when they may have changed. */
function followedRights(own: Rights) {
  const changes = new Subject<(user: ServedUser) => boolean>();
  const rights: Rights = Object.assign((...asked: Parameters<Rights>) => own(...asked), {
    changes$: changes,
  });
  return { rights, changes };
}

describe('rights that the API server reviews', () => {
  it('E12: list and watch of all namespaces are reviewed first, for the user with all that signIn has named', async () => {
    const { rights, asked } = reviewing(allowing(''));
    expect(await rights(ANN, deployments, {})).toBe('all');
    expect(asked.map(({ resourceAttributes: { verb } }) => verb)).toEqual(['list', 'watch']);
    expect(asked[0]).toEqual({
      ...{ user: 'ann', uid: 'u1', groups: ANN.groups, extra: ANN.extra },
      resourceAttributes: {
        ...{ group: 'apps', version: 'v1', resource: 'deployments', namespace: '', verb: 'list' },
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
    await rights(ANN, { ...pods, group: 'example.com' }, {});
    expect(said().length).toBe(6);
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

  it('E12: at most 200 reviews are requested in any second, and users take turns', async () => {
    const { rights, time, said, asked } = reviewing(() => ({ status: { allowed: false } }));
    const many = Array.from({ length: 300 }, (_, at) =>
      rights({ name: 'm' }, pods, { name: `${at}` }),
    );
    await time.advance(0);
    const others = Array.from({ length: 5 }, (_, at) => rights({ name: `u${at}` }, pods, {}));
    let answered = 0;
    for (const other of others) void Promise.resolve(other).then(() => answered++);
    await time.advance(100);
    expect(answered, 'users whose reviews do not wait behind those of one user').toBe(5);
    await time.advance(900);
    expect(said().length).toBeLessThanOrEqual(200);
    const after = said().length;
    await time.advance(1_000);
    expect(said().length - after).toBeLessThanOrEqual(190);
    await Promise.all(many);
    expect(asked.filter(({ user }) => user === 'm')).toHaveLength(300);
  });

  it('E12: at most 20 reviews are asked at one time, so that they wait in turns, and not at the client', async () => {
    const answers: (() => void)[] = [];
    const { rights, time, asked } = reviewing(
      () => new Promise((resolve) => answers.push(() => resolve({ status: { allowed: true } }))),
    );
    for (let at = 0; at < 40; at++) void rights({ name: 'm' }, pods, { name: `${at}` });
    await time.advance(1_000);
    void rights(ANN, pods, {});
    await time.advance(100);
    expect(asked.map(({ user }) => user)).toEqual(Array.from({ length: 20 }, () => 'm'));
    for (const each of answers.splice(0, 2)) each();
    await time.advance(100);
    expect(asked.slice(20).map(({ user }) => user)).toContain('ann');
  });

  it('E12, E7: sign-ins and other calls wait for no reviews of rights on the same client, whatever its rate limit is', async () => {
    const rig = new UsersRig();
    const client = rig.client('t-root');
    const rights = accessReviews(client, { scheduler: rig.scheduler });
    const many = Array.from({ length: 400 }, (_, at) =>
      Promise.resolve(rights({ name: `u${at}` }, pods, {})),
    );
    let open = many.length;
    for (const each of many) void each.then(() => open--);
    await rig.pass(2_500);
    let name: string | undefined;
    void tokenReviews(client)({ credentials: { token: 't-ann' }, identity: '' }).then((user) => {
      name = user?.name;
    });
    let isListed = false;
    void client.request({ path: '/api/v1/pods' }).then(() => {
      isListed = true;
    });
    await rig.pass(10);
    expect([open > 100, name, isListed]).toEqual([true, 'ann', true]);
    await rig.pass(10_000);
    expect(open).toBe(0);
  });

  it('E12: a user for whom 400 reviews wait is asked no more, and other users are', async () => {
    const { rights, time } = reviewing(() => ({ status: { allowed: true } }));
    const many = Array.from({ length: 600 }, (_, at) =>
      rights({ name: 'm' }, pods, { name: `${at}` }),
    );
    const settled = Promise.allSettled(many);
    const other = rights(ANN, pods, {});
    await time.advance(1_000);
    expect(await other).toBe('all');
    await time.advance(10_000);
    const refused = (await settled).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(150);
    expect(await rights({ name: 'm' }, pods, { name: '599' })).toBe('all');
  });

  it('E12: bindings propose namespaces for a user, its groups and its ServiceAccount, at most 100, and permit none', async () => {
    const list = (subject: object, count = 1) =>
      Array.from({ length: count }, (_, at) => ({
        metadata: { namespace: `${Object.values(subject).join('-')}-${at}` },
        subjects: [subject],
      }));
    const bindings = {
      ...{ hasSynced: true, changes$: EMPTY, status$: EMPTY },
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
    const { rights, said, time } = reviewing(allowing('User-ann-0'), {
      bindings: bindings as never,
    });
    const permitted = async (user: ServedUser) => {
      const answer = rights(user, pods, {});
      await time.advance(2_000);
      return await answer;
    };
    expect(await permitted(ANN)).toEqual(['User-ann-0']);
    expect(said()).toEqual(['list', 'list Group-team-a-0', 'list User-ann-0', 'watch User-ann-0']);
    const account = { name: 'system:serviceaccount:shop:web', groups: ['many'] };
    await permitted(account);
    expect(said().slice(4)).toHaveLength(101);
    await permitted({ ...account, groups: [] });
    expect(said().at(-1)).toBe('list ServiceAccount-shop-web-0');
  });

  it('E12: a change of rights while the question is being answered asks again', async () => {
    const rig = new UsersRig();
    let permitted = ['a'];
    let release = () => {};
    let hold: Promise<void> | undefined = new Promise((resolve) => {
      release = resolve;
    });
    const { rights, changes } = followedRights(async () => {
      const answer = permitted;
      await hold;
      return answer;
    });
    rig.serveShared({ rights });
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(3_000);
    permitted = [];
    changes.next(() => true);
    await rig.pass(3_000);
    hold = undefined;
    release();
    await rig.pass(3_000);
    expect(ann.shown()).toMatchObject({ list: '', blocked: 'forbidden' });
  });

  it('E12: bindings are followed after the informers have been stopped and started, and what was answered meanwhile is asked again', async () => {
    const rig = new UsersRig().serveShared();
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(5_000);
    await rig.factory?.stop();
    rig.factory?.start();
    await rig.pass(40_000);
    expect(ann.shown().list).toBe('api web');
    rig.revoke('read-team-a', 'a');
    await rig.pass(3_000);
    expect(ann.shown()).toMatchObject({ list: '', blocked: 'forbidden' });
    ann.leave();
    await rig.pass(61_000);
    rig.grant('read', { kind: 'User', name: 'ann' }, 'a');
    await rig.pass(10);
    const again = followed(rig.page('t-ann').view(names));
    await rig.pass(1_000);
    expect(again.shown().list).toBe('api web');
    again.leave();
    rig.revoke('read-ann', 'a');
    await rig.pass(1_000);
    const last = followed(rig.page('t-ann').view(namesOf('a')));
    await rig.pass(1_000);
    expect(last.shown().list).toBe('');
  });

  it('E12: while the bindings are not known, nothing is decided', async () => {
    const rig = new UsersRig();
    const decisions: unknown[] = [];
    const { scheduler } = rig;
    let isHeld = true;
    const client = createClient({
      ...{ baseUrl: 'http://fake', scheduler, headers: { authorization: 'Bearer t-root' } },
      fetch: async (url, init) => {
        if (isHeld && String(url).includes('/rolebindings')) throw new TypeError('away');
        return await rig.api.fetch(url, init);
      },
    });
    const factory = createInformerFactory(client, { scheduler });
    const rights = rig.reviews({ bindings: factory.informer(roleBindings) });
    rig.serveShared({ factory, rights, onDecision: (each) => decisions.push(each) });
    factory.start();
    const ann = followed(rig.page('t-ann').view(names));
    await rig.pass(10_000);
    expect([ann.shown().synced, decisions]).toEqual([false, []]);
    isHeld = false;
    await rig.pass(60_000);
    expect(ann.shown().list).toBe('api web');
    expect(decisions).toHaveLength(1);
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
