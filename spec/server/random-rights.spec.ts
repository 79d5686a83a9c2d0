/** Random roles, bindings and users: each user sees what the API server lists to the user, also after the rights have changed. */
import { createClient, createInformerFactory } from 'rx-informer';
import { configMaps, pods, roleBindings } from 'rx-informer/resources';
import { accessReviews, type ServedUser, serveUsers } from 'rx-informer/server';
import { createFakeApiServer, createVirtualTime, seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { campaign, type Played } from '../support/campaign.ts';
import {
  createObjects,
  expected,
  pagesOf,
  RandomRights,
  type RightsCluster,
  usersOf,
} from './random-rights.ts';

const USERS = usersOf(2);
const RIGHTS = { name: 'RIGHTS', seeds: 12, command: 'spec/server/random-rights.spec.ts' };

async function live(seed: number): Promise<Played> {
  const random = seededRandom(seed);
  const time = createVirtualTime();
  const { scheduler } = time;
  const groupsOf = ({ groups = [] }: ServedUser) => groups.slice(0, 1);
  const own = { name: 'root', groups: ['system:masters'] };
  const tokens = Object.fromEntries(
    USERS.map((user) => [`t-${user.name}`, { name: user.name, groups: groupsOf(user) }]),
  );
  const api = createFakeApiServer({
    ...{ random: seededRandom(seed), scheduler, allows: 'rbac', users: { ...tokens, root: own } },
  });
  const send = async (token: string, path: string): Promise<Response> =>
    await api.fetch(`http://fake${path}`, { headers: { authorization: `Bearer ${token}` } });
  const cluster: RightsCluster = {
    create: async (kind, object) => api.objects.create(kind as typeof pods, object as never),
    remove: async (kind, key) => api.objects.delete(kind as typeof pods, key as never),
    listAs: async ({ name: user }, plural, namespace, name) => {
      const selected = name === undefined ? '' : `&fieldSelector=metadata.name%3D${name}`;
      const path = `/api/v1/${namespace === '' ? '' : `namespaces/${namespace}/`}${plural}?`;
      const [list, watch] = await Promise.all([
        send(`t-${user}`, `${path}${selected}`),
        send(`t-${user}`, `${path}watch=1${selected}`),
      ]);
      await watch.body?.cancel();
      if (list.status !== 200 || watch.status !== 200) return undefined;
      const { items } = (await list.json()) as {
        items: { metadata: { namespace: string; name: string } }[];
      };
      return items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    },
  };
  await createObjects(cluster);
  const rights = new RandomRights(cluster, USERS, random);
  for (let at = 0; at < 16; at++) await rights.bind();
  const client = createClient({
    ...{ baseUrl: 'http://fake', fetch: api.fetch, scheduler, qps: 0 },
    headers: { authorization: 'Bearer root' },
  });
  const factory = createInformerFactory(client, { scheduler });
  const bindings = factory.informer(roleBindings);
  const users = serveUsers({
    ...{ factory, kinds: [pods, configMaps], scheduler, random },
    rights: accessReviews(client, { bindings, scheduler }),
  });
  factory.start();
  await time.advance(1_000);
  const pages = pagesOf(users, USERS, { scheduler });
  const wrong: string[] = [];
  const seen = new Map([
    ['empty', 0],
    ['with rows', 0],
  ]);
  const compare = async (when: string) => {
    for (const { user, views } of pages) {
      for (const { asked, shown } of views) {
        const should = await expected(cluster, user, asked);
        const kind = should === '' ? 'empty' : 'with rows';
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        if (shown() === should) continue;
        const { plural, namespaces, name = 'all' } = asked;
        const what = `${user.name} asks ${name} of ${plural} in ${namespaces.join(', ') || 'all'}`;
        wrong.push(`${when}: ${what}: shown "${shown()}", right is "${should}"`);
      }
    }
  };
  await time.advance(5_000);
  await compare('first');
  for (let change = 0; change < 2; change++) {
    if (random() < 0.6) await rights.unbind();
    await rights.bind();
    // Roles of bindings of the whole cluster are noticed with the next question.
    await time.advance(70_000);
    await compare(`change ${change}`);
  }
  users.drain();
  for (const { close, disagreed } of pages) {
    close();
    wrong.push(...disagreed.slice(0, 3));
  }
  await factory.stop();
  return { wrong, seen };
}

describe('random rights', () => {
  it('E11, E12: each user sees the union of what the API server lists in the scopes in which the user may list and watch, and each message agrees with its status', async () => {
    const { wrong, seen, isReplay } = await campaign(RIGHTS, live);
    expect(wrong).toEqual([]);
    if (isReplay) return;
    const [empty = 0, withRows = 0] = seen.values();
    expect(withRows).toBeGreaterThan(empty);
    expect(empty).toBeGreaterThan(withRows / 4);
  });
});
