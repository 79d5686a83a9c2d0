/**
 * A model of a ring: members with clocks of their own, a server, and everything that may go wrong between them. Time is virtual, and
 * a seed determines a history.
 */
import type { SchedulerLike } from 'rxjs';
import {
  endingSlots,
  joining,
  nextMember,
  ownedSlots,
  type RingEffect,
  type RingInput,
  type RingMember,
  type RingPeriods,
  type SeenLease,
  type SeenRing,
} from '../../lib/shards/ring-member.ts';
import { identityOf, parseRing, ringText } from '../../lib/shards/ring-record.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

/** The periods of the processes. They differ while a rollout changes them. */
export const PERIODS: readonly RingPeriods[] = [
  { leaseDurationMs: 4_000, renewDeadlineMs: 2_700, retryPeriodMs: 270 },
  { leaseDurationMs: 8_000, renewDeadlineMs: 6_500, retryPeriodMs: 540 },
  { leaseDurationMs: 2_000, renewDeadlineMs: 1_200, retryPeriodMs: 135 },
];
/** The longest lease, in milliseconds. */
export const LEASE_MS = 8_000;

/** What happens to messages. */
export interface Weather {
  /** The probability that a request or its response is lost. */
  readonly lost: number;
  /** The probability that a message takes up to 1.3 s, which a request may. */
  readonly late: number;
  /** The probability that a message takes up to three leases. */
  readonly slow: number;
  /** The server answers nothing. */
  down: boolean;
}

type Next = typeof nextMember;

export class Server {
  version = 0;
  ring: { readonly uid: string; readonly version: string; readonly text: string } | undefined;
  readonly leases = new Map<string, Omit<SeenLease, 'id'>>();
  /** The highest epoch that was written. */
  writes = 0;

  #stamp(): string {
    return String(++this.version);
  }

  get seenRing(): SeenRing | undefined {
    if (this.ring === undefined) return undefined;
    const { uid, version, text } = this.ring;
    const record = parseRing(text);
    if (record === undefined) throw new Error(`the ring cannot be read: ${text}`);
    return { uid, version, record };
  }

  answer({ id, periods }: RingMember, effect: RingEffect): RingInput | undefined {
    switch (effect.type) {
      case 'renew':
        this.leases.set(id, { version: this.#stamp(), durationMs: periods.leaseDurationMs });
        return { type: 'renewed', ok: true };
      case 'list': {
        const leases = [...this.leases].map(([id, lease]) => ({ id, ...lease }));
        return { type: 'listed', found: { ring: this.seenRing, leases } };
      }
      case 'write': {
        const { ring } = this;
        const { over, record } = effect;
        if (ring?.uid !== over?.uid || ring?.version !== over?.version) {
          return { type: 'wrote', conflict: true };
        }
        const version = this.#stamp();
        this.writes++;
        this.ring = { uid: ring?.uid ?? `uid-${version}`, version, text: ringText(record) };
        return { type: 'wrote', ring: this.seenRing as SeenRing };
      }
      case 'forget':
        if (this.leases.get(effect.id)?.version === effect.version) this.leases.delete(effect.id);
        return undefined;
      default:
        return undefined;
    }
  }
}

const FAILURES: Partial<Record<RingEffect['type'], RingInput>> = {
  renew: { type: 'renewed', ok: false },
  list: { type: 'listed' },
  write: { type: 'wrote' },
};

/** A process that takes part in the ring. */
export class Process {
  readonly world: World;
  readonly identity: string;
  readonly periods: RingPeriods;
  /** How fast its clock runs. */
  readonly rate: number;
  member: RingMember;
  alive = true;
  /** Whether it was told to leave, which it may not have heard of while it was paused. */
  leaves = false;
  #joined = 0;
  #paused = false;
  #inbox: (() => void)[] = [];
  #timer: { unsubscribe(): void } | undefined;
  readonly #draining = new Set<number>();

  constructor(world: World, identity: string, periods: RingPeriods) {
    this.world = world;
    this.identity = identity;
    this.periods = periods;
    this.rate = 0.99 + 0.02 * world.random();
    this.member = joining(`${identity}.${++this.#joined}`, periods);
    this.#enter({ type: 'due' });
  }

  /** The reading of its stopwatch. */
  get nowMs(): number {
    return this.world.time.now() * this.rate;
  }

  get owned(): readonly number[] {
    return this.alive ? ownedSlots(this.member, this.nowMs) : [];
  }

  kill(): void {
    this.alive = false;
    this.#timer?.unsubscribe();
  }

  pause(forMs: number): void {
    this.#paused = true;
    this.world.after(forMs, () => {
      this.#paused = false;
      // After a pause, timers and responses run in any order.
      const inbox = this.world.shuffled(this.#inbox);
      this.#inbox = [];
      for (const work of inbox) this.#run(work);
    });
  }

  leave(): void {
    this.leaves = true;
    this.#run(() => this.#enter({ type: 'leave' }));
  }

  #run(work: () => void): void {
    if (!this.alive) return;
    if (this.#paused) this.#inbox.push(work);
    else work();
  }

  #enter(input: RingInput): void {
    const [member, effects] = this.world.next(this.member, input, this.nowMs);
    this.member = member;
    for (const effect of effects) this.#perform(effect);
    this.world.check();
    const { phase } = this.member;
    if (phase === 'left' || (phase === 'over' && this.leaves)) return this.kill();
    if (phase === 'over') {
      this.#draining.clear();
      this.member = joining(`${this.identity}.${++this.#joined}`, this.periods, this.member);
      this.#wait(1);
    }
    this.#drain();
  }

  /** Running work ends after some time. */
  #drain(): void {
    const { id } = this.member;
    const slots = endingSlots(this.member, this.nowMs).filter((slot) => !this.#draining.has(slot));
    if (slots.length === 0) return;
    for (const slot of slots) this.#draining.add(slot);
    this.world.after(this.world.random() * this.world.drainMs, () =>
      this.#run(() => {
        if (this.member.id !== id) return;
        for (const slot of slots) this.#draining.delete(slot);
        this.#enter({ type: 'drained', slots });
      }),
    );
  }

  #wait(ms: number): void {
    this.#timer?.unsubscribe();
    this.#timer = this.world.after(ms / this.rate, () =>
      this.#run(() => this.#enter({ type: 'due' })),
    );
  }

  #perform(effect: RingEffect): void {
    if (effect.type === 'wait') return this.#wait(effect.ms);
    const { member } = this;
    let settled = false;
    const settle = (input: RingInput | undefined) =>
      this.#run(() => {
        if (settled || input === undefined || this.member.id !== member.id) return;
        settled = true;
        this.#enter(input);
      });
    const { world } = this;
    world.after(this.periods.renewDeadlineMs / 2 / this.rate, () => settle(FAILURES[effect.type]));
    world.carry(() => {
      const answer = world.server.answer(member, effect);
      world.carry(() => settle(answer));
    });
    return undefined;
  }
}

/** All processes, the server, and the messages between them. */
export class World {
  readonly time = new VirtualTime();
  readonly server = new Server();
  readonly processes: Process[] = [];
  readonly random: () => number;
  readonly next: Next;
  readonly weather: Weather;
  /** The periods of the processes that start. */
  readonly periods: readonly RingPeriods[];
  drainMs = 1_000;
  /** Slots that were owned twice: the first time of each. */
  readonly doubles: string[] = [];
  #started = 0;

  constructor(random: () => number, weather: Weather, next: Next = nextMember) {
    this.random = random;
    this.periods = random() < 0.5 ? PERIODS.slice(0, 1) : PERIODS;
    this.weather = weather;
    this.next = next;
  }

  get scheduler(): SchedulerLike {
    return this.time;
  }

  after(ms: number, work: () => void): { unsubscribe(): void } {
    return this.time.schedule(work, ms);
  }

  shuffled<V>(values: readonly V[]): V[] {
    return values
      .map((value) => ({ value, at: this.random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ value }) => value);
  }

  pick<V>(values: readonly V[]): V | undefined {
    return values[Math.floor(this.random() * values.length)];
  }

  /** Carries one message. */
  carry(deliver: () => void): void {
    const { lost, late, slow, down } = this.weather;
    if (down || this.random() < lost) return;
    const isSlow = this.random() < slow;
    const mostMs = isSlow ? 3 * LEASE_MS : this.random() < late ? 1_300 : 30;
    const ms = this.random() * mostMs;
    this.after(ms, deliver);
  }

  start(identity: string = `m${++this.#started}`): Process {
    const process = new Process(this, identity, this.pick(this.periods) as RingPeriods);
    this.processes.push(process);
    return process;
  }

  get living(): readonly Process[] {
    return this.processes.filter(({ alive }) => alive);
  }

  check(): void {
    const owners = new Map<number, string>();
    for (const { owned, member } of this.living) {
      for (const slot of owned) {
        const other = owners.get(slot);
        if (other !== undefined) {
          const both = `${this.time.now()}: slot ${slot} is owned by ${other} and ${member.id}`;
          this.doubles.push(both);
        }
        owners.set(slot, member.id);
      }
    }
  }

  /** The identity of the owner of each slot, as the processes see it. */
  get owners(): readonly string[] {
    const owners = new Array<string>(64).fill('');
    for (const { owned, member } of this.living) {
      for (const slot of owned) owners[slot] = identityOf(member.id);
    }
    return owners;
  }
}
