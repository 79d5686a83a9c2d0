/** Our side of a seed: an informer whose handlers record their notifications. */
import {
  addEventHandler,
  createClient,
  createListWatch,
  createSharedInformer,
  type EventHandlerRegistration,
  exponentialBackoff,
  type ResourceEventHandler,
  type SharedInformer,
} from 'rx-informer';
import { drawDecoding } from '../support/decodings.ts';
import { eventually } from '../support/patience.ts';
import { diceOf } from './dice.ts';
import type { Item } from './history.ts';
import type { Scenario } from './scenario.ts';
import { configMaps } from './stage.ts';
import type { StoryEvent } from './story.ts';

function nameOf(object: Item): Pick<StoryEvent, 'uid' | 'version' | 'data'> {
  const { uid = '', resourceVersion: version = '' } = object.metadata ?? {};
  return { uid, version, ...(object.data === undefined ? {} : { data: object.data }) };
}

/** Our informer over a scenario. */
export class Ours {
  readonly informer: SharedInformer<Item>;
  readonly stories = new Map<string, StoryEvent[]>();
  /** The folded notifications of `changes$`: objects by key. */
  readonly folded = new Map<string, Item>();
  readonly errors: unknown[] = [];
  readonly #client: ReturnType<typeof createClient>;
  readonly #registrations = new Map<string, EventHandlerRegistration>();

  constructor(scenario: Scenario, url: string) {
    const { namespace, labelSelector, seed } = scenario;
    this.#client = createClient({ baseUrl: url });
    const listWatch = createListWatch(this.#client, configMaps, {
      ...(namespace === '' ? {} : { namespace }),
      ...(labelSelector === '' ? {} : { labelSelector }),
      decoding: drawDecoding(diceOf(seed, 5).random),
    });
    this.informer = createSharedInformer(listWatch, {
      random: diceOf(seed, 2).random,
      // Faster than client-go, so that the two are seldom at the same point of the history.
      backoff: exponentialBackoff({ baseMs: 50, capMs: 1_000 }),
      onUnhandledError: (error) => this.errors.push(error),
    });
  }

  start(): void {
    this.informer.changes$.subscribe({
      next: ({ reset, changes }) => {
        if (reset) this.folded.clear();
        for (const { key, object } of changes) {
          if (object === undefined) this.folded.delete(key);
          else this.folded.set(key, object);
        }
      },
      error: (error) => this.errors.push(error),
    });
    this.informer.start();
  }

  addHandler(name: string, resyncPeriodMs: number): void {
    const story: StoryEvent[] = [];
    this.stories.set(name, story);
    const { indexer } = this.informer;
    const handler: ResourceEventHandler<Item> = {
      onAdd: (object, { isInInitialList: initial }) => {
        const synced = this.#registrations.get(name)?.hasSynced ?? false;
        story.push({ type: 'add', key: indexer.keyOf(object), initial, synced, ...nameOf(object) });
      },
      onUpdate: (previous, object) => {
        const { uid: previousUid = '', version: previousVersion = '' } = nameOf(previous);
        const key = indexer.keyOf(object);
        story.push({ type: 'update', key, previousUid, previousVersion, ...nameOf(object) });
      },
      onDelete: ({ key, object, finalStateUnknown: finalUnknown }) => {
        story.push({ type: 'delete', key, finalUnknown, ...nameOf(object) });
      },
    };
    this.#registrations.set(name, addEventHandler(this.informer, handler, { resyncPeriodMs }));
  }

  removeHandler(name: string): void {
    const registration = this.#registrations.get(name);
    if (registration !== undefined) registration.remove();
  }

  /**
   * Waits until the store is synced and shows a version of an object. The parts of an initial list are visible before
   * its end.
   */
  async hasSeen(key: string, version: string): Promise<void> {
    const shows = () => this.informer.indexer.get(key)?.metadata?.resourceVersion === version;
    let hasSeen = false;
    const seeing = this.informer.changes$.subscribe(({ synced }) => {
      hasSeen ||= synced && shows();
    });
    await eventually(() => hasSeen, `ours sees ${key} at ${version}`).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(this.informer.status)}`);
    });
    seeing.unsubscribe();
  }

  async close(): Promise<void> {
    await this.informer.stop();
    await this.#client.close();
  }
}
