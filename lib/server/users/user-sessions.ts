/** The sessions of all users: one for equal users, made with the first connection, and kept for a while after the last. */
import type { SchedulerLike } from 'rxjs';
import { afterLinger, Holders } from '../../rx/sharing/holders.ts';
import type { Turns } from '../turns/turns.ts';
import { accountOf, keyOfUser, type ServedUser } from './user.ts';
import type { SessionBeginning, UserInformers, UserSession } from './user-session.ts';

/** The parts of the sessions. */
export interface UserSessionsParts extends Pick<UserInformers, 'begin'> {
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
  readonly answers: Turns;
}

/** A session with those who use it. */
interface Used {
  readonly account: string;
  /** Absent until it is made. */
  made?: UserSession;
  readonly session: Promise<UserSession>;
  readonly holders: Holders;
}

/** A connection's part in a session, from the moment it asks for it. */
export interface Entered {
  /** Rejects with what the making of the session has thrown. */
  readonly session: Promise<UserSession>;
  leave(): void;
}

export class UserSessions {
  readonly #parts: UserSessionsParts;
  readonly #used = new Map<string, Used>();
  /** The same by name and uid, by which limits are counted. */
  readonly #byAccount = new Map<string, Set<Used>>();
  #lastEpoch = 0;

  constructor(parts: UserSessionsParts) {
    this.#parts = parts;
  }

  /** How many users have a session. */
  get count(): number {
    return this.#used.size;
  }

  /** How many connections a user has, with any groups and extra. */
  connectionsOf(user: ServedUser): number {
    return this.#sumOf(user, ({ holders }) => holders.count);
  }

  #sumOf(user: ServedUser, count: (used: Used) => number): number {
    let sum = 0;
    for (const used of this.#byAccount.get(accountOf(user)) ?? []) sum += count(used);
    return sum;
  }

  /** Enters the session of a user. */
  enter(user: ServedUser): Entered {
    const key = keyOfUser(user);
    const { session, holders } = this.#used.get(key) ?? this.#begin(key, user);
    return { session, leave: holders.hold() };
  }

  /** Ends all sessions. */
  end(): void {
    for (const key of [...this.#used.keys()]) this.#end(key);
  }

  #begin(key: string, user: ServedUser): Used {
    const { lingerMs, scheduler, answers } = this.#parts;
    const holders = new Holders(
      () => this.#end(key, used),
      (end) => afterLinger(end, lingerMs, scheduler),
    );
    const account = accountOf(user);
    const session = this.#make(user, {
      epoch: ++this.#lastEpoch,
      elsewhere: () =>
        this.#sumOf(user, ({ made }) =>
          made === undefined || made === used.made ? 0 : made.pipelines,
        ),
      takeTurn: (...turn) => answers.take(account, ...turn),
    });
    const used: Used = { holders, session, account };
    session.then(
      (made) => {
        used.made = made;
      },
      () => undefined,
    );
    // A failure is told to those who enter; the next one tries again.
    used.session.catch(() => this.#forget(key, used));
    this.#used.set(key, used);
    const ofAccount = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, ofAccount.add(used));
    return used;
  }

  async #make(user: ServedUser, beginning: SessionBeginning): Promise<UserSession> {
    return await this.#parts.begin(user, beginning);
  }

  #end(key: string, used: Used | undefined = this.#used.get(key)): void {
    if (used === undefined) return;
    used.holders.cancel();
    this.#forget(key, used);
    used.session.then(
      (session) => session.end(),
      () => undefined,
    );
  }

  #forget(key: string, used: Used): void {
    if (this.#used.get(key) !== used) return;
    this.#used.delete(key);
    const { account } = used;
    const ofAccount = this.#byAccount.get(account);
    ofAccount?.delete(used);
    if (ofAccount?.size === 0) this.#byAccount.delete(account);
  }
}
