/** Change sets of informers on NATS JetStream, so that any number of readers share one watch on the API server. */

export type { TooLargeObject, UnwritableObject } from './publish/contents.ts';
export {
  type NatsPublisher,
  type PublishToNatsOptions,
  publishToNats,
} from './publish/publish-to-nats.ts';
export type { NatsPublisherPhase, NatsPublisherStatus } from './publish/publisher-status.ts';
export { createNatsListWatch, type NatsListWatchOptions } from './read/create-nats-list-watch.ts';
export {
  type NatsReaderRights,
  type NatsReaderScope,
  natsReaderSubjects,
} from './reader-subjects.ts';
