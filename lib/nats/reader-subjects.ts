/** The subjects that a reader of a bucket needs, for permissions. */
import type { GroupVersionResource } from '../meta/resource.ts';
import { checkedBucket, collectionPrefix, metaSubject, scopeFilter, streamOf } from './layout.ts';

/** The argument of {@link natsReaderSubjects}. */
export interface NatsReaderScope {
  readonly bucket: string;
  readonly resource: Pick<GroupVersionResource, 'group' | 'plural'>;
  /** Absent for all namespaces. */
  readonly namespace?: string | undefined;
  /**
   * The `inboxPrefix` with which the reader connects. It must be secret or the user's own: a reader that may subscribe
   * to the inboxes of others receives their objects.
   */
  readonly inboxPrefix: string;
}

/**
 * Returns the subjects to which a NATS user must be permitted to publish and to subscribe, to read one collection with
 * `createNatsListWatch`. They permit nothing else: no other namespace, no other collection and no names of consumers,
 * which are secrets, because a request for messages names only the consumer. Throws a `TypeError` if the bucket or
 * the inbox prefix is not valid in a subject.
 *
 * @example
 * ```ts
 * import { natsReaderSubjects } from 'rx-informer/nats';
 * import { pods } from 'rx-informer/resources';
 *
 * const scope = { bucket: 'k8s', resource: pods, namespace: 'shop', inboxPrefix: '_INBOX_7f3a' };
 * natsReaderSubjects(scope).publish[0]; // => '$JS.API.CONSUMER.CREATE.KV_k8s.*.$KV.k8s.core.pods.shop.>'
 * ```
 */
export function natsReaderSubjects({
  bucket,
  resource,
  namespace = '',
  inboxPrefix,
}: NatsReaderScope): {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
} {
  const stream = streamOf(checkedBucket(bucket, 'natsReaderSubjects'));
  if (typeof inboxPrefix !== 'string' || !/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(inboxPrefix)) {
    throw new TypeError(
      `natsReaderSubjects: inboxPrefix is ${JSON.stringify(inboxPrefix)}; it must consist of letters, digits, '-', '_' and single dots`,
    );
  }
  const prefix = collectionPrefix(bucket, resource);
  return {
    publish: [
      `$JS.API.CONSUMER.CREATE.${stream}.*.${scopeFilter(prefix, namespace)}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
      `$JS.API.CONSUMER.DELETE.${stream}.*`,
      // The record of the complete collection: it shows that a namespace without messages is empty.
      `$JS.API.DIRECT.GET.${stream}.${metaSubject(prefix, '')}`,
    ],
    subscribe: [`${inboxPrefix}.>`],
  };
}
