/** What one user asks of the informers of all users. Equal queries with equal rights share a pipeline. */
import { combineLatest, type Observable, ReplaySubject, type SchedulerLike, share } from 'rxjs';
import { map } from 'rxjs/operators';
import type { QueryChannel } from '../../factory/queries/query-channel.ts';
import type { LimitedAccess } from '../../informer/sources.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { Resource } from '../../meta/resource.ts';
import { checkedQuery } from '../../query/live-query/live-query.ts';
import type { AskedAnswer } from '../../wire/query-feed.ts';
import { type CarriedQuery, checkSize, paramsOf } from '../../worker/carried-query.ts';
import { sortedJson } from '../../worker/server/answers.ts';
import {
  accessOf,
  deniedError,
  narrowed,
  rightsAskedBy,
  statusFor,
  statusOfNothing,
} from '../rights/narrowed.ts';
import type { AskedRights } from '../rights/rights.ts';
import type { Decision, UserRights } from '../rights/user-rights.ts';
import { checkQuerySize } from '../users/limits.ts';
import type { UserEdits } from '../users/user-edits.ts';
import {
  aboutQuery,
  refusedEdit,
  refusedPipeline,
  type UserSession,
} from '../users/user-session.ts';
import type { HeldQueries } from './held-queries.ts';
import { type NamedQueries, statusOf } from './named-queries.ts';
import { type PermittedAnswer, permittedChannel } from './permitted-query.ts';

/** The parts of a session. */
export interface SharedSessionParts {
  readonly epoch: number;
  readonly held: HeldQueries;
  readonly named: NamedQueries;
  readonly rights: UserRights;
  readonly scheduler: SchedulerLike;
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
  /** The answer for what is permitted of each kind; `undefined` if that is nothing. */
  answer(permitted: readonly Decision[]): ReturnType<NamedQueries['answer']> | undefined;
}

/** An answer, and how many feeds follow it. */
interface Open {
  readonly channel: QueryChannel;
  feeds: number;
}

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
    checkQuerySize(carried);
    const asked = 'named' in carried ? this.#named(carried) : aboutQuery(() => this.#data(carried));
    const { mostPipelines } = this.#parts;
    const known = this.#open.get(asked.key);
    if (known === undefined && this.#open.size >= mostPipelines) {
      throw refusedPipeline(mostPipelines);
    }
    const open = known ?? { channel: permittedChannel(this.#permitted(asked)), feeds: 0 };
    return {
      stream: open.channel.stream,
      view: open.channel.view,
      enter: () => this.#enter(asked.key, open),
    };
  }

  async edit(...[edit, tab]: Parameters<UserSession['edit']>): Promise<unknown> {
    const { edits, held } = this.#parts;
    if (edits === undefined) return await refusedEdit();
    const { group, version, plural } = held.kindOf(edit.resource);
    return await edits.edit({ ...edit, resource: { group, version, plural } }, tab);
  }

  end(): void {
    this.#open.clear();
  }

  #enter(key: string, open: Open): () => void {
    open.feeds++;
    this.#open.set(key, open);
    return () => {
      if (--open.feeds === 0 && this.#open.get(key) === open) this.#open.delete(key);
    };
  }

  #data(carried: CarriedQuery): Asked {
    const { held } = this.#parts;
    const { kind, query } = held.known(checkedQuery(carried));
    checkSize('useQuery', query);
    // Throws if the objects of the server cannot answer it.
    held.plansOf(query);
    return {
      key: query.key,
      kinds: [kind],
      rights: rightsAskedBy(query),
      answer: ([decision]) => {
        const own = decision && narrowed(query, kind, decision.permitted);
        return own && held.channelOf(own);
      },
    };
  }

  #named(carried: CarriedQuery): Asked {
    const { named, held } = this.#parts;
    const { reads, namespaces } = named.of(carried['named']);
    const kinds = reads.map((kind) => held.kindOf(kind));
    const asked = namespaces?.(paramsOf(carried));
    return {
      key: sortedJson(carried),
      kinds,
      rights: asked === undefined ? {} : { namespaces: [...asked].sort() },
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
  #permitted(asked: Asked): Observable<PermittedAnswer> {
    const { rights, report } = this.#parts;
    const { kinds } = asked;
    const askedOf = ({ namespaced }: Resource) =>
      namespaced ? asked.rights : { name: asked.rights.name };
    const answerFor = (decisions: readonly Decision[]): PermittedAnswer => {
      try {
        return this.#answerFor(asked, decisions);
      } catch (error) {
        report(error);
        return { nothing: this.#nothing(ApiError.from(error, 'the query'), undefined) };
      }
    };
    return combineLatest(kinds.map((kind) => rights.decisions(kind, askedOf(kind)))).pipe(
      map(answerFor),
      // The rows and the status are those of one run.
      share({ connector: () => new ReplaySubject(1) }),
    );
  }

  #answerFor(asked: Asked, decisions: readonly Decision[]): PermittedAnswer {
    const { kinds, rights } = asked;
    const [first] = decisions;
    const [kind] = kinds;
    const isPart = kind?.namespaced === true && first !== undefined;
    const access = isPart ? accessOf(kind, first.permitted, rights) : undefined;
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

  #nothing(error: ApiError, access: LimitedAccess | undefined): InformerStatus {
    return statusOfNothing(error, access, this.#parts.scheduler.now());
  }
}
