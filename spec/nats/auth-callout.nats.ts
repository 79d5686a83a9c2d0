/** The example `nats-auth` on a real kube-apiserver with RBAC: users of Kubernetes read what they may list and watch. */

import type { ConnectionOptions, NatsConnection } from '@nats-io/nats-core';
import { createAccount, type KeyPair } from '@nats-io/nkeys';
import { createListWatch, createSharedInformer, type KubeClient, type Resource } from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { clientFromKubeConfig } from 'rx-informer/node';
import { configMaps, pods, secrets } from 'rx-informer/resources';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answerAuthCallouts } from '../../examples/nats-auth/auth-callout.ts';
import { type ApiServerProcess, startApiServer } from '../e2e/apiserver.ts';
import { noControl } from '../e2e/cluster.ts';
import { openRawApi, type RawApi } from '../e2e/raw-api.ts';
import { eventually, HANG_MS } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces';
const group = { apiGroup: 'rbac.authorization.k8s.io' };
const idOf = (letter: string) => letter.repeat(22);
/** Of the test, because a renewal that the test before it began makes the consumer of its reader anew. */
let id = '';
/** As in docs/guide/nats.md. */
const subjects = [
  '$JS.API.CONSUMER.MSG.NEXT.KV_k8s.*',
  '$JS.API.CONSUMER.RESET.KV_k8s.*',
  '$JS.API.DIRECT.GET.KV_k8s.$KV.k8s.*.*._._meta',
];
const accounts = {
  BUCKET: {
    jetstream: 'enabled',
    users: ['auth', 'publisher'].map((user) => ({ user, password: 'p' })),
    exports: subjects.map((service) => ({ service, response: 'stream', accounts: ['READERS'] })),
  },
  READERS: { imports: subjects.map((subject) => ({ service: { account: 'BUCKET', subject } })) },
};
const VALID_SECONDS = 3;

let server: ApiServerProcess;
let api: RawApi;
let client: KubeClient;
let nats: NatsServer;
let refused: string[] = [];

describe.skipIf(noControl)('the auth callout of the example', () => {
  beforeAll(async () => {
    server = await startApiServer({});
    api = await openRawApi(server.kubeconfig);
    client = await clientFromKubeConfig({ file: server.kubeconfig });
    for (const name of ['shop', 'bank']) {
      await api.ok('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }];
      const role = { metadata: { name: 'reader' }, rules };
      await api.ok('POST', `${rbac}/${name}/roles`, { body: role });
      await api.ok('POST', `/api/v1/namespaces/${name}/configmaps`, {
        body: { metadata: { name: 'settings' }, data: { of: name } },
      });
    }
    await bind('shop');
    const issuer = createAccount();
    nats = await NatsServer.start({
      config: `
        accounts: ${JSON.stringify(accounts)}
        authorization {
          # Longer than the default, because the callout runs in the process of the tests.
          timeout = ${HANG_MS / 1_000}
          auth_callout { issuer: ${issuer.getPublicKey()}, account: BUCKET, auth_users: [auth, publisher] }
        }`,
    });
    await serve(issuer);
    await publish(configMaps);
    await publish(secrets);
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await nats?.stop();
    await server?.stop();
  });

  let tests = 0;
  beforeEach(() => {
    id = idOf('abcdefghij'[tests++] ?? '');
  });

  /** Binds the role, and waits until the server's authorizer knows it. */
  async function bind(namespace: string): Promise<void> {
    await api.ok('POST', `${rbac}/${namespace}/rolebindings`, {
      body: {
        metadata: { name: 'reader' },
        roleRef: { ...group, kind: 'Role', name: 'reader' },
        subjects: [{ ...group, kind: 'User', name: 'limited' }],
      },
    });
    const resourceAttributes = { namespace, verb: 'watch', resource: 'configmaps' };
    const body = { spec: { user: 'limited', resourceAttributes } };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    await eventually(async () => {
      const review = await api.ok('POST', path, { body });
      return (review as { status?: { allowed?: boolean } }).status?.allowed === true;
    }, 'the authorizer knows the role');
  }

  async function serve(issuer: KeyPair): Promise<void> {
    answerAuthCallouts({
      connection: await nats.connect({ user: 'auth', pass: 'p' }),
      ...{ client, issuer, bucket: 'k8s', resources: [configMaps, pods] },
      accounts: { bucket: 'BUCKET', reader: 'READERS' },
      validSeconds: VALID_SECONDS,
      onRefused: (reason) => refused.push(reason),
    });
  }

  async function publish(resource: Resource): Promise<void> {
    const informer = createSharedInformer(createListWatch(client, resource));
    const connection = await nats.connect({ user: 'publisher', pass: 'p' });
    const publisher = publishToNats(informer, { connection, resource, bucket: 'k8s' });
    await eventually(() => publisher.status.phase === 'publishing', 'the bucket is complete');
    onCleanup(async () => {
      await publisher.stop();
      await informer.stop();
    });
  }

  const cleanups: (() => Promise<void>)[] = [];
  const onCleanup = (cleanup: () => Promise<void>) => cleanups.push(cleanup);
  afterAll(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const login = (user: string, options: ConnectionOptions) =>
    nats.connect({
      ...{ user, pass: server.limitedToken, reconnect: true },
      ...{ name: `_INBOX_${id}`, inboxPrefix: `_INBOX_${id}` },
      // On a busy machine a right may end before the server has read it, which is a refusal, too.
      ignoreAuthErrorAbort: true,
      timeout: HANG_MS,
      ...options,
    });

  async function connect(user: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
    const connection = await eventually(() => login(user, options));
    onTestFinished(() => connection.close());
    return connection;
  }

  async function refusal(user: string, options: ConnectionOptions = {}): Promise<string> {
    refused = [];
    await expect(login(user, { reconnect: false, ...options })).rejects.toThrow(/authoriz/i);
    return refused.join();
  }

  async function read(
    connection: NatsConnection,
    resource: Resource,
    namespace?: string,
    consumer = `${id}_0`,
  ) {
    const options = { bucket: 'k8s', consumer, ...(namespace === undefined ? {} : { namespace }) };
    const informer = createSharedInformer(createNatsListWatch(connection, resource, options), {
      backoff: () => 200,
    });
    onTestFinished(() => informer.stop());
    informer.status$.subscribe();
    informer.start();
    // A busy machine may lose the connection meanwhile, which is no answer.
    const answered = () => informer.hasSynced || informer.status.error?.code === 403;
    await eventually(answered, 'an answer');
    return informer;
  }

  it('J22: a user reads the namespace in which it may list and watch, and follows it when its connection is renewed', async () => {
    const connection = await connect('configmaps/shop');
    const informer = await read(connection, configMaps, 'shop');
    expect(informer.indexer.listKeys()).toEqual(['shop/settings']);
    let renewed = 0;
    void (async () => {
      for await (const { type } of connection.status()) renewed += Number(type === 'reconnect');
    })();
    await eventually(() => renewed > 0, 'the connection is renewed');
    await api.ok('POST', '/api/v1/namespaces/shop/configmaps', {
      body: { metadata: { name: 'late' } },
    });
    await eventually(() => informer.indexer.getByKey('shop/late') !== undefined, 'late');
    expect(informer.status.relists).toBe(0);
  });

  it('J22: a connection for one namespace reads no other, and no other kind', async () => {
    const connection = await connect('configmaps/shop');
    for (const [resource, namespace] of [
      [configMaps, 'bank'],
      [configMaps, undefined],
      [secrets, 'shop'],
    ] as const) {
      const informer = await read(connection, resource, namespace);
      expect(informer.status.error?.code, `${resource.plural} in ${namespace}`).toBe(403);
    }
  });

  it('J22: what the cluster forbids, what is not offered, and bad tokens and names are refused', async () => {
    expect(await refusal('configmaps/bank')).toContain('limited may not list configmaps in bank');
    expect(await refusal('configmaps')).toContain('limited may not list configmaps in all');
    expect(await refusal('configmaps/shop,configmaps/bank')).toContain('in bank');
    expect(await refusal('pods/shop')).toContain('limited may not list pods in shop');
    expect(await refusal('secrets/shop')).toContain("the bucket has no kind 'secrets'");
    expect(await refusal('')).toContain('the bucket has no kind');
    expect(await refusal('configmaps/shop', { pass: 'wrong' })).toContain('token is not valid');
    expect(await refusal('configmaps/shop', { name: '_INBOX' })).toContain('22 random characters');
    expect(await refusal('configmaps/shop', { name: '_INBOX_>' })).toContain('22 random');
  });

  it('J22: a right that was revoked ends when the connection is renewed, and one that is given again is used', async () => {
    await bind('bank');
    const connection = await connect('configmaps/bank');
    const informer = await read(connection, configMaps, 'bank');
    expect(informer.hasSynced).toBe(true);
    refused = [];
    await api.ok('DELETE', `${rbac}/bank/rolebindings/reader`);
    const says = () => refused.includes('limited may not list configmaps in bank');
    await eventually(says, 'the callout refuses');
    await eventually(() => !informer.status.live, 'the reader notices');
    expect(informer.indexer.listKeys()).toEqual(['bank/settings']);
    await bind('bank');
    await eventually(() => informer.status.live, 'the reader has its right again');
    await api.ok('DELETE', `${rbac}/bank/rolebindings/reader`);
  });

  it('J22: a request that a reader sent while it had the right receives nothing that is written when the right has ended', async () => {
    await bind('bank');
    const other = `_INBOX_${idOf('y')}`;
    const permitted = await connect('configmaps/shop', { name: other, inboxPrefix: other });
    const got: string[] = [];
    permitted.subscribe(`${other}.stolen`, {
      callback: (_error, message) => void got.push(message.string()),
    });
    const witness = await read(permitted, configMaps, 'shop', `${other.slice('_INBOX_'.length)}_0`);
    expect(witness.hasSynced).toBe(true);
    // A connection that is renewed meanwhile answers no flush.
    await eventually(() => permitted.flush(), 'the subscription has arrived');
    let own: NatsConnection | undefined;
    await eventually(async () => {
      if (got.some((text) => text.includes('"settings"'))) return true;
      // On a busy machine the right may end before the request has arrived.
      if (own === undefined || own.isClosed()) {
        own = await connect('configmaps/bank', { reconnect: false });
        // Without a limit, and to the inbox of a connection that keeps its rights.
        own.publish(`$JS.API.CONSUMER.MSG.NEXT.KV_k8s.${id}_0`, '{"batch":1000}', {
          reply: `${other}.stolen`,
        });
      }
      return false;
    }, 'while it is permitted');
    await api.ok('DELETE', `${rbac}/bank/rolebindings/reader`);
    await own?.closed();
    // The consumer ends with the right. It had one, because it delivered a message.
    const connection = await nats.connect({ user: 'publisher', pass: 'p' });
    const admin = await managerOf(connection);
    const consumers = async () =>
      (await admin.consumers.list('KV_k8s').next()).map(({ name }) => name);
    await eventually(async () => expect(await consumers()).not.toContain(`${id}_0`));
    const create = (namespace: string, name: string) =>
      api.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
        body: { metadata: { name } },
      });
    await create('bank', 'after-revocation');
    // A later object has passed through the bucket to the same connection.
    await create('shop', 'witness');
    await eventually(() => witness.indexer.getByKey('shop/witness') !== undefined, 'the witness');
    await eventually(() => permitted.flush(), 'what was sent before has arrived');
    expect(permitted.isClosed()).toBe(false);
    expect(got.filter((text) => text.includes('after-revocation'))).toEqual([]);
  });
});
