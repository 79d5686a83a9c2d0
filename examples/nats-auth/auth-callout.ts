/**
 * Answers the auth callouts of a NATS server: a user of Kubernetes may read from the bucket what it may list and watch
 * in the cluster, and nothing else.
 *
 * A reader connects with its Kubernetes token as the password, and names what it wants to read as the user, for example
 * `pods/shop,deployments.apps/shop`, or `nodes` for a kind without a namespace. The name of its connection is its
 * `inboxPrefix`, for example `_INBOX_7f3a…`. Its consumers are then `7f3a…_0` for `pods/shop`, and `7f3a…_1`.
 */
import {
  type AuthorizationRequest,
  decode,
  encodeAuthorizationResponse,
  encodeUser,
} from '@nats-io/jwt';
import type { Msg, NatsConnection } from '@nats-io/nats-core';
import type { KeyPair } from '@nats-io/nkeys';
import { createResourceClient, type KubeClient, type Resource } from 'rx-informer';
import { natsReaderSubjects } from 'rx-informer/nats';
import { subjectAccessReviews, tokenReviews, type UserInfo } from 'rx-informer/resources';
import { ReaderConsumers } from './reader-consumers.ts';

export interface AuthCalloutOptions {
  /** A connection of the user that the server's `auth_callout` names. It is in the account of the bucket. */
  readonly connection: NatsConnection;
  /** May create TokenReviews and SubjectAccessReviews, as with the ClusterRole `system:auth-delegator`. */
  readonly client: KubeClient;
  /** The private key of `issuer` in the server's `auth_callout`. */
  readonly issuer: KeyPair;
  /** The account of NATS that has the bucket, and the one for readers. */
  readonly accounts: { readonly bucket: string; readonly reader: string };
  readonly bucket: string;
  /** The kinds that may be asked for: those in the bucket, without those that nobody shall read. */
  readonly resources: readonly Resource[];
  /** How long a user may stay before it is asked again, in seconds. @defaultValue 600 */
  readonly validSeconds?: number;
  /** Called with the reason of each refusal. The reader itself is not told. */
  readonly onRefused?: (reason: string) => void;
}

interface Wanted {
  readonly resource: Resource;
  readonly namespace: string;
}

/** All readers share an account, so nobody must guess the inbox or the consumer of another one. */
const SECRET_INBOX = /^_INBOX_([A-Za-z0-9]{22,})$/;

export function answerAuthCallouts(options: AuthCalloutOptions): { stop(): Promise<void> } {
  const { connection, bucket, issuer, onRefused = () => {} } = options;
  const consumers = new ReaderConsumers(connection, bucket, onRefused);
  const answer = async (message: Msg): Promise<void> => {
    const request = decode<AuthorizationRequest>(message.string()).nats;
    const { user_nkey: user, server_id: server } = request;
    if (user === undefined || server === undefined) return;
    const verdict = await grant(options, consumers, request).then(
      (jwt) => ({ jwt }),
      (error: Error) => {
        onRefused(error.message);
        return { error: error.message };
      },
    );
    message.respond(await encodeAuthorizationResponse(user, server.id, issuer, verdict, {}));
  };
  const callouts = connection.subscribe('$SYS.REQ.USER.AUTH', {
    callback: (error, message) => {
      if (error) onRefused(error.message);
      else answer(message).catch((failure: Error) => onRefused(failure.message));
    },
  });
  return {
    stop: async () => {
      consumers.stop();
      await callouts.drain();
    },
  };
}

/** The JWT of a user with exactly the subjects that it wants; rejects if one of them is not permitted. */
async function grant(
  options: AuthCalloutOptions,
  consumers: ReaderConsumers,
  { user_nkey: key = '', connect_opts: connect }: Partial<AuthorizationRequest>,
): Promise<string> {
  const { client, issuer, bucket, accounts, validSeconds = 600 } = options;
  const inboxPrefix = connect?.name ?? '';
  const [, id] = SECRET_INBOX.exec(inboxPrefix) ?? [];
  if (id === undefined) {
    throw new Error(
      'the name of the connection must be its inboxPrefix: _INBOX_ and 22 random characters',
    );
  }
  const wanted = readWanted(connect?.user ?? '', options.resources);
  const user = await userOf(client, connect?.pass ?? '');
  await Promise.all(wanted.map((scope) => checkAccess(client, user, scope)));
  const rights = wanted.map((scope, at) =>
    natsReaderSubjects({ ...scope, bucket, accounts, inboxPrefix, consumer: `${id}_${at}` }),
  );
  const permissions = {
    pub: { allow: rights.flatMap(({ publish }) => publish) },
    sub: { allow: rights.flatMap(({ subscribe }) => subscribe) },
  };
  const exp = Math.floor(Date.now() / 1000) + validSeconds;
  for (const each of rights) await consumers.permit(each, exp * 1000);
  return encodeUser(user.username ?? '', key, issuer, permissions, { aud: accounts.reader, exp });
}

/** Reads `pods/shop,deployments.apps/shop`. */
function readWanted(text: string, resources: readonly Resource[]): Wanted[] {
  return text.split(',').map((part) => {
    const [kind = '', namespace = ''] = part.split('/');
    const resource = resources.find(
      ({ group, plural }) => kind === (group === '' ? plural : `${plural}.${group}`),
    );
    if (resource === undefined) throw new Error(`the bucket has no kind '${kind}'`);
    if (!resource.namespaced && namespace !== '') throw new Error(`${kind} have no namespace`);
    return { resource, namespace };
  });
}

async function userOf(client: KubeClient, token: string): Promise<UserInfo> {
  const review = { metadata: {}, spec: { token } };
  const { status } = await createResourceClient(client, tokenReviews).create(review);
  if (status?.authenticated !== true || status.user === undefined) {
    throw new Error(`the token is not valid: ${status?.error ?? 'it belongs to no user'}`);
  }
  return status.user;
}

async function checkAccess(
  client: KubeClient,
  { username = '', groups = [], uid = '', extra = {} }: UserInfo,
  { resource: { group, plural }, namespace }: Wanted,
): Promise<void> {
  const reviews = createResourceClient(client, subjectAccessReviews);
  for (const verb of ['list', 'watch']) {
    const resourceAttributes = { verb, group, resource: plural, namespace };
    const spec = { user: username, groups, uid, extra, resourceAttributes };
    const { status } = await reviews.create({ metadata: {}, spec });
    if (status?.allowed !== true) {
      throw new Error(`${username} may not ${verb} ${plural} in ${namespace || 'all namespaces'}`);
    }
  }
}
