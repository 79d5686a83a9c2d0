/** One factory for all users on a real kube-apiserver: each sees what the server lists to the user, also after the rights have changed. */
import {
  createInformerFactory,
  type KubernetesObject,
  type Resource,
  resourcePath,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  namespaces,
  pods,
  roleBindings,
  roles,
} from 'rx-informer/resources';
import { accessReviews, type ServedUser, serveUsers } from 'rx-informer/server';
import { seededRandom } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createObjects,
  expected,
  NAMESPACES,
  pagesOf,
  RandomRights,
  type RightsCluster,
  usersOf,
} from '../server/random-rights.ts';
import { campaign, type Played } from '../support/campaign.ts';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

const RIGHTS = { name: 'REAL_RIGHTS', seeds: 2, command: 'npm run test:e2e -- user-rights' };
/** Most of a life is waiting for the server, which is not longer for many users. */
const USERS = usersOf(12);
/** How many users list at the same time. */
const AT_ONCE = 8;
const MARKED: ServedUser = { name: 'marked', groups: ['system:authenticated'] };

const placeOf = (namespace: string | undefined) => (namespace === undefined ? {} : { namespace });

/** The server as one life sees it. What it lists to a user is asked once between two changes. */
class RealCluster implements RightsCluster {
  readonly #api: RawApi;
  readonly #made: (() => Promise<unknown>)[] = [];
  #listed = new Map<string, Promise<readonly string[] | undefined>>();
  #marks = 0;

  constructor(api: RawApi) {
    this.#api = api;
  }

  async create(kind: object, object: object): Promise<void> {
    const resource = kind as Resource<KubernetesObject>;
    const { metadata } = object as { metadata: { name: string; namespace?: string } };
    const path = resourcePath(resource, placeOf(metadata.namespace));
    await this.#api.ok('POST', path, { body: object });
    this.#made.push(() => this.#api.call('DELETE', `${path}/${metadata.name}`));
  }

  async remove(kind: object, key: { name: string; namespace?: string }): Promise<void> {
    const path = resourcePath(kind as Resource<KubernetesObject>, placeOf(key.namespace));
    await this.#api.ok('DELETE', `${path}/${key.name}`);
  }

  async #as(user: ServedUser, path: string, query: Record<string, string>) {
    const headers = { 'impersonate-user': user.name, 'impersonate-group': user.groups ?? [] };
    return await this.#api.call<{ items: { metadata: { namespace: string; name: string } }[] }>(
      'GET',
      path,
      { query, headers },
    );
  }

  listAs(
    user: ServedUser,
    plural: string,
    namespace: string,
    name?: string,
  ): Promise<readonly string[] | undefined> {
    const key = JSON.stringify([user.name, plural, namespace, name]);
    const known = this.#listed.get(key) ?? this.#list(user, plural, namespace, name);
    this.#listed.set(key, known);
    return known;
  }

  async #list(user: ServedUser, plural: string, namespace: string, name?: string) {
    const path = `/api/v1/${namespace === '' ? '' : `namespaces/${namespace}/`}${plural}`;
    const selected = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
    const [list, watch] = await Promise.all([
      this.#as(user, path, selected),
      this.#as(user, path, { ...selected, watch: '1', timeoutSeconds: '1' }),
    ]);
    const statuses = [list.status, watch.status];
    // Another status, such as 429, says nothing about rights.
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([]);
    if (statuses.includes(403)) return undefined;
    return list.body.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  }

  /** Waits until the authorizer knows what was created: it learns of each kind in order. */
  async settle(): Promise<void> {
    this.#listed = new Map();
    const name = `mark-${++this.#marks}-${Math.random().toString(36).slice(2)}`;
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [name] },
    ];
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: MARKED.name }];
    const [namespace = ''] = NAMESPACES;
    const bound = { apiGroup: 'rbac.authorization.k8s.io', name };
    await this.create(clusterRoles, { metadata: { name }, rules });
    await this.create(roles, { metadata: { namespace, name }, rules });
    await this.create(clusterRoleBindings, {
      ...{ metadata: { name: `${name}-wide` }, subjects },
      roleRef: { ...bound, kind: 'ClusterRole' },
    });
    await this.create(roleBindings, {
      ...{ metadata: { namespace, name }, subjects },
      roleRef: { ...bound, kind: 'Role' },
    });
    for (const each of [namespace, NAMESPACES[1]]) {
      // The role of the namespace is known when the other binding does not permit it.
      await eventually(async () => {
        const path = `/api/v1/namespaces/${each}/configmaps/${name}`;
        expect((await this.#as(MARKED, path, {})).status).toBe(404);
      });
    }
  }

  async end(): Promise<void> {
    for (const remove of this.#made.splice(0).reverse()) await remove();
  }
}

describe.skipIf(noControl)('rights of users on a real server', () => {
  let server: ApiServerProcess;
  let api: RawApi;

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    for (const name of NAMESPACES)
      await api.ok('POST', resourcePath(namespaces), { body: { metadata: { name } } });
    for (const name of NAMESPACES) {
      // Pods need the account, which a controller makes in a cluster.
      const body = { metadata: { name: 'default' } };
      await api.call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { body });
    }
    await createObjects(new RealCluster(api));
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  async function life(seed: number): Promise<Played> {
    const random = seededRandom(seed);
    const cluster = new RealCluster(api);
    const rights = new RandomRights(cluster, USERS, random);
    for (let at = 0; at < 16; at++) await rights.bind();
    await cluster.settle();
    const client = await clientFromKubeConfig({ file: server.kubeconfig, qps: 0 });
    const factory = createInformerFactory(client);
    const users = serveUsers({
      ...{ factory, kinds: [pods, configMaps] },
      rights: accessReviews(client, { bindings: factory.informer(roleBindings) }),
    });
    factory.start();
    await factory.whenSynced({ timeoutMs: 600_000 });
    const pages = pagesOf(users, USERS);
    const seen = new Map([
      ['empty', 0],
      ['with rows', 0],
    ]);
    const compare = async () => {
      const wrong: string[] = [];
      const kinds: string[] = [];
      for (let at = 0; at < pages.length; at += AT_ONCE) {
        const some = pages.slice(at, at + AT_ONCE);
        const all = some.flatMap(({ user, views }) => views.map((view) => ({ user, ...view })));
        await Promise.all(
          all.map(async ({ user, asked, shown, isKnown }) => {
            const should = await expected(cluster, user, asked);
            kinds.push(should === '' ? 'empty' : 'with rows');
            if (isKnown() && shown() === should) return;
            const { plural, namespaces: named, name = 'all' } = asked;
            const what = `${user.name} asks ${name} of ${plural} in ${named.join(', ') || 'all'}`;
            wrong.push(`${what}: shown "${shown()}", right is "${should}"`);
          }),
        );
      }
      return { wrong, kinds };
    };
    const count = (kinds: readonly string[]) => {
      for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1);
    };
    const wrong: string[] = [];
    try {
      await eventually(() => {
        expect(pages.every(({ views }) => views.every(({ isKnown }) => isKnown()))).toBe(true);
      });
      const first = await compare();
      wrong.push(...first.wrong);
      count(first.kinds);
      if (random() < 0.6) await rights.unbind();
      await rights.bind();
      await cluster.settle();
      // Queries are asked again within two seconds of a binding, and at the latest within a minute.
      await eventually(async () => {
        const later = await compare();
        expect(later.wrong).toEqual([]);
        count(later.kinds);
      });
    } finally {
      for (const { close, disagreed } of pages) {
        close();
        wrong.push(...disagreed.slice(0, 3));
      }
      users.drain();
      await factory.stop();
      await client.close();
      await cluster.end();
    }
    return { wrong, seen };
  }

  it('E11, E12: each user sees the union of what the server lists in the scopes in which the user may list and watch', async () => {
    const { wrong, seen, isReplay } = await campaign(RIGHTS, life);
    expect(wrong).toEqual([]);
    if (isReplay) return;
    const [empty = 0, withRows = 0] = seen.values();
    figures('random rights', { compared: empty + withRows, 'with rows': withRows });
    expect(withRows).toBeGreaterThan(empty / 2);
  });
});
