/** Creates the stream of a bucket, or checks the settings of an existing one. */
import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { ApiError } from '../../meta/api-error.ts';
import { bucketSubjects, streamOf } from '../layout.ts';

/** The settings without which a bucket could lose changes or readers could not follow it. */
function required(bucket: string): Readonly<Record<string, unknown>> {
  return {
    subjects: [bucketSubjects(bucket)],
    retention: RetentionPolicy.Limits,
    // One message per subject: the newest state of each object.
    max_msgs_per_subject: 1,
    max_msgs: -1,
    max_bytes: -1,
    max_age: 0,
    discard: DiscardPolicy.New,
    allow_direct: true,
    allow_msg_ttl: true,
    allow_atomic: true,
    deny_delete: true,
  };
}

/** The settings that differ from the required ones, in words. */
export function wrongSettings(bucket: string, config: object): string[] {
  const present = config as Readonly<Record<string, unknown>>;
  const wrong: string[] = [];
  for (const [name, value] of Object.entries(required(bucket))) {
    const actual = present[name] ?? (typeof value === 'boolean' ? false : undefined);
    const isLimit = name === 'max_bytes';
    if (isLimit || JSON.stringify(actual) === JSON.stringify(value)) continue;
    wrong.push(`${name} is ${JSON.stringify(actual)} and must be ${JSON.stringify(value)}`);
  }
  // A marker would be a second message for a deletion that has its message already.
  if ((present['subject_delete_marker_ttl'] ?? 0) !== 0) {
    wrong.push('subject_delete_marker_ttl is set and must not be');
  }
  return wrong;
}

/** Returns the stream of a bucket, created if it is absent. Rejects if its settings differ from the required ones. */
export async function ensureStream(
  manager: JetStreamManager,
  bucket: string,
  replicas: number,
): Promise<StreamInfo> {
  const name = streamOf(bucket);
  let info: StreamInfo;
  try {
    info = await manager.streams.info(name);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 10059) throw error;
    info = await manager.streams.add({
      ...required(bucket),
      name,
      storage: StorageType.File,
      num_replicas: replicas,
      allow_rollup_hdrs: true,
      description: 'Objects of Kubernetes, published by rx-informer',
    });
  }
  const wrong = wrongSettings(bucket, info.config);
  if (wrong.length === 0) return info;
  const message = `the stream ${name} has settings that a bucket must not have: ${wrong.join('; ')}. Change them, or choose another bucket; a publisher creates the stream if it does not exist`;
  throw new ApiError({ code: 409, reason: 'WrongSettings', message });
}
