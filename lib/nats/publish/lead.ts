/**
 * The lead of a publisher. It is given up while the connection to NATS is lost, because renewals of the Lease, which go to the API
 * server, would keep it from a publisher that can write.
 */
import type { NatsConnection } from '@nats-io/nats-core';
import { type SchedulerLike, Subscription } from 'rxjs';
import { exhaustMap, takeUntil } from 'rxjs/operators';
import { followLeading, type LeaderElector } from '../../election/leader-elector.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { type ConnectionEvents, connectionEvents } from '../connection-events.ts';

/** The settings of a lead. */
export interface LeadSettings {
  readonly elector: LeaderElector | undefined;
  readonly connection: NatsConnection;
  readonly scheduler: SchedulerLike;
  /** How long the connection may be lost, in milliseconds. */
  readonly patienceMs: number;
}

export class Lead {
  readonly #settings: LeadSettings;
  readonly #events: ConnectionEvents;
  readonly #onChange: () => void;
  readonly #work = new Subscription();
  #leader = '';
  #isGivenUp = false;

  /** Without an elector it leads always. `onChange` is called when something may have changed. */
  constructor(settings: LeadSettings, onChange: () => void) {
    this.#settings = settings;
    this.#events = connectionEvents(settings.connection);
    this.#onChange = onChange;
    const { elector, scheduler, patienceMs } = settings;
    if (elector === undefined) return;
    this.#work.add(followLeading(elector, onChange));
    const onLeader = (leader: string) => {
      this.#leader = leader;
      onChange();
    };
    this.#work.add(followLeading({ leading$: elector.leader$ }, onLeader));
    const { lost$, back$, isLost } = this.#events;
    const wait$ = longTimer(patienceMs, scheduler).pipe(takeUntil(back$));
    this.#work.add(lost$.pipe(exhaustMap(() => wait$)).subscribe(() => this.#giveUp()));
    this.#work.add(back$.subscribe(() => this.#compete()));
    if (isLost) this.#isGivenUp = true;
    else elector.start();
  }

  get isLeading(): boolean {
    return this.#settings.elector?.isLeading ?? true;
  }

  /** The identity of the process that has the Lease, if it is known. */
  get leader(): string {
    return this.#leader;
  }

  /** Whether this process does not compete, because it has no connection to NATS. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  async stop(): Promise<void> {
    this.#work.unsubscribe();
    await this.#settings.elector?.stop();
  }

  #giveUp(): void {
    // A connection that was only silent may work again.
    if (!this.#events.isLost) return;
    this.#isGivenUp = true;
    void this.#settings.elector?.stop();
    this.#onChange();
  }

  #compete(): void {
    if (!this.#isGivenUp) return;
    this.#isGivenUp = false;
    this.#settings.elector?.start();
    this.#onChange();
  }
}
