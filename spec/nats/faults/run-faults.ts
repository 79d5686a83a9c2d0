/** Random faults under random changes, with a real nats-server, publishers and readers. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { KubernetesObject, SharedInformer } from 'rx-informer';
import type { NatsPublisher } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { createTcpProxy, seededRandom, type TcpProxy } from 'rx-informer/testing';
import { vi } from 'vitest';
import { eventually } from '../../support/patience.ts';
import { managerOf, NatsServer } from '../nats-server.ts';
import { Scene } from '../scene.ts';
import { History, Judge } from './judge.ts';

/** Which faults a run has. `losses`: the store is restored from copies and purged, so that readers may have to list. */
export interface Mood {
  readonly losses: boolean;
}

export interface Outcome {
  readonly mistakes: readonly string[];
  readonly relists: number;
  readonly sets: number;
  /** The faults in their order, with their steps. */
  readonly log: readonly string[];
}

const STEPS = 30;
/** By default the NATS client finds a half-open connection in minutes, and waits 20 seconds for a server to answer. */
const impatient = { pingInterval: 200, timeout: 500, waitOnFirstConnect: true };

/** How far the clock is set back. The NATS client does not connect again until it has caught up. */
const BACK_MS = 1_500;

interface Publishing {
  readonly publisher: NatsPublisher;
  readonly connection: NatsConnection;
  readonly informer: SharedInformer<KubernetesObject>;
}

class FaultRun {
  readonly #mood: Mood;
  readonly #random: () => number;
  readonly #history = new History();
  readonly #nats: NatsServer;
  readonly #scene: Scene;
  readonly #links: { readonly publishers: TcpProxy; readonly readers: TcpProxy };
  readonly #publishers: Publishing[] = [];
  readonly #readers: {
    readonly judge: Judge;
    readonly informer: SharedInformer<KubernetesObject>;
    /** Whether it reads through the link. */
    readonly behind: boolean;
  }[] = [];
  #copy: string | undefined;
  readonly #log: string[] = [];
  #at = 0;
  /** How far the clock has been set back. */
  #backMs = 0;

  private constructor(
    seed: number,
    mood: Mood,
    nats: NatsServer,
    links: { publishers: TcpProxy; readers: TcpProxy },
  ) {
    this.#random = seededRandom(seed);
    this.#mood = mood;
    this.#nats = nats;
    this.#scene = new Scene(nats);
    this.#links = links;
  }

  static async begin(seed: number, mood: Mood): Promise<FaultRun> {
    const nats = await NatsServer.start();
    const target = { port: nats.port };
    const links = {
      publishers: await createTcpProxy({ target }),
      readers: await createTcpProxy({ target }),
    };
    return new FaultRun(seed, mood, nats, links);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #say(words: string): void {
    this.#log.push(`step ${this.#at}: ${words}`);
  }

  /** Changes some objects. */
  #churn(changes: number): void {
    for (let left = changes; left > 0; left--) {
      const namespace = ['shop', 'bank', 'mall'][this.#below(3)] as string;
      const name = `web-${this.#below(12)}`;
      const isThere = this.#history.newest.has(`${namespace}/${name}`);
      if (!isThere) this.#scene.create(namespace, name);
      else if (this.#random() < 0.3) this.#scene.remove(namespace, name);
      else this.#scene.update(namespace, name, { tier: `${this.#below(1e6)}` });
      const { objects } = this.#scene.api;
      this.#history.note(objects.resourceVersion, objects.list(pods));
    }
  }

  async #publish(): Promise<void> {
    const { port } = this.#links.publishers;
    const publishing = await this.#scene.publisher(
      { batchSize: 4 + this.#below(8), compareEveryMs: 1_000 },
      undefined,
      { ...impatient, servers: `nats://127.0.0.1:${port}`, ignoreClusterUpdates: true },
    );
    this.#publishers.push(publishing as Publishing);
  }

  async #read(namespace: string, port: number, name: string): Promise<void> {
    const scope = namespace === '' ? {} : { namespace };
    const { informer } = await this.#scene.reader({ ...scope, port, connected: impatient });
    const judge = new Judge(informer, this.#history, namespace, name);
    this.#readers.push({ judge, informer, behind: port !== this.#nats.port });
    let before = 0;
    // The error is no longer in the status when the list that it caused has arrived.
    let reason = 'no error';
    informer.status$.subscribe(({ relists, error }) => {
      reason = error?.message ?? reason;
      if (relists > before) {
        this.#say(`${name} lists again: ${reason}`);
        reason = 'no error since the last list';
      }
      before = relists;
    });
  }

  /** Lets what is on its way get some steps further. */
  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async #equal(): Promise<void> {
    const areEqual = () => this.#readers.every(({ judge }) => judge.isEqual);
    await eventually(areEqual, 'all readers have what the API server has');
  }

  /** Ends a publisher as a crash does: nothing is finished, and nobody is told. */
  async #killPublisher(): Promise<void> {
    const killed = this.#publishers.shift();
    await killed?.connection.close();
    await killed?.informer.stop();
    // The loop of the killed one must end, too; it can no longer write.
    await killed?.publisher.stop();
  }

  async #crash(between: () => void = () => undefined): Promise<void> {
    await this.#nats.kill();
    between();
    await this.#turns(this.#below(300));
    await this.#nats.run();
  }

  async #purge(): Promise<void> {
    const connection = await this.#nats.connect();
    const manager = await managerOf(connection);
    const one = `$KV.k8s.core.pods.shop.web-${this.#below(12)}`;
    const options = this.#random() < 0.5 ? {} : { filter: one };
    await manager.streams.purge('KV_k8s', options as { filter: string });
    await connection.close();
  }

  async #lose(link: TcpProxy, isNoticed: () => boolean): Promise<void> {
    const lost = link.halfOpen();
    if (this.#random() < 0.7) await eventually(isNoticed, 'the loss is noticed');
    else await this.#turns(this.#below(100));
    lost.heal();
  }

  /** The faults, with their names. */
  #faults(): [string, () => unknown][] {
    const { publishers, readers } = this.#links;
    const isAway = () =>
      this.#readers.every(({ behind, informer }) => !behind || !informer.status.live);
    const isSilent = () =>
      this.#publishers.every(({ publisher }) => publisher.status.phase !== 'publishing');
    const always: [string, () => unknown][] = [
      ['kill the publisher', () => this.#killPublisher()],
      ['kill the publisher within a large set', () => this.#killWithin()],
      ['begin a second publisher', () => this.#publish()],
      ['kill the server', () => this.#crash()],
      ['drop the publishers', () => publishers.drop()],
      ['drop the readers', () => readers.drop()],
      ['cut the publishers', () => publishers.cutAfter(this.#below(2_000))],
      ['cut the readers', () => readers.cutAfter(this.#below(5_000))],
      ['lose the connections of publishers', () => this.#lose(publishers, isSilent)],
      ['lose the connections of readers', () => this.#lose(readers, isAway)],
      ['set the clock back', () => this.#setClockBack()],
    ];
    const losses: [string, () => unknown][] = [
      ['copy the store', () => this.#crash(() => this.#save())],
      ['restore the store', () => this.#crash(() => this.#restore())],
      ['kill the publisher and restore the store', () => this.#restoreBehind()],
      ['purge', () => this.#purge()],
    ];
    return this.#mood.losses ? [...always, ...losses, ...losses] : always;
  }

  async #killWithin(): Promise<void> {
    this.#churn(40);
    await this.#turns(this.#below(15));
    await this.#killPublisher();
  }

  #save(): void {
    this.#copy = this.#nats.saveStore();
  }

  #restore(): void {
    if (this.#copy !== undefined) this.#nats.restoreStore(this.#copy);
  }

  async #restoreBehind(): Promise<void> {
    while (this.#publishers.length > 0) await this.#killPublisher();
    await this.#crash(() => this.#restore());
  }

  #setClockBack(): void {
    this.#backMs += BACK_MS;
  }

  async #step(): Promise<void> {
    this.#churn(this.#random() < 0.2 ? 40 : 1 + this.#below(4));
    // Otherwise the fault comes while changes are on their way.
    if (this.#random() < 0.5 && this.#publishers.length > 0) await this.#equal();
    else await this.#turns(this.#below(120));
    if (this.#random() < 0.4) {
      const faults = this.#faults();
      const [name, cause] = faults[this.#below(faults.length)] as [string, () => unknown];
      this.#say(name);
      await cause();
    }
    if (this.#publishers.length > 2) await this.#killPublisher();
    if (this.#publishers.length === 0 && this.#random() < 0.7) await this.#publish();
  }

  async #play(): Promise<void> {
    this.#churn(20);
    await this.#publish();
    await this.#read('', this.#nats.port, 'all');
    await this.#read('', this.#links.readers.port, 'all behind the link');
    await this.#read('shop', this.#links.readers.port, 'shop behind the link');
    for (const { informer } of this.#readers) await informer.whenSynced();
    for (; this.#at < STEPS; this.#at++) await this.#step();
    this.#say('end');
    while (this.#publishers.length > 1) await this.#killPublisher();
    if (this.#publishers.length === 0) await this.#publish();
    this.#churn(1);
    await this.#equal();
    this.#say('equal');
  }

  async run(): Promise<Outcome> {
    const mistakes: string[] = [];
    const { now } = Date;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - this.#backMs);
    try {
      await this.#play();
    } catch (error) {
      const statuses = [
        ...this.#publishers.map(({ publisher }) => publisher.status.message),
        ...this.#readers.map(({ informer }) => informer.status.error?.message ?? 'no error'),
      ];
      mistakes.push(`${error}; ${statuses.join('; ')}`);
    } finally {
      clock.mockRestore();
      await this.#scene.stop();
      await this.#links.publishers.close();
      await this.#links.readers.close();
      await this.#nats.stop();
    }
    mistakes.unshift(...this.#readers.flatMap(({ judge }) => judge.mistakes));
    return {
      mistakes,
      relists: this.#readers.reduce((sum, { informer }) => sum + informer.status.relists, 0),
      sets: this.#readers.reduce((sum, { judge }) => sum + judge.sets, 0),
      log: this.#log,
    };
  }
}

/** Runs one seed. */
export async function runFaults(seed: number, mood: Mood): Promise<Outcome> {
  return (await FaultRun.begin(seed, mood)).run();
}
