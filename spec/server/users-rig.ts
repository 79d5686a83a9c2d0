/** A server of users in virtual time: pages, sockets that lose their ends, and an API server with tokens and roles. */
import {
  createClient,
  createInformerFactory,
  type InformerFactory,
  liveQuery,
  type View,
} from 'rx-informer';
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  pods,
  roleBindings,
  secrets,
} from 'rx-informer/resources';
import {
  type AccessReviewsOptions,
  accessReviews,
  type ConnectServerOptions,
  type ConnectUserOptions,
  connectServer,
  type ServeFactoriesOptions,
  type ServeSharedOptions,
  type SocketLike,
  serveUsers,
  socketPort,
  tokenReviews,
} from 'rx-informer/server';
import { createFakeApiServer, createVirtualTime, seededRandom } from 'rx-informer/testing';

/** One end of a socket. */
interface End extends SocketLike {
  readyState: number;
  bufferedAmount: number;
  readonly sent: string[];
  other: End | undefined;
}

const query = {
  from: pods,
  select: { name: 'metadata.name', namespace: 'metadata.namespace' },
  orderBy: { path: 'metadata.name' },
} as const;
export const names = liveQuery(query);
export const namesOf = (namespace: string) => liveQuery({ ...query, namespace });

export class UsersRig {
  readonly time = createVirtualTime();
  readonly scheduler = this.time.scheduler;
  readonly tokens: Record<string, { name: string; uid?: string; groups?: string[] }> = {
    't-ann': { name: 'ann', uid: 'u1', groups: ['team-a'] },
    't-bob': { name: 'bob', uid: 'u2', groups: ['team-b'] },
    't-root': { name: 'root', groups: ['system:masters'] },
  };
  readonly api = createFakeApiServer({
    ...{ random: seededRandom(1), scheduler: this.scheduler, users: this.tokens, allows: 'rbac' },
    resources: [
      pods,
      configMaps,
      secrets,
      clusterRoles,
      clusterRoleBindings,
      roleBindings,
    ] as never,
  });
  /** The users for whom informers were made, in this order. */
  readonly made: string[] = [];
  /** What the server has sent, and what pages have. */
  readonly toPages: string[] = [];
  readonly toServer: string[] = [];
  readonly sockets: (readonly [page: End, server: End])[] = [];
  expiresMs: number | undefined;
  /** In place of the review of a token. */
  review: ((token: string) => unknown) | undefined;
  users: ReturnType<typeof serveUsers>;
  request: ConnectUserOptions['request'] = {
    headers: { host: 'localhost', origin: 'http://localhost' },
  };
  isDown = false;
  /** That of all users, if they share one. */
  factory: InformerFactory | undefined;

  constructor(options: Partial<ServeFactoriesOptions> = {}) {
    this.users = this.serve(options);
    for (const [name, namespace] of [
      ['web', 'a'],
      ['api', 'a'],
      ['db', 'b'],
    ] as const)
      this.create(namespace, name);
    this.grant('read', { kind: 'Group', name: 'team-a' }, 'a');
    this.grant('read', { kind: 'Group', name: 'team-b' }, 'b');
  }

  serve(options: Partial<ServeFactoriesOptions> = {}) {
    return serveUsers({
      createFactory: (user) => {
        this.made.push(user.name);
        const token = Object.keys(this.tokens).find(
          (each) => this.tokens[each]?.name === user.name,
        );
        return createInformerFactory(this.client(token as string), { scheduler: this.scheduler });
      },
      ...{ scheduler: this.scheduler, random: seededRandom(2) },
      ...options,
    });
  }

  /** One factory for all users, with the rights that the API server reviews. */
  serveShared(options: Partial<ServeSharedOptions> = {}) {
    this.users.drain();
    const client = this.client('t-root');
    this.factory = createInformerFactory(client, { scheduler: this.scheduler });
    const { factory, scheduler } = this;
    const bindings = factory.informer(roleBindings);
    this.users = serveUsers({
      ...{ factory, kinds: [pods, configMaps, clusterRoles], scheduler, random: seededRandom(2) },
      rights: this.reviews({ bindings }),
      ...options,
    });
    factory.start();
    return this;
  }

  /** The rights that the API server reviews. */
  reviews(options: AccessReviewsOptions) {
    return accessReviews(this.client('t-root'), { scheduler: this.scheduler, ...options });
  }

  client(token: string) {
    return createClient({
      ...{ baseUrl: 'http://fake', fetch: this.api.fetch, scheduler: this.scheduler },
      headers: { authorization: `Bearer ${token}` },
    });
  }

  create(namespace: string, name: string): void {
    this.api.objects.create(pods, { metadata: { namespace, name } });
  }

  grant(
    role: string,
    subject: { kind: string; name: string },
    namespace: string,
    rule: { readonly verbs?: string[]; readonly resourceNames?: string[] } = {},
  ): void {
    const { objects } = this.api;
    const name = `${role}-${subject.name}`;
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'], ...rule }];
    objects.create(clusterRoles, { metadata: { name }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    objects.create(roleBindings, { metadata: { namespace, name }, roleRef, subjects: [subject] });
  }

  revoke(name: string, namespace: string): void {
    this.api.objects.delete(roleBindings, { namespace, name });
  }

  signIn: ConnectUserOptions['signIn'] = async ({ credentials }) => {
    const { token } = credentials as { readonly token: string };
    if (this.review !== undefined) return this.review(token) as never;
    const user = await tokenReviews(this.client('t-root'))({ credentials, identity: '' });
    return user && { ...user, expiresMs: this.expiresMs };
  };

  /** A socket whose server end is served, and that of a page. */
  socket(address?: string): End {
    const end = (sent: string[], to: () => End): End => ({
      ...{ readyState: 1, bufferedAmount: 0, sent, other: undefined },
      ...{ onopen: null, onmessage: null, onclose: null, onerror: null },
      send: (text) => {
        sent.push(text);
        this.scheduler.schedule(() => {
          if (to().readyState === 1) to().onmessage?.({ data: text } as never);
        }, 1);
      },
      close: (code = 1005, reason = '') => {
        const own = to().other as End;
        own.readyState = 3;
        // After what was sent before.
        this.scheduler.schedule(() => {
          if (to().readyState === 1) this.cut(to(), code, reason);
        }, 1);
      },
    });
    const page: End = end(this.toServer, () => server);
    const server: End = end(this.toPages, () => page);
    page.other = server;
    server.other = page;
    const ends = [page, server] as const;
    this.sockets.push(ends);
    if (this.isDown) this.cut(page, 1006, '');
    else {
      const { request, signIn } = this;
      this.users.connect(socketPort(server), {
        request,
        signIn: (first) => signIn(first),
        address,
      });
    }
    return page;
  }

  /** Ends a socket: both sides notice it. */
  cut(end: End | undefined, code = 1006, reason = ''): void {
    for (const each of [end, end?.other]) {
      if (each === undefined || each.readyState === 3) continue;
      each.readyState = 3;
      this.scheduler.schedule(() => each.onclose?.({ code, reason } as never), 1);
    }
  }

  page(token: string, options: Partial<ConnectServerOptions> = {}) {
    return connectServer({
      ...{ url: 'ws://localhost/queries', identity: token, credentials: () => ({ token }) },
      ...{ webSocket: () => this.socket(), scheduler: this.scheduler, random: () => 0 },
      ...options,
    });
  }

  /** A connection that says what a test wants, and what it has received. */
  raw(address?: string) {
    const page = this.socket(address);
    const received: Record<string, unknown>[] = [];
    let end: { code: number; reason: string } | undefined;
    page.onmessage = (({ data }: { data: string }) => received.push(JSON.parse(data))) as never;
    page.onclose = ((event: { code: number; reason: string }) => {
      end = { code: event.code, reason: event.reason };
    }) as never;
    const send = (message: unknown) =>
      page.send(typeof message === 'string' ? message : JSON.stringify(message));
    const hello = (token = 't-ann', more: object = {}) =>
      send({
        ...{ type: 'hello', protocol: 2, identity: 'me', isHidden: false, hasCredentials: true },
        ...{ credentials: { token }, ...more },
      });
    const session = () => {
      const { incarnation, epoch } = received.find(({ type }) => type === 'welcome') as never;
      return { incarnation, epoch };
    };
    return { page, received, send, hello, session, end: () => end };
  }

  pass(ms = 1_000): Promise<void> {
    return this.time.advance(ms);
  }
}

/** Follows a view, and says what it shows. */
export function followed(view: View<unknown>) {
  const leave = view.subscribe(() => undefined);
  const shown = () => {
    const { rows, synced, stale = false, status, error } = view.getSnapshot();
    const list = rows.map((row) => (row as { readonly name?: string }).name).join(' ');
    return {
      list,
      synced,
      stale,
      live: status.live,
      blocked: status.blocked,
      error: error?.message,
    };
  };
  return { leave, shown, view };
}
