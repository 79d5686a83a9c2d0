/** The bucket of a collection, and its record of the complete collection. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { SchedulerLike } from 'rxjs';
import type { ApiError } from '../../meta/api-error.ts';
import { natsError, unavailable } from '../failures.ts';
import { metaSubject } from '../layout.ts';
import { type Meta, readMeta } from '../meta.ts';
import { type GivenConsumer, managerOf } from '../pull.ts';
import type { SessionScope } from './session.ts';

/** The collection that is read, and how. */
export interface Bucket {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly prefix: string;
  readonly consumer: GivenConsumer | undefined;
  readonly scope: SessionScope;
  readonly scheduler: SchedulerLike;
  readonly batch: number;
  readonly idleMs: number;
}

/** A `_meta` record, its sequence, and when the server stored it. */
export interface Recorded {
  readonly meta: Meta;
  readonly sequence: number;
  readonly storedMs: number;
}

/** The record of the complete collection, which shows that a namespace without messages is empty. */
export async function readWhole(bucket: Bucket): Promise<Recorded> {
  const { connection, stream, prefix, scope } = bucket;
  try {
    const manager = await managerOf(connection);
    const subject = metaSubject(prefix, '');
    const message = await manager.direct.getMessage(stream, { last_by_subj: subject });
    const meta = message === null ? undefined : readMeta(message.string());
    if (message === null || meta === undefined || meta.isOpen === true) throw unpublished(scope);
    return { meta, sequence: message.seq, storedMs: message.time.getTime() };
  } catch (error) {
    throw natsError(
      error,
      `${scope.where}: reading the \`_meta\` record of the complete collection`,
    );
  }
}

/** The error of a collection without a record. */
export function unpublished({ where }: SessionScope): ApiError {
  return unavailable(
    `${where}: the bucket has no \`_meta\` record of this collection, so no complete list was published yet; is the publisher running?`,
  );
}
