/** Rights by subject: a reader of one namespace reaches nothing else. */
import type { NatsConnection } from '@nats-io/nats-core';
import { createSharedInformer } from 'rx-informer';
import { createNatsListWatch, natsReaderSubjects } from 'rx-informer/nats';
import { pods, secrets } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NatsServer } from './nats-server.ts';
import { contents, eventually, Scene } from './scene.ts';

let nats: NatsServer;
let scene: Scene;
let shop: NatsConnection;

const { publish, subscribe } = natsReaderSubjects({
  bucket: 'k8s',
  resource: pods,
  namespace: 'shop',
  inboxPrefix: '_INBOX_shop',
});

beforeAll(async () => {
  const list = (subjects: readonly string[]) => JSON.stringify(subjects);
  const rights = `publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} }`;
  nats = await NatsServer.start({
    config: `
      authorization {
        users: [
          { user: publisher, password: p }
          { user: shop, password: p, permissions: { ${rights} } }
        ]
      }`,
    user: { user: 'publisher', pass: 'p' },
  });
  scene = new Scene(nats);
  scene.create('shop', 'web-0');
  scene.create('bank', 'db-0');
  await scene.publisher();
  shop = await nats.connect({ user: 'shop', pass: 'p', inboxPrefix: '_INBOX_shop' });
});
afterAll(async () => {
  await scene.stop();
  await nats.stop();
});

/** The name of the error of a request that the server must refuse. */
async function refusal(subject: string, body: object): Promise<string> {
  try {
    await shop.request(subject, JSON.stringify(body), { timeout: 1_000 });
    return 'answered';
  } catch (error) {
    const { name, cause } = error as Error;
    return (cause as Error | undefined)?.name ?? name;
  }
}

function creation(filter: object) {
  const config = { name: 'mine', ack_policy: 'none', deliver_policy: 'all', ...filter };
  return { stream_name: 'KV_k8s', config, action: '' };
}

describe('the rights of a reader of one namespace', () => {
  it('J20: suffice for a list and a watch of the namespace', async () => {
    const source = createNatsListWatch(shop, pods, { bucket: 'k8s', namespace: 'shop' });
    const informer = createSharedInformer(source, { backoff: () => 50 });
    informer.start();
    await informer.whenSynced({ timeoutMs: 10_000 });
    scene.create('shop', 'web-1');
    await eventually(() => contents(informer as never).length === 2, 'web-1');
    await informer.stop();
    const empty = createNatsListWatch(shop, pods, { bucket: 'k8s', namespace: 'shop' });
    expect(empty.scope).toBe('shop');
  });

  it('J20: a request for all namespaces, or for another one, fails and names the missing permission', async () => {
    for (const namespace of [undefined, 'bank']) {
      const source = createNatsListWatch(shop, pods, {
        bucket: 'k8s',
        ...(namespace === undefined ? {} : { namespace }),
      });
      const informer = createSharedInformer(source, { backoff: () => 50 });
      informer.start();
      await eventually(() => informer.status.error !== undefined, 'the refusal');
      expect(informer.status.blocked).toBe('forbidden');
      expect(informer.status.error?.message).toContain('lacks a permission');
      expect(informer.indexer.list()).toEqual([]);
      await informer.stop();
    }
  });

  const prefix = '$JS.API';
  it.each([
    ['a wider filter', `${prefix}.CONSUMER.CREATE.KV_k8s.mine.$KV.k8s.core.pods.>`, {}],
    ['no filter', `${prefix}.CONSUMER.CREATE.KV_k8s.mine`, creation({})],
    [
      'several filters',
      `${prefix}.CONSUMER.CREATE.KV_k8s`,
      creation({ filter_subjects: ['$KV.k8s.core.pods.shop.>', '$KV.k8s.core.pods.bank.>'] }),
    ],
    ['a durable consumer', `${prefix}.CONSUMER.DURABLE.CREATE.KV_k8s.mine`, creation({})],
    ['another bucket', `${prefix}.CONSUMER.CREATE.KV_other.mine.$KV.other.core.pods.shop.>`, {}],
    ['Secrets', `${prefix}.CONSUMER.CREATE.KV_k8s.mine.$KV.k8s.core.${secrets.plural}.shop.>`, {}],
    ['the names of consumers', `${prefix}.CONSUMER.NAMES.KV_k8s`, {}],
    ['a list of consumers', `${prefix}.CONSUMER.LIST.KV_k8s`, {}],
    ['the state of a consumer', `${prefix}.CONSUMER.INFO.KV_k8s.any`, {}],
    ['the names of all objects', `${prefix}.STREAM.INFO.KV_k8s`, { subjects_filter: '>' }],
    ['an object by subject', `${prefix}.DIRECT.GET.KV_k8s.$KV.k8s.core.pods.bank.db-0`, {}],
    ['any message', `${prefix}.DIRECT.GET.KV_k8s`, { last_by_subj: '$KV.k8s.core.pods.bank.db-0' }],
    ['a purge', `${prefix}.STREAM.PURGE.KV_k8s`, {}],
    ['a write', '$KV.k8s.core.pods.shop.web-0', {}],
  ])('J21: do not permit %s', async (_title, subject, body) => {
    expect(await refusal(subject, body)).toBe('PermissionViolationError');
  });

  it('J21: a filter in the body that differs from the permitted one in the subject is refused', async () => {
    const subject = `${prefix}.CONSUMER.CREATE.KV_k8s.mine.$KV.k8s.core.pods.shop.>`;
    const wide = creation({ filter_subject: '$KV.k8s.core.pods.>' });
    const answer = await shop.request(subject, JSON.stringify(wide));
    expect(answer.json()).toMatchObject({ error: { err_code: 10131 } });
    const own = creation({
      filter_subjects: ['$KV.k8s.core.pods.shop.>', '$KV.k8s.core.pods.bank.>'],
    });
    const several = await shop.request(subject, JSON.stringify(own));
    expect(several.json()).toMatchObject({ error: { code: 400 } });
  });

  it('J21: messages on their way to another reader cannot be received', async () => {
    const errors: unknown[] = [];
    for (const subject of ['$KV.k8s.>', '_INBOX.>', '>']) {
      const subscription = shop.subscribe(subject, {
        callback: (error) => {
          if (error) errors.push(error);
        },
      });
      await shop.flush();
      subscription.unsubscribe();
    }
    expect(errors).toHaveLength(3);
  });
});
