/**
 * Random roles and bindings, users, and what each user should see: the union of what the API server lists to the user in the scopes in which
 * it permits list and watch. Any API server with RBAC can play it.
 */
import { type LiveQuery, liveQuery, type ViewStatus } from 'rx-informer';
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  pods,
  roleBindings,
  roles,
} from 'rx-informer/resources';
import {
  connectServer,
  type ServedUser,
  type ServedUsers,
  type UserPort,
} from 'rx-informer/server';

/** The API server of a campaign. */
export interface RightsCluster {
  create(kind: object, object: object): Promise<unknown>;
  remove(
    kind: object,
    key: { readonly name: string; readonly namespace?: string },
  ): Promise<unknown>;
  /** The names that the user is listed, as `namespace/name`; `undefined` if list or watch is not permitted. '' means all namespaces. */
  listAs(
    user: ServedUser,
    plural: string,
    namespace: string,
    name?: string,
  ): Promise<readonly string[] | undefined>;
}

export const NAMESPACES = ['a', 'b', 'c'];
const NAMES = ['p1', 'p2'];
/** So many users of each of two groups. */
export const usersOf = (count: number): readonly ServedUser[] =>
  ['g1', 'g2'].flatMap((group) =>
    Array.from({ length: count }, (_, at) => ({
      name: `u${at + 1}-${group}`,
      groups: [group, 'system:authenticated'],
    })),
  );
const KINDS = [pods, configMaps];
const API = 'rbac.authorization.k8s.io';

/** A query of the campaign, and what it asks for. */
export interface AskedByUser {
  readonly query: LiveQuery;
  readonly plural: string;
  readonly namespaces: readonly string[];
  readonly name: string | undefined;
}

export const QUERIES: readonly AskedByUser[] = KINDS.flatMap((from, kind) =>
  [[], ['a'], ['b'], ['a', 'c'], ['c', 'elsewhere']].flatMap((namespaces, at) =>
    [undefined, ...(namespaces.length === 2 ? [] : ['p1'])].map((name) => ({
      ...{ plural: from.plural, namespaces, name },
      query: liveQuery({
        from: from as typeof pods,
        ...(namespaces.length > 0 && { namespace: namespaces }),
        ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
        // All rows fit in the window. The rows of a window come another way than those of a query without one.
        ...((kind + at) % 2 === 1 && { orderBy: { path: 'metadata.name' }, limit: 50 }),
        select: { name: 'metadata.name', namespace: 'metadata.namespace' },
      }),
    })),
  ),
);

/** The objects that users may see or not. */
export async function createObjects(cluster: RightsCluster): Promise<void> {
  for (const namespace of NAMESPACES) {
    for (const name of NAMES) {
      const metadata = { namespace, name };
      await cluster.create(configMaps, { metadata, data: {} });
      const spec = { containers: [{ name: 'main', image: 'none' }] };
      await cluster.create(pods, { metadata, spec });
    }
  }
}

export class RandomRights {
  readonly #cluster: RightsCluster;
  readonly #users: readonly ServedUser[];
  readonly #random: () => number;
  #names = 0;
  /** The bindings that there are, with what removes each. */
  readonly #bindings: (() => Promise<unknown>)[] = [];

  constructor(cluster: RightsCluster, users: readonly ServedUser[], random: () => number) {
    this.#cluster = cluster;
    this.#users = users;
    this.#random = random;
  }

  #one<V>(all: readonly V[]): V {
    return all[Math.floor(this.#random() * all.length)] as V;
  }

  #rule(): object {
    const isNamed = this.#random() < 0.25;
    return {
      apiGroups: this.#one([[''], ['*'], ['apps'], ['', 'apps']]),
      resources: this.#one([['pods'], ['configmaps'], ['pods', 'configmaps'], ['*'], ['pods/log']]),
      verbs: this.#one([['list'], ['watch'], ['list', 'watch'], ['*'], ['list', 'watch'], ['*']]),
      ...(isNamed && { resourceNames: this.#one([['p1'], ['p2'], ['p1', 'p2']]) }),
    };
  }

  /** A group, or a quarter of the users. */
  #subjects(): readonly object[] {
    const kind = this.#one(['User', 'Group']);
    const users = this.#users;
    const names =
      kind === 'User'
        ? Array.from({ length: Math.ceil(users.length / 4) }, () => this.#one(users).name)
        : [this.#one(['g1', 'g2', 'system:authenticated', 'nobody'])];
    return [...new Set(names)].map((name) => ({ apiGroup: API, kind, name }));
  }

  /** Adds a role and a binding of it. */
  async bind(): Promise<void> {
    const name = `r${++this.#names}`;
    const namespace = this.#one(NAMESPACES);
    const rules = Array.from({ length: 1 + Math.floor(this.#random() * 2) }, () => this.#rule());
    const subjects = this.#subjects();
    const isWide = this.#random() < 0.15;
    const isClusterRole = isWide || this.#random() < 0.5;
    const place = isClusterRole ? { name } : { namespace, name };
    await this.#cluster.create(isClusterRole ? clusterRoles : roles, { metadata: place, rules });
    const roleRef = { apiGroup: API, kind: isClusterRole ? 'ClusterRole' : 'Role', name };
    const kind = isWide ? clusterRoleBindings : roleBindings;
    const key = isWide ? { name } : { namespace, name };
    await this.#cluster.create(kind, { metadata: key, roleRef, subjects });
    this.#bindings.push(() => this.#cluster.remove(kind, key));
  }

  /** Removes a binding. */
  async unbind(): Promise<void> {
    const at = Math.floor(this.#random() * this.#bindings.length);
    const [remove] = this.#bindings.splice(at, 1);
    await remove?.();
  }
}

/** What the user should see, by requests as that user alone. */
export async function expected(
  cluster: RightsCluster,
  user: ServedUser,
  { plural, namespaces, name }: AskedByUser,
): Promise<string> {
  const isAsked = (each: string) =>
    (namespaces.length === 0 || namespaces.includes(each.split('/')[0] as string)) &&
    (name === undefined || each.endsWith(`/${name}`));
  const all = await cluster.listAs(user, plural, '', name);
  const each = (namespace: string) => cluster.listAs(user, plural, namespace, name);
  const some = all === undefined ? await Promise.all(NAMESPACES.map(each)) : [all];
  return some
    .flatMap((names) => names?.filter(isAsked) ?? [])
    .sort()
    .join(' ');
}

/** What a complete answer shows if its status is right about what is permitted: all objects there, and no others. */
function shownWith({ access }: ViewStatus, { namespaces, name }: AskedByUser): string {
  const asked = namespaces.length > 0 ? namespaces : NAMESPACES;
  const permitted = access?.namespaces ?? asked;
  return NAMESPACES.filter((each) => asked.includes(each) && permitted.includes(each))
    .flatMap((each) => NAMES.map((own) => [each, own] as const))
    .filter(([, own]) => name === undefined || own === name)
    .map((each) => each.join('/'))
    .join(' ');
}

/** What the pages of users show, by a server of users in the same process. */
export function pagesOf(
  served: ServedUsers,
  users: readonly ServedUser[],
  options: Pick<Parameters<typeof connectServer>[0], 'scheduler'> = {},
) {
  const portTo = (name: string): UserPort => {
    const [page, server] = portPair();
    const user = users.find((each) => each.name === name);
    served.connect(server, { request: null, signIn: () => user });
    return page;
  };
  return users.map((user) => {
    const { name } = user;
    const cluster = connectServer({
      ...{ port: () => portTo(name), identity: name, credentials: () => ({}) },
      ...options,
    });
    /** Where rows and status of one message did not agree. */
    const disagreed: string[] = [];
    const views = QUERIES.map((asked) => {
      const view = cluster.view(asked.query);
      const isKnown = () => view.getSnapshot().synced;
      const shown = () =>
        (view.getSnapshot().rows as readonly { readonly namespace: string; name: string }[])
          .map((row) => `${row.namespace}/${row.name}`)
          .sort()
          .join(' ');
      // The page shows each message that it takes, and acknowledges it.
      view.subscribe(() => {
        const { synced, status } = view.getSnapshot();
        const should = shownWith(status, asked);
        // A real server has ConfigMaps of its own, which come when they come.
        const isOwn = (each: string) => NAMESPACES.includes(each.split('/')[0] as string);
        const own = shown().split(' ').filter(isOwn).join(' ');
        if (!synced || own === should) return;
        disagreed.push(`${name} was shown "${own}" with the access "${should}"`);
      });
      return { asked, isKnown, shown };
    });
    return { user, views, disagreed, close: () => cluster.close() };
  });
}

/** Two ends of messages, which arrive later. */
function portPair(): readonly [UserPort, UserPort] {
  const listeners: (((message: unknown) => void) | undefined)[] = [undefined, undefined];
  const end = (own: 0 | 1): UserPort => ({
    post: (message) => {
      const text = JSON.stringify(message);
      queueMicrotask(() => listeners[1 - own]?.(JSON.parse(text)));
    },
    listen: (listener) => {
      listeners[own] = listener;
    },
    close: () => {
      listeners[own] = undefined;
    },
  });
  return [end(0), end(1)];
}
