/** Random runs of the model: changes of a cluster, publishers that die, readers, and losses of the bucket. */
import { seededRandom } from 'rx-informer/testing';
import { ModelBucket, type StoreCopy } from './model-bucket.ts';
import { LARGE, ModelCluster, type Pod } from './model-cluster.ts';
import { type Answer, ModelPublisher, TOMBSTONE_MS } from './model-publisher.ts';
import { inScope, ModelReader } from './model-reader.ts';

/** What may happen in a run. */
export interface Faults {
  /** Publishers die, lose answers, and are restarted. */
  readonly deaths?: boolean;
  /** Two publishers write at the same time. */
  readonly rivals?: boolean;
  /** The store goes back to a copy. */
  readonly restores?: boolean;
  readonly purges?: boolean;
  /** More time passes than tombstones live. */
  readonly expiry?: boolean;
  /** The API server goes back to a backup. */
  readonly backups?: boolean;
  readonly tooLarge?: boolean;
  /** Readers lose their connections, and continue later. */
  readonly sleep?: boolean;
  /** Readers stop within the messages that wait. */
  readonly lag?: boolean;
}

export interface Run {
  readonly mistakes: readonly string[];
  readonly relists: number;
  readonly reasons: readonly string[];
  readonly sets: number;
  readonly log: readonly string[];
}

const KEYS = ['a/x', 'a/y', 'b/x', 'b/y', 'b/z', 'c/x', 'd/x'];
const STEPS = 120;

class Model {
  readonly #faults: Faults;
  readonly #random: () => number;
  readonly #bucket = new ModelBucket();
  readonly #cluster = new ModelCluster();
  readonly #publishers: ModelPublisher[] = [];
  readonly readers: ModelReader[];
  readonly #copies: StoreCopy[] = [];
  #backup: { objects: ReadonlyMap<string, Pod>; version: number } | undefined;
  readonly log: string[] = [];

  constructor(seed: number, faults: Faults) {
    this.#random = seededRandom(seed);
    this.#faults = faults;
    for (const key of KEYS) if (this.#chance(0.5)) this.#cluster.put(key);
    this.#publishers.push(this.#publisher());
    this.readers = ['', '', 'a', 'b', 'd'].map(
      (namespace, at) =>
        new ModelReader(this.#bucket, this.#cluster, namespace, `reader ${at} of '${namespace}'`),
    );
  }

  #publisher(): ModelPublisher {
    const batchSize = 2 + this.#below(6);
    const maxPayload = this.#faults.tooLarge === true ? 1_024 + LARGE : 1_000_000;
    return new ModelPublisher(this.#bucket, this.#cluster, { batchSize, maxPayload });
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #one<V>(of: readonly V[]): V {
    return of[this.#below(of.length)] as V;
  }

  #say(words: string): void {
    this.log.push(words);
  }

  #change(): void {
    const key = this.#one(KEYS);
    const what = this.#random();
    if (what < 0.3) this.#cluster.remove(key);
    else if (what < 0.4) this.#cluster.advance();
    else {
      const isLarge = this.#faults.tooLarge === true && this.#chance(0.2);
      this.#cluster.put(key, isLarge ? 'x'.repeat(LARGE) : '');
    }
    this.#say(`change ${key} up to ${this.#cluster.version}`);
  }

  #step(publisher: ModelPublisher): void {
    let answer: Answer = 'arrives';
    if (this.#faults.deaths === true && this.#chance(0.05)) {
      answer = this.#chance(0.5) ? 'is lost' : 'is not sent';
    }
    const before = this.#bucket.last;
    publisher.step(answer);
    if (this.#bucket.last !== before) this.#say(`wrote ${before + 1} to ${this.#bucket.last}`);
    this.#afterWrite();
  }

  /** Readers that never lag receive everything at once. */
  #afterWrite(): void {
    const { sleep, lag } = this.#faults;
    if (sleep !== true && lag !== true) for (const reader of this.readers) reader.read(1e9);
  }

  /** The operations and their weights. */
  #operations(): [number, () => void][] {
    const publisher = this.#one(this.#publishers);
    const reader = this.#one(this.readers);
    const { deaths, rivals, restores, purges, expiry, backups, sleep, lag } = this.#faults;
    const is = (enabled: boolean | undefined, weight: number) => (enabled === true ? weight : 0);
    return [
      [10, () => this.#change()],
      [8, () => publisher.informer.follow(1 + this.#below(8))],
      [1, () => publisher.informer.relist()],
      [14, () => this.#step(publisher)],
      [2, () => publisher.beat()],
      [1, () => publisher.compare()],
      [2, () => this.#bucket.pass(this.#below(2_000))],
      [is(expiry, 0.5), () => this.#bucket.pass(2 * TOMBSTONE_MS)],
      [is(deaths, 1), () => this.#replace(publisher)],
      [is(deaths, 0.5), () => publisher.standBy()],
      [is(rivals, 0.5), () => this.#rival()],
      [is(restores, 0.5), () => this.#save()],
      [is(restores, 0.3), () => this.#restore()],
      [is(purges, 0.3), () => this.#purge()],
      [is(backups, 0.3), () => this.#backUp()],
      [is(sleep, 4), () => reader.read(1e9)],
      [is(sleep, 1), () => reader.disconnect()],
      [is(lag, 10), () => reader.read(1 + this.#below(4))],
    ];
  }

  #replace(publisher: ModelPublisher): void {
    this.#say('a publisher dies');
    this.#publishers[this.#publishers.indexOf(publisher)] = this.#publisher();
  }

  #rival(): void {
    if (this.#publishers.length > 1) this.#publishers.pop();
    else this.#publishers.push(this.#publisher());
    this.#say(`${this.#publishers.length} publishers`);
  }

  /** A store that was lost completely looks like a new one, which a publisher fills without another list. */
  #save(): void {
    if (this.#bucket.last > 0) this.#copies.push(this.#bucket.copy());
  }

  #restore(): void {
    if (this.#copies.length === 0) return;
    const copy = this.#one(this.#copies);
    this.#say(`restore from ${this.#bucket.last} to ${copy.last}`);
    this.#bucket.restore(copy);
    for (const each of this.#publishers) each.fail();
    for (const each of this.readers) each.disconnect();
  }

  #purge(): void {
    // A namespace that has lost all its messages, with its record, looks empty to a new reader until the next heartbeat.
    const subjects = this.#bucket.subjects().filter((subject) => !/\.[a-z]\._meta$/.test(subject));
    const one = this.#chance(0.3) ? undefined : this.#one(subjects);
    this.#say(`purge ${one ?? 'all'}`);
    this.#bucket.purge((subject) => one === undefined || subject === one);
  }

  #backUp(): void {
    const { objects, version } = this.#cluster;
    if (this.#backup === undefined || this.#chance(0.5)) {
      this.#backup = { objects: new Map(objects), version };
      return;
    }
    this.#say(`the API server goes back from ${version} to ${this.#backup.version}`);
    this.#cluster.restoreBackup(this.#backup.objects, this.#backup.version);
    for (const reader of this.readers) reader.forget();
  }

  #operate(): void {
    const operations = this.#operations();
    const total = operations.reduce((sum, [weight]) => sum + weight, 0);
    let at = this.#random() * total;
    for (const [weight, operate] of operations) {
      at -= weight;
      if (at < 0) return operate();
    }
  }

  /** All faults end: one publisher finishes, and readers read everything. */
  #settle(): void {
    const publisher = this.#publishers[0] as ModelPublisher;
    publisher.informer.follow(1e9);
    // A comparison that is due finds what the count of messages does not show.
    for (const next of [() => publisher.compare(), () => publisher.beat()]) {
      for (let step = 0; step < 100 && !publisher.isIdle; step++) publisher.step();
      next();
      for (let step = 0; step < 100 && !publisher.isIdle; step++) publisher.step();
      for (const reader of this.readers) reader.read(1e9);
    }
    // A relist takes a second look. A reader that hears nothing for three heartbeats asks again.
    for (const reader of this.readers) {
      for (let look = 0; look < 4; look++) {
        if (look === 2) reader.disconnect();
        reader.read(1e9);
      }
    }
  }

  run(): Run {
    for (let step = 0; step < STEPS; step++) this.#operate();
    this.#settle();
    const { version } = this.#cluster;
    const end = this.#cluster.statesAt(version).at(-1) ?? new Map();
    const mistakes = this.readers.flatMap((reader) => {
      const lacks: string[] = [];
      const wanted = [...inScope(end, reader.namespace)].sort().join(' ');
      const has = [...reader.store].sort().join(' ');
      if (wanted !== has) lacks.push(`'${reader.namespace}' ends with ${has}, not ${wanted}`);
      return [...reader.mistakes, ...lacks];
    });
    return {
      mistakes,
      relists: this.readers.reduce((sum, { relists }) => sum + relists, 0),
      reasons: this.readers.flatMap(({ reasons }) => reasons),
      sets: this.readers.reduce((sum, { sets }) => sum + sets, 0),
      log: this.log,
    };
  }
}

/** Runs one seed. */
export function runModel(seed: number, faults: Faults): Run {
  return new Model(seed, faults).run();
}
