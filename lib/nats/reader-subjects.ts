/** The rights of a reader that need not be trusted: its consumer, the exports and imports of the accounts, its subjects. */
import type { GroupVersionResource } from '../meta/resource.ts';
import { checkedToken, collectionPrefix, metaSubject, scopeFilter, streamOf } from './layout.ts';

/** The argument of {@link natsReaderSubjects}. */
export interface NatsReaderScope {
  readonly bucket: string;
  readonly resource: Pick<GroupVersionResource, 'group' | 'plural'>;
  /** Absent for all namespaces. */
  readonly namespace?: string | undefined;
  /** The name of the reader's consumer. Readers of one account must not know the names of each other's consumers. */
  readonly consumer: string;
  /** The `inboxPrefix` with which the reader connects. Readers of one account must not know each other's either. */
  readonly inboxPrefix: string;
  /** The names of the account that has the bucket, and of the reader's account, which must be another one. */
  readonly accounts: { readonly bucket: string; readonly reader: string };
}

/** The rights of one reader. Its parts have the form of NATS: JSON is valid in `nats.conf`. */
export interface NatsReaderRights {
  /** The stream that has the consumer. */
  readonly stream: string;
  /**
   * The consumer, as `jetstreamManager().consumers.add(stream, consumer)` and `nats consumer add --config` take it. Only
   * its owner may choose the filter. To revoke the rights, delete it.
   */
  readonly consumer: {
    readonly durable_name: string;
    readonly filter_subject: string;
    readonly deliver_policy: 'all';
    readonly ack_policy: 'none';
    readonly replay_policy: 'instant';
  };
  /** The `exports` of the bucket's account. */
  readonly exports: readonly {
    readonly service: string;
    readonly response: 'stream';
    readonly accounts: readonly string[];
  }[];
  /** The `imports` of the reader's account. */
  readonly imports: readonly {
    readonly service: { readonly account: string; readonly subject: string };
  }[];
  /** The subjects to which the reader's user may publish. */
  readonly publish: readonly string[];
  /** The subjects to which it may subscribe. */
  readonly subscribe: readonly string[];
}

/**
 * Returns what a NATS user needs to read one collection with `createNatsListWatch` and its option `consumer`, and
 * nothing else. An administrator makes the consumer, so that the reader chooses no filter; the reader is in an account
 * of its own, because NATS checks no reply subject, and within the account of the bucket a reader could have messages
 * delivered into it. Throws a `TypeError` if a name is not valid in a subject, or if the accounts are one.
 *
 * @example
 * ```ts
 * import { natsReaderSubjects } from 'rx-informer/nats';
 * import { pods } from 'rx-informer/resources';
 *
 * const { publish, consumer } = natsReaderSubjects({
 *   ...{ bucket: 'k8s', resource: pods, namespace: 'shop' },
 *   ...{ consumer: 'shop-page', inboxPrefix: '_INBOX_7f3a' },
 *   accounts: { bucket: 'BUCKET', reader: 'SHOP' },
 * });
 * publish[0]; // => '$JS.API.CONSUMER.MSG.NEXT.KV_k8s.shop-page'
 * consumer.filter_subject; // => '$KV.k8s.core.pods.shop.>'
 * ```
 */
export function natsReaderSubjects({
  bucket,
  resource,
  namespace = '',
  consumer,
  inboxPrefix,
  accounts,
}: NatsReaderScope): NatsReaderRights {
  const stream = streamOf(checkedToken(bucket, 'natsReaderSubjects: bucket'));
  checkedToken(consumer, 'natsReaderSubjects: consumer');
  for (const token of String(inboxPrefix).split('.')) {
    checkedToken(token, 'natsReaderSubjects: a part of inboxPrefix');
  }
  if (accounts.bucket === accounts.reader) {
    throw new TypeError(
      `natsReaderSubjects: accounts.reader is ${JSON.stringify(accounts.reader)}, which has the bucket; it must be another account`,
    );
  }
  const prefix = collectionPrefix(bucket, resource);
  const publish = [
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
    `$JS.API.CONSUMER.RESET.${stream}.${consumer}`,
    // The record of the complete collection: it shows that a namespace without messages is empty.
    ...(namespace === '' ? [] : [`$JS.API.DIRECT.GET.${stream}.${metaSubject(prefix, '')}`]),
  ];
  return {
    stream,
    consumer: {
      durable_name: consumer,
      filter_subject: scopeFilter(prefix, namespace),
      deliver_policy: 'all',
      ack_policy: 'none',
      replay_policy: 'instant',
    },
    exports: publish.map((service) => ({
      service,
      response: 'stream',
      accounts: [accounts.reader],
    })),
    imports: publish.map((subject) => ({ service: { account: accounts.bucket, subject } })),
    publish,
    subscribe: [`${inboxPrefix}.>`],
  };
}
