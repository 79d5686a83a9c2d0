/**
 * The publisher's loop: compares the bucket with the store of the informer, then publishes each change. One set is on
 * its way at a time; changes that arrive meanwhile are folded by key. After a failure the bucket is compared again,
 * because a write without an answer may have been stored.
 */
import { nuid } from '@nats-io/nats-core';
import { BehaviorSubject, firstValueFrom, merge, NEVER, Subject, Subscription } from 'rxjs';
import { filter } from 'rxjs/operators';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { connectionEvents, unlessLost } from '../connection-events.ts';
import { publishAtomically } from './atomic-batch.ts';
import { catchUp, publishableVersion } from './catch-up.ts';
import { ChangeFeed } from './change-feed.ts';
import { difference, type Wanted } from './contents.ts';
import { Lead } from './lead.ts';
import { inBatches, type Planned } from './messages.ts';
import { nextSet } from './next-set.ts';
import type { Published } from './published.ts';
import type { PublisherSettings } from './publisher-settings.ts';
import {
  atFirst,
  failureWords,
  type NatsPublisherPhase,
  type NatsPublisherStatus,
  NOT_FOLLOWING,
  publishingWords,
  standbyWords,
  waitingWords,
} from './publisher-status.ts';
import { countBucket, readBucket } from './read-contents.ts';
import { checkSource, takeOver } from './take-over.ts';

/** The largest batch, in bytes. The server holds a batch in memory until it is complete. */
const BATCH_BYTES = 4_194_304;
/**
 * The least time from one set to the next, in milliseconds: a set costs each reader a commit, and the bucket a record per
 * namespace. A change after a pause does not wait.
 */
const GATHER_MS = 50;

export class Publisher<T extends KubernetesObject> {
  readonly #informer: SharedInformer<T>;
  readonly #settings: PublisherSettings;
  readonly status$: BehaviorSubject<NatsPublisherStatus> = new BehaviorSubject(atFirst);
  readonly #wake$ = new Subject<void>();
  readonly #work = new Subscription();
  readonly #passedMs: () => number;
  readonly #lead: Lead;
  readonly #feed: ChangeFeed<T>;
  #published: Published | undefined;
  #isStopped = false;
  #writer = '';
  #comparedMs = 0;
  #beganSetMs = Number.NEGATIVE_INFINITY;
  #recordedMs = 0;
  /** When something was last written, or this process began to lead. Absent while another one does. */
  #wroteMs: number | undefined;
  readonly #unmeasure: (() => void) | undefined;
  #attempt = 0;
  /** Whether something has changed since the loop last looked. */
  #isWoken = false;
  readonly done: Promise<void>;

  constructor(informer: SharedInformer<T>, settings: PublisherSettings) {
    this.#informer = informer;
    this.#settings = settings;
    this.#passedMs = stopwatch(settings.scheduler);
    this.#work.add(
      this.#wake$.subscribe(() => {
        this.#isWoken = true;
      }),
    );
    const { connection, scheduler, elector, record } = settings;
    const lead = { connection, scheduler, elector, patienceMs: record.heartbeatMs };
    this.#lead = new Lead(lead, () => this.#wake$.next());
    this.#feed = new ChangeFeed(informer, () => this.#wake$.next());
    this.#work.add(this.#feed.start());
    this.#unmeasure = settings.metrics?.publisher(settings.labels, () => {
      const wroteMs = this.#wroteMs;
      const silentMs = wroteMs === undefined ? undefined : this.#passedMs() - wroteMs;
      return { ...this.status$.value, silentMs };
    });
    this.done = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake$.next();
    await this.done;
    await this.#lead.stop();
    this.#work.unsubscribe();
    this.#unmeasure?.();
    this.#show('stopped', 'stopped');
    this.status$.complete();
  }

  get #leads(): boolean {
    return this.#lead.isLeading;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      this.#wroteMs = this.#leads ? (this.#wroteMs ?? this.#passedMs()) : undefined;
      try {
        if (!this.#leads) await this.#standBy();
        else if (!this.#feed.isSynced) await this.#waitForInformer();
        else if (this.#feed.mustCompare || this.#published === undefined) {
          // A comparison writes all records, which would be heartbeats.
          await (this.#feed.isFollowing ? this.#compare() : this.#waitForInformer());
        } else if (this.#feed.waiting > 0) await this.#publishPending(this.#published);
        else await this.#idle(this.#published);
      } catch (error) {
        await this.#fail(error);
      }
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isWoken) return;
    await firstValueFrom(merge(longTimer(ms, this.#settings.scheduler), this.#wake$));
  }

  async #standBy(): Promise<void> {
    this.#published = undefined;
    this.#feed.mustCompare = true;
    this.#writer = '';
    this.#show('standby', standbyWords(this.#lead, this.#settings.elector));
    await this.#sleep(Number.POSITIVE_INFINITY);
  }

  async #waitForInformer(): Promise<void> {
    this.#show('waiting', waitingWords(this.#informer.status));
    await this.#sleep(Number.POSITIVE_INFINITY);
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#isStopped) return;
    const { where, backoff, random } = this.#settings;
    this.#feed.mustCompare = true;
    // A write without an answer may have been stored, and a restored store may have lost it. A new term shows that to readers.
    this.#writer = '';
    const { shown, words } = failureWords(error, where);
    const waitMs = backoff(this.#attempt++, random());
    const then = connectionEvents(this.#settings.connection).isLost
      ? 'comparing again when the connection is back'
      : `comparing again in ${waitMs} ms`;
    this.#show('backoff', `${words}; ${then}`, shown);
    const { scheduler, connection } = this.#settings;
    // A publisher that has lost the lead meanwhile has nothing to try again.
    const leads = this.#leads;
    const over$ = this.#wake$.pipe(filter(() => this.#isStopped || this.#leads !== leads));
    const { back$, isLost } = connectionEvents(connection);
    const wait$ = isLost ? NEVER : longTimer(waitMs, scheduler);
    await firstValueFrom(merge(wait$, over$, back$));
  }

  /** Reads the bucket, and publishes what differs from the store. */
  async #compare(): Promise<void> {
    this.#show('comparing', 'comparing the bucket with the store');
    const { connection, scheduler, where } = this.#settings;
    const { namespace = '' } = this.#informer.status;
    const record = { ...this.#settings.record, namespace };
    const contents = await readBucket(this.#settings, this.#passedMs);
    checkSource(record, contents.meta, where);
    const isOver = () => this.#isStopped || !this.#feed.isSynced || !this.#leads;
    await catchUp(this.#informer, contents, {
      ...{ scheduler, isOver, woken$: this.#wake$ },
      onWait: (words) => this.#show('comparing', words),
    });
    if (isOver()) return;
    const maxPayload = connection.info?.max_payload ?? 1024 * 1024;
    const published = takeOver({
      settings: { ...record, maxPayload },
      contents,
      before: this.#published,
      writer: this.#writer,
      newId: () => nuid.next(),
    });
    this.#writer = published.writer;
    // From here to the first message nothing waits, so that the store and the pending changes belong together.
    const store = this.#informer.indexer;
    const listed = store.listKeys().flatMap((key) => {
      const object = store.getByKey(key);
      return object === undefined ? [] : [[key, object as KubernetesObject] as const];
    });
    this.#feed.take();
    this.#feed.mustCompare = false;
    const changes = difference(listed, contents.objects);
    await this.#publish(published, true, changes);
    this.#published = published;
    this.#comparedMs = this.#passedMs();
    this.#showPublishing(published);
  }

  async #publishPending(published: Published): Promise<void> {
    const restMs = this.#beganSetMs + GATHER_MS - this.#passedMs();
    if (restMs > 0) await firstValueFrom(longTimer(restMs, this.#settings.scheduler));
    if (this.#isStopped || !this.#leads) return;
    this.#beganSetMs = this.#passedMs();
    // Records of namespaces without changes are heartbeats, too, which must not wait for a quiet moment.
    const isDue = this.#passedMs() - this.#recordedMs >= this.#settings.record.heartbeatMs;
    await this.#publish(published, isDue);
    this.#showPublishing(published);
  }

  /**
   * Publishes changes and the records that end them. `all` writes the records of all namespaces. The version is that of
   * the informer, so all changes up to now must be among those that are published.
   */
  async #publish(
    published: Published,
    all: boolean,
    difference?: readonly Wanted[],
  ): Promise<void> {
    if (this.#feed.mustCompare) return;
    const changes = difference ?? this.#feed.take();
    const resourceVersion = publishableVersion(this.#informer, this.#settings.where);
    const messages = nextSet(published, {
      ...{ changes, resourceVersion, all },
      nowMs: this.#passedMs(),
      newId: () => nuid.next(),
    });
    await this.#send(published, messages, resourceVersion);
    if (all) this.#recordedMs = this.#passedMs();
  }

  async #send(
    published: Published,
    messages: readonly Planned[],
    resourceVersion: string,
  ): Promise<void> {
    const { connection, where, batchSize } = this.#settings;
    const batches = inBatches(messages, batchSize - 1, BATCH_BYTES);
    for (const [at, planned] of batches.entries()) {
      const batch = published.guarded(planned, at === batches.length - 1);
      if (!this.#leads) throw new Error(`${where}: lost the Lease`);
      const send = () => publishAtomically(connection, batch, where);
      const first = await unlessLost(connection, send, where);
      this.#wroteMs = this.#passedMs();
      published.stored(batch, first, resourceVersion, this.#wroteMs);
    }
  }

  /** Waits for changes. Writes the records again when a heartbeat is due, and compares when that is due. */
  async #idle(published: Published): Promise<void> {
    const { compareEveryMs, record } = this.#settings;
    const nowMs = this.#passedMs();
    const beatInMs = this.#recordedMs + record.heartbeatMs - nowMs;
    const { live } = this.#informer.status;
    const compareInMs = live ? this.#comparedMs + compareEveryMs - nowMs : Number.POSITIVE_INFINITY;
    if (compareInMs <= 0) {
      this.#feed.mustCompare = true;
      return;
    }
    if (beatInMs > 0) return this.#sleep(Math.min(beatInMs, compareInMs));
    // Without heartbeats readers see that the publisher does not follow the API server.
    if (!live) {
      this.#show('publishing', NOT_FOLLOWING);
      this.#recordedMs = nowMs;
      return;
    }
    // After a purge the bucket has fewer messages than were written.
    if ((await countBucket(this.#settings)) < published.leastMessages) {
      this.#feed.mustCompare = true;
      return;
    }
    await this.#publish(published, true);
    // Not before a heartbeat: two publishers without an elector must not take turns without a wait.
    this.#attempt = 0;
    this.#showPublishing(published);
  }

  #showPublishing(published: Published): void {
    this.#show('publishing', publishingWords(published));
  }

  #show(phase: NatsPublisherPhase, message: string, error?: ApiError): void {
    const shown = this.status$.value;
    const published = this.#published;
    const kept = phase === 'publishing' ? undefined : shown.error;
    this.status$.next({
      phase,
      message,
      objects: published?.count ?? shown.objects,
      resourceVersion: published?.resourceVersion ?? shown.resourceVersion,
      epoch: published?.epoch ?? shown.epoch,
      sequence: published?.lastSequence ?? shown.sequence,
      tooLarge: published?.tooLarge ?? shown.tooLarge,
      unwritable: published?.unwritable ?? shown.unwritable,
      error: error ?? kept,
    });
  }
}
