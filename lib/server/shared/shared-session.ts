/** What one user asks of the informers of all users. Equal queries with equal rights share a pipeline. */
import {
  combineLatest,
  defer,
  type Observable,
  ReplaySubject,
  type SchedulerLike,
  share,
} from 'rxjs';
import { distinctUntilChanged, finalize, map, startWith } from 'rxjs/operators';
import type { QueryChannel } from '../../factory/queries/query-channel.ts';
import type { LimitedAccess } from '../../informer/sources.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { Resource } from '../../meta/resource.ts';
import { checkedQuery } from '../../query/live-query/live-query.ts';
import { afterLinger, Holders } from '../../rx/sharing/holders.ts';
import { readable } from '../../wire/public-error.ts';
import type { AnswerLag, AskedAnswer } from '../../wire/query-feed.ts';
import { type CarriedQuery, checkSize } from '../../worker/carried-query.ts';
import { sortedJson } from '../../worker/server/answers.ts';
import {
  accessOf,
  deniedError,
  failedError,
  joinedAccess,
  narrowed,
  rightsAskedBy,
  statusFor,
  statusOfNothing,
} from '../rights/narrowed.ts';
import { type AskedRights, MOST_NAMESPACES } from '../rights/rights.ts';
import type { Decision, UserRights } from '../rights/user-rights.ts';
import { rankOf } from '../turns/turns.ts';
import { checkQuerySize } from '../users/limits.ts';
import type { UserEdits } from '../users/user-edits.ts';
import {
  aboutQuery,
  type ConnectionSession,
  refusedEdit,
  refusedPipeline,
  type SessionBeginning,
  type UserSession,
} from '../users/user-session.ts';
import { CatchUp } from './catch-up.ts';
import type { HeldQueries } from './held-queries.ts';
import { type NamedQueries, statusOf } from './named-queries.ts';
import { answersInTurn, type PermittedAnswer, permittedChannel } from './permitted-query.ts';
import type { Positions } from './positions.ts';

/** The parts of a session. */
export interface SharedSessionParts extends SessionBeginning {
  readonly held: HeldQueries;
  readonly named: NamedQueries;
  readonly rights: UserRights;
  readonly scheduler: SchedulerLike;
  /** @defaultValue pages carry nothing to the next server */
  readonly positions?: Positions | undefined;
  readonly lingerMs: number;
  /** @defaultValue edits are refused */
  readonly edits?: UserEdits | undefined;
  /** How many different queries a user has open. */
  readonly mostPipelines: number;
  /** Tells the program what a named query has thrown. */
  report(error: unknown): void;
}

/** A query, and how its answer follows from the rights. */
interface Asked {
  /** Equal for equal queries. */
  readonly key: string;
  readonly kinds: readonly Resource[];
  readonly rights: AskedRights;
  /** Whether the program has named the namespaces, of which users learn nothing. */
  readonly areNamed?: true;
  /** The answer for what is permitted of each kind; `undefined` if that is nothing. */
  answer(permitted: readonly Decision[]): ReturnType<NamedQueries['answer']> | undefined;
}

/** An answer, and who follows it. It is counted until its linger is over, because its pipeline runs so long. */
interface Open {
  readonly permitted$: Observable<PermittedAnswer>;
  readonly channel: QueryChannel;
  readonly holders: Holders;
  /** How many connections are told its rows, whose pages are not hidden. */
  shown: number;
}

/** The longest name of an object. */
const LONGEST_NAME = 253;

const isNothing = ({ permitted }: Decision) => permitted.length === 0;

export class SharedSession implements UserSession {
  readonly epoch: number;
  readonly #parts: SharedSessionParts;
  readonly #open = new Map<string, Open>();

  constructor(parts: SharedSessionParts) {
    this.#parts = parts;
    this.epoch = parts.epoch;
  }

  answerOf(carried: CarriedQuery): AskedAnswer {
    return this.#answerOf(carried, undefined);
  }

  get pipelines(): number {
    return this.#open.size;
  }

  position(): string | undefined {
    const { positions, held } = this.#parts;
    return positions?.seal(held.versions);
  }

  askedAfter(position: unknown): ConnectionSession {
    const { positions, held, scheduler } = this.#parts;
    const seen = positions?.open(position, held.versions.keys());
    if (seen === undefined || seen.size === 0) return this;
    const catchUp = new CatchUp({ held, seen, scheduler });
    return {
      epoch: this.epoch,
      answerOf: (carried) => this.#answerOf(carried, catchUp),
      edit: (...edit) => this.edit(...edit),
      position: () => positions?.seal(catchUp.versions),
    };
  }

  #answerOf(carried: CarriedQuery, catchUp: CatchUp | undefined): AskedAnswer {
    checkQuerySize(carried);
    const asked = 'named' in carried ? this.#named(carried) : aboutQuery(() => this.#data(carried));
    const { mostPipelines, elsewhere } = this.#parts;
    const known = this.#open.get(asked.key);
    if (known === undefined && this.pipelines + elsewhere() >= mostPipelines) {
      throw refusedPipeline(mostPipelines);
    }
    const open = known ?? this.#begin(asked, carried);
    const { channel, holders, permitted$ } = open;
    const lag$ = catchUp?.lagOf(asked.kinds);
    // That nothing may be shown is not awaited, and not old.
    const isNothing$ = permitted$.pipe(
      map((permitted) => 'nothing' in permitted),
      startWith(false),
    );
    return {
      stream: defer(() => {
        open.shown++;
        return channel.stream;
      }).pipe(finalize(() => open.shown--)),
      view: channel.view,
      lag$:
        lag$ &&
        combineLatest([lag$, isNothing$]).pipe(
          map(([lag, isNothing]): AnswerLag => (isNothing ? 'none' : lag)),
          distinctUntilChanged(),
        ),
      enter: () => {
        this.#open.set(asked.key, open);
        return holders.hold();
      },
    };
  }

  #begin(asked: Asked, carried: CarriedQuery): Open {
    const { lingerMs, scheduler } = this.#parts;
    const holders = new Holders(
      () => {
        if (this.#open.get(asked.key)?.holders === holders) this.#open.delete(asked.key);
      },
      (end) => afterLinger(end, lingerMs, scheduler),
    );
    const permitted$ = this.#permitted(asked, () => rankOf(carried, open.shown === 0));
    const channel = permittedChannel(permitted$);
    const open: Open = { permitted$, channel, holders, shown: 0 };
    return open;
  }

  async edit(...[edit, tab]: Parameters<UserSession['edit']>): Promise<unknown> {
    const { edits, held } = this.#parts;
    if (edits === undefined) return await refusedEdit();
    const { group, version, plural } = held.kindOf(edit.resource);
    const { version: asked } = edit.resource;
    if (asked !== version) {
      const message = `edit: the server has version ${version} of ${plural}, and this page edits ${JSON.stringify(asked)}; edit an object of the version of the server`;
      throw readable(new ApiError({ code: 400, reason: 'BadRequest', message }));
    }
    return await edits.edit({ ...edit, resource: { group, version, plural } }, tab);
  }

  end(): void {
    for (const { holders } of this.#open.values()) holders.cancel();
    this.#open.clear();
  }

  #data(carried: CarriedQuery): Asked {
    const { held } = this.#parts;
    const { kind, query } = held.known(checkedQuery(carried));
    checkSize('useQuery', query);
    // Throws if the objects of the server cannot answer it.
    held.plansOf(query);
    const rights = rightsAskedBy(query);
    const { namespaces = [], name = '' } = rights;
    if (namespaces.length > MOST_NAMESPACES) {
      throw readable(
        new RangeError(`the query names more than ${MOST_NAMESPACES} namespaces; name fewer`),
      );
    }
    if ([name, ...namespaces].some((each) => each.length > LONGEST_NAME)) {
      throw readable(new RangeError(`no name has more than ${LONGEST_NAME} characters`));
    }
    return {
      key: query.key,
      kinds: [kind],
      rights,
      answer: ([decision]) => {
        const own = decision && narrowed(query, kind, decision.permitted);
        return own && held.channelOf(own);
      },
    };
  }

  #named({ named: name, params }: CarriedQuery): Asked {
    const { named } = this.#parts;
    // Without what else a client has sent.
    const key = sortedJson({ named: name, params });
    const carried: CarriedQuery = JSON.parse(key);
    const query = named.of(name);
    const kinds = named.kindsReadBy(query, carried);
    return {
      key,
      kinds,
      rights: named.rightsAskedBy(query, carried),
      areNamed: true,
      answer: (decisions) =>
        decisions.some(isNothing)
          ? undefined
          : named.answer(
              carried,
              new Map(kinds.map((kind, at) => [kind, (decisions[at] as Decision).permitted])),
            ),
    };
  }

  /** The answer for the present rights, and for later ones. */
  #permitted(asked: Asked, rank: () => number): Observable<PermittedAnswer> {
    const { rights, report, takeTurn } = this.#parts;
    const { kinds } = asked;
    const askedOf = ({ namespaced }: Resource) =>
      namespaced ? asked.rights : { name: asked.rights.name };
    const answerFor = (decisions: readonly Decision[]): PermittedAnswer => {
      try {
        return this.#answerFor(asked, decisions);
      } catch (error) {
        report(error);
        return { nothing: this.#nothing(failedError()) };
      }
    };
    return combineLatest(kinds.map((kind) => rights.decisions(kind, askedOf(kind)))).pipe(
      (decisions$) => answersInTurn(decisions$, answerFor, (answer) => takeTurn(answer, rank)),
      // The rows and the status are those of one run.
      share({ connector: () => new ReplaySubject(1) }),
    );
  }

  #answerFor(asked: Asked, decisions: readonly Decision[]): PermittedAnswer {
    const { kinds, rights, areNamed } = asked;
    const asks = areNamed ? {} : rights;
    const access = joinedAccess(
      kinds.flatMap((kind, at) => accessOf(kind, decisions[at] as Decision, asks) ?? []),
    );
    const answer = asked.answer(decisions);
    if (answer === undefined) {
      const denied = kinds.filter((_kind, at) => isNothing(decisions[at] as Decision));
      const isUnknown = decisions.some((each) => each.isUnknown);
      return { nothing: this.#nothing(deniedError(denied, isUnknown), access) };
    }
    return {
      answer: answer.stream,
      enter: 'enter' in answer ? () => answer.enter() : undefined,
      status$: statusOf(answer).pipe(map((status) => statusFor(status, access))),
    };
  }

  #nothing(error: ApiError, access?: LimitedAccess): InformerStatus {
    return statusOfNothing(error, access, this.#parts.scheduler.now());
  }
}
