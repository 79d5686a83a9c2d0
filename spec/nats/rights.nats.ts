/** The rights of readers that need not be trusted: they suffice, and a hostile reader reaches nothing else with them. */
import type { JetStreamManager } from '@nats-io/jetstream';
import { createInbox, type NatsConnection } from '@nats-io/nats-core';
import { createSharedInformer } from 'rx-informer';
import { createNatsListWatch, natsReaderSubjects } from 'rx-informer/nats';
import { pods, secrets } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually, HANG_MS } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';
import { contents, patient, Scene } from './scene.ts';

let nats: NatsServer;
let scene: Scene;
let publisher: Awaited<ReturnType<Scene['publisher']>>['publisher'];
let admin: NatsConnection;
let manager: JetStreamManager;
let hostile: NatsConnection;

/** `shop` and `bank` have accounts of their own; `shared` is in that of shop. */
const rightsOf = (name: string, namespace: string, account: string) =>
  natsReaderSubjects({
    ...{ bucket: 'k8s', resource: pods, namespace },
    ...{ consumer: `${name}-consumer`, inboxPrefix: `_INBOX_${name}` },
    accounts: { bucket: 'BUCKET', reader: account },
  });
const shop = rightsOf('shop', 'shop', 'SHOP');
const shared = rightsOf('shared', 'shared', 'SHOP');
const bank = rightsOf('bank', 'bank', 'BANK');
const everything = natsReaderSubjects({
  ...{ bucket: 'k8s', resource: pods, consumer: 'all-consumer', inboxPrefix: '_INBOX_all' },
  accounts: { bucket: 'BUCKET', reader: 'ALL' },
});

const user = (name: string, { publish, subscribe }: typeof shop) => ({
  ...{ user: name, password: 'p' },
  permissions: { publish, subscribe },
});

const isOfShop = ({ subject }: { subject: string }) => shop.publish.includes(subject);

const accounts = {
  BUCKET: {
    jetstream: 'enabled',
    users: [{ user: 'publisher', password: 'p' }],
    exports: [shop, shared, bank, everything].flatMap(({ exports }) => exports),
  },
  SHOP: {
    users: [user('shop', shop), user('shared', shared), { user: 'spy', password: 'p' }],
    // An account may import a subject once.
    imports: [...shop.imports, ...shared.imports.filter(({ service }) => !isOfShop(service))],
  },
  BANK: { users: [user('bank', bank)], imports: bank.imports },
  ALL: { users: [user('all', everything)], imports: everything.imports },
};

const login = (name: string) => ({ user: name, pass: 'p', inboxPrefix: `_INBOX_${name}` });
const NEXT = '$JS.API.CONSUMER.MSG.NEXT.KV_k8s';
const RESET = '$JS.API.CONSUMER.RESET.KV_k8s';

beforeAll(async () => {
  nats = await NatsServer.start({
    config: `accounts: ${JSON.stringify(accounts)}`,
    user: { user: 'publisher', pass: 'p' },
  });
  scene = new Scene(nats);
  scene.create('shop', 'web-0');
  scene.create('bank', 'db-0');
  ({ publisher } = await scene.publisher(patient));
  await eventually(() => publisher.status.phase === 'publishing', 'the bucket is complete');
  admin = await nats.connect();
  manager = await managerOf(admin);
  for (const { stream, consumer } of [shop, shared, bank, everything]) {
    await manager.consumers.add(stream, consumer);
  }
  hostile = await nats.connect(login('shop'));
});
afterAll(async () => {
  await scene.stop();
  await nats.stop();
});

/** A reader with the rights of a user. Its consumer serves one reader at a time. */
async function reader(name: string, namespace?: string) {
  const made = await scene.reader({
    ...{ ...patient, consumer: `${name}-consumer`, connected: login(name) },
    ...(namespace === undefined ? {} : { namespace }),
  });
  onTestFinished(() => made.informer.stop());
  return made;
}

/** The name of the error of a request that the server must refuse. */
async function refusal(subject: string, body: object): Promise<string> {
  try {
    await hostile.request(subject, JSON.stringify(body), { timeout: HANG_MS });
    return 'answered';
  } catch (error) {
    const { name, cause } = error as Error;
    return (cause as Error | undefined)?.name ?? name;
  }
}

/** The hostile reader asks for all of its messages, to a subject of its choice. */
async function pullTo(reply: string, request: object = { batch: 100, no_wait: true }) {
  await hostile.request(`${RESET}.shop-consumer`, '{"seq":1}', { timeout: HANG_MS });
  hostile.publish(`${NEXT}.shop-consumer`, JSON.stringify(request), { reply });
  await hostile.flush();
}

/** Waits until the server has answered the hostile reader's requests so far: a consumer answers in turn. */
async function answered() {
  const inbox = createInbox('_INBOX_shop');
  let answers = 0;
  const own = hostile.subscribe(inbox, { callback: () => void answers++ });
  await pullTo(inbox);
  await eventually(() => answers > 0, 'the consumer answers');
  own.unsubscribe();
  await Promise.all([hostile.flush(), admin.flush()]);
}

describe('the rights of a reader', () => {
  it('J20: suffice for a list and a watch of a namespace, of an empty one, and of all', async () => {
    const { informer: one } = await reader('bank', 'bank');
    const { informer: none } = await reader('shared', 'shared');
    const { informer: all } = await reader('all');
    await Promise.all([one, all].map((each) => each.whenSynced()));
    scene.create('bank', 'db-1');
    await eventually(() => contents(one).length === 2, 'db-1');
    await eventually(() => contents(all).join() === scene.truth().join(), 'all');
    await none.whenSynced();
    await eventually(() => [one, none, all].every(({ status }) => status.live), 'all are live');
    scene.create('shared', 'x');
    await eventually(() => contents(none).length === 1, 'the first object');
  });

  it('J20: suffice to refresh, to continue after a crash of the server, and to read again from the beginning', async () => {
    const { informer } = await reader('bank', 'bank');
    await informer.whenSynced();
    await informer.refresh();
    await nats.kill();
    await nats.run();
    scene.create('bank', 'db-2');
    const has = (name: string) => () => informer.indexer.getByKey(`bank/${name}`) !== undefined;
    await eventually(has('db-2'), 'db-2');
    expect(informer.status.relists).toBeLessThanOrEqual(1);
    await informer.stop();
    informer.start();
    await informer.whenSynced();
    expect(has('db-2')()).toBe(true);
  });

  it('J20: a request for another namespace fails, and so does one without a consumer, which names the missing permission', async () => {
    const connection = await nats.connect(login('bank'));
    const source = createNatsListWatch(connection, pods, { bucket: 'k8s', namespace: 'bank' });
    const informer = createSharedInformer(source, { backoff: () => 50 });
    onTestFinished(() => informer.stop());
    informer.start();
    // A slow server may cause other errors first.
    await eventually(() => informer.status.blocked === 'forbidden', 'the refusal');
    expect(informer.status.error?.message).toContain('lacks a permission');
    expect(informer.status.error?.message).toContain('the option consumer');
  });

  it('J20: the error of a reader whose consumer was deleted says what to look at', async () => {
    const { stream, consumer } = everything;
    const { informer } = await reader('all');
    await informer.whenSynced();
    await manager.consumers.delete(stream, consumer.durable_name);
    await eventually(
      () => /does the consumer all-consumer exist/.test(informer.status.error?.message ?? ''),
      'it',
    );
    expect(informer.status.live).toBe(false);
    await manager.consumers.add(stream, consumer);
    await eventually(() => informer.status.live, 'the reader continues');
  });

  const prefix = '$JS.API';
  const creation = { stream_name: 'KV_k8s', config: { name: 'mine', deliver_subject: 'any' } };
  it.each([
    ['a consumer', `${prefix}.CONSUMER.CREATE.KV_k8s.mine.$KV.k8s.core.pods.shop.>`, creation],
    ['a consumer without a filter', `${prefix}.CONSUMER.CREATE.KV_k8s.mine`, creation],
    ['a change of its own consumer', `${prefix}.CONSUMER.CREATE.KV_k8s.shop-consumer`, creation],
    ['a durable consumer', `${prefix}.CONSUMER.DURABLE.CREATE.KV_k8s.mine`, creation],
    ['the consumer of another reader', `${NEXT}.bank-consumer`, {}],
    ['a reset of that consumer', `${RESET}.bank-consumer`, {}],
    ['the deletion of a consumer', `${prefix}.CONSUMER.DELETE.KV_k8s.bank-consumer`, {}],
    ['the names of consumers', `${prefix}.CONSUMER.NAMES.KV_k8s`, {}],
    ['a list of consumers', `${prefix}.CONSUMER.LIST.KV_k8s`, {}],
    ['the state of a consumer', `${prefix}.CONSUMER.INFO.KV_k8s.shop-consumer`, {}],
    ['the names of all objects', `${prefix}.STREAM.INFO.KV_k8s`, { subjects_filter: '>' }],
    ['an object by subject', `${prefix}.DIRECT.GET.KV_k8s.$KV.k8s.core.pods.bank.db-0`, {}],
    ['any message', `${prefix}.DIRECT.GET.KV_k8s`, { last_by_subj: '$KV.k8s.core.pods.bank.db-0' }],
    [
      'the record of Secrets',
      `${prefix}.DIRECT.GET.KV_k8s.$KV.k8s.core.${secrets.plural}._._meta`,
      {},
    ],
    ['a purge', `${prefix}.STREAM.PURGE.KV_k8s`, {}],
    ['a write', '$KV.k8s.core.pods.shop.web-0', {}],
  ])('J21: do not permit %s', async (_title, subject, body) => {
    expect(await refusal(subject, body)).toBe('PermissionViolationError');
  });

  it('J21: messages on their way to another reader cannot be received', async () => {
    const errors: unknown[] = [];
    for (const subject of ['$KV.k8s.>', '_INBOX.>', '_INBOX_bank.>', '$JS.>', '>']) {
      const subscription = hostile.subscribe(subject, {
        callback: (error) => {
          if (error) errors.push(error);
        },
      });
      await hostile.flush();
      subscription.unsubscribe();
    }
    expect(errors).toHaveLength(5);
  });
});

describe('a hostile reader', () => {
  it('J21: reaches no subject of the bucket by the reply of its requests, and the publisher goes on', async () => {
    const { informer: victim } = await reader('bank', 'bank');
    await victim.whenSynced();
    // More first messages of sets than a server permits batches that have begun.
    for (let at = 0; at < 60; at++) {
      scene.create('shop', `mine-${at}`);
      const isPublished = () => publisher.status.objects === scene.truth().length;
      await eventually(isPublished, 'it is published in a set of its own');
    }
    const heard: string[] = [];
    const noise = admin.subscribe('>', {
      callback: (_error, { subject, reply = '' }) => {
        const isOwn = /^\$JS\.API\.CONSUMER\.(MSG\.NEXT|RESET)\.KV_k8s\.shop-consumer$/;
        if (isOwn.test(subject)) return;
        if (/^(\$JS\.API|billing)/.test(subject) && !reply.startsWith('_INBOX.'))
          heard.push(subject);
      },
    });
    const before = await manager.streams.info('KV_k8s', { subjects_filter: '>' });
    for (const reply of [
      '$KV.k8s.core.pods.bank.injected',
      '$KV.k8s.core.pods.bank.db-0',
      '$KV.k8s.core.pods._._meta',
      '$KV.other.anything',
      'billing.commands',
      `${prefixOf('STREAM')}.PURGE.KV_k8s`,
      `${prefixOf('CONSUMER')}.DELETE.KV_k8s.bank-consumer`,
      `${RESET}.bank-consumer`,
      `${NEXT}.bank-consumer`,
      `${NEXT}.*`,
    ]) {
      await pullTo(reply);
      hostile.publish(`${RESET}.shop-consumer`, '{"seq":1}', { reply });
    }
    await hostile.flush();
    await answered();
    scene.create('bank', 'urgent');
    const hasIt = () => victim.indexer.getByKey('bank/urgent') !== undefined;
    await eventually(hasIt, 'the publisher goes on');
    await admin.flush();
    expect([victim.status.relists, victim.status.reconnects]).toEqual([0, 0]);
    const after = await manager.streams.info('KV_k8s', { subjects_filter: '>' });
    noise.unsubscribe();
    const added = Object.keys(after.state.subjects ?? {}).filter(
      (subject) => before.state.subjects?.[subject] === undefined,
    );
    expect(added).toEqual(['$KV.k8s.core.pods.bank.urgent']);
    expect(heard).toEqual([]);
    await eventually(() => publisher.status.phase === 'publishing', 'the publisher publishes');
  });

  it('J21: injects nothing for a reader of another account, nor for one of its own account whose inbox it knows', async () => {
    const inboxes = new Map<string, string>();
    const spy = await nats.connect({ user: 'spy', pass: 'p' });
    const listen = (connection: NatsConnection, name: string) =>
      connection.subscribe(`${NEXT}.${name}-consumer`, {
        callback: (_error, { reply = '' }) => void inboxes.set(name, reply),
      });
    listen(spy, 'shared');
    listen(admin, 'bank');
    await Promise.all([spy.flush(), admin.flush()]);
    const { informer: neighbour } = await reader('shared', 'shared');
    const { informer: stranger } = await reader('bank', 'bank');
    const victims = [neighbour, stranger];
    await Promise.all(victims.map((victim) => victim.whenSynced()));
    await eventually(() => inboxes.has('shared'), 'the inbox of the neighbour is known');
    const inbox = inboxes.get('shared') ?? '';
    expect(inbox).toMatch(/^_INBOX_shared\./);
    const before = victims.map(contents);
    for (const reply of [inbox, '_INBOX_bank.guess', ...inboxes.values()]) await pullTo(reply);
    await answered();
    expect(victims.map(contents)).toEqual(before);
    scene.create('shared', 'later');
    scene.create('bank', 'later');
    await eventually(
      () =>
        victims.every((victim, at) => contents(victim).length === (before[at]?.length ?? 0) + 1),
      'both readers continue',
    );
    expect(victims.flatMap(({ status }) => [status.relists, status.reconnects])).toEqual([
      0, 0, 0, 0,
    ]);
    const foreign = victims
      .flatMap((victim) => contents(victim))
      .filter((key) => key.startsWith('shop/'));
    expect(foreign).toEqual([]);
  });

  it('J21: within one account NATS checks no reply subject, so a reader there writes what it wants', async () => {
    const heard: string[] = [];
    const billing = admin.subscribe('billing.commands', {
      callback: (_error, { subject }) => void heard.push(subject),
    });
    admin.publish(`${NEXT}.bank-consumer`, '{"batch":1,"no_wait":true}', {
      reply: 'billing.commands',
    });
    await eventually(() => heard.length > 0, 'the server publishes to the chosen subject');
    billing.unsubscribe();
  });

  it('J21: receives nothing that is written after its consumer was deleted, by whatever it asked before', async () => {
    const got: string[] = [];
    const inbox = createInbox('_INBOX_shop');
    const keep = (connection: NatsConnection) =>
      connection.subscribe(inbox, {
        callback: (_error, message) => void got.push(message.string()),
      });
    keep(hostile);
    // Without `expires` a request waits for ever.
    for (const request of [{ batch: 1_000 }, { batch: 1_000, expires: 9e18 }]) {
      await pullTo(inbox, request);
    }
    scene.create('shop', 'while-permitted');
    await eventually(() => got.some((text) => text.includes('while-permitted')), 'it arrives');
    const { informer: witness } = await reader('all');
    await witness.whenSynced();
    await manager.consumers.delete(shop.stream, shop.consumer.durable_name);
    scene.create('shop', 'after-revocation');
    const again = await nats.connect(login('shop'));
    keep(again);
    for (const connection of [hostile, again]) {
      connection.publish(`${NEXT}.shop-consumer`, '{"batch":10}', { reply: inbox });
      connection.publish(`${RESET}.shop-consumer`, '{"seq":1}', { reply: inbox });
    }
    await eventually(() => publisher.status.objects === scene.truth().length, 'it is published');
    // A later message than the one that it may not get has been delivered, and then all that was sent to it.
    await eventually(() => witness.indexer.has('shop/after-revocation'), 'the witness has it');
    await Promise.all([hostile.flush(), again.flush()]);
    expect(got.filter((text) => text.includes('after-revocation'))).toEqual([]);
  });
});

function prefixOf(part: string): string {
  return `$JS.API.${part}`;
}
