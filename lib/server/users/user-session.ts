/** The session of a user, which all connections of this user share: what the user asks, and of which informers. */

import { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { informersOfFactory } from '../../factory/factory-informers.ts';
import { missingIndex } from '../../factory/queries/plan.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import { resourceName } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { readable } from '../../wire/public-error.ts';
import type { AskedAnswer } from '../../wire/query-feed.ts';
import type { CarriedQuery, WorkerQueries } from '../../worker/carried-query.ts';
import { Answers, queryNamed } from '../../worker/server/answers.ts';
import type { TabSession } from '../../worker/server/served-tab.ts';
import type { SessionFactory } from '../../worker/server/session.ts';
import type { TakeTurn } from '../turns/turns.ts';
import { checkQuerySize, tooMany } from './limits.ts';
import type { ServedUser } from './user.ts';
import { UserEdits } from './user-edits.ts';

/** What one connection asks. */
export interface ConnectionSession extends TabSession {
  /** How far the rows are that are sent now: a text for the next server. */
  position?(): string | undefined;
}

/** What the connections of a user ask. */
export interface UserSession extends ConnectionSession {
  /** What a page asks that was told this position by another server: its rows do not go back. */
  askedAfter?(position: unknown): ConnectionSession;
  /** How many different queries run. */
  readonly pipelines: number;
  /** Nobody asks any more. */
  end(): void;
}

/** What a session is begun with. */
export interface SessionBeginning {
  /** Grows with each session. */
  readonly epoch: number;
  /** The turns of the user at first answers. */
  readonly takeTurn: TakeTurn;
  /** How many different queries run in the other sessions of the same name and uid, whose groups or extra are others. */
  elsewhere(): number;
}

/** Makes the sessions of users. */
export interface UserInformers {
  /** Begins the session of a user. */
  begin(user: ServedUser, beginning: SessionBeginning): UserSession | Promise<UserSession>;
  /** The server serves nobody any more. */
  end(): void;
}

/** The error of an edit. */
export const refusedEdit = (): Promise<never> =>
  Promise.reject(readable(ApiError.local('Refused', 'this server takes no edits')));

/** The error of a query over the limit. */
export function refusedPipeline(most: number): Error {
  return tooMany(
    `this user has ${most} queries (limits.pipelines); close some, and ask again in a minute`,
  );
}

/** The error of a query with a name that the server does not have. */
export function refusedName(named: unknown): Error {
  return readable(new TypeError(`the server has no query ${JSON.stringify(named)}`));
}

/** Refuses an index that the informers do not have, without the names of those that they have. */
export function checkIndex(query: LiveQuery, informers: InformerPool): void {
  const missing = missingIndex(query, informers);
  if (missing === undefined) return;
  const name = resourceName(query.from);
  throw readable(new TypeError(`the server has no index ${JSON.stringify(missing)} of ${name}`));
}

/** Makes what a query is refused for readable, because it is about the data of the query. */
export function aboutQuery<V>(answer: () => V): V {
  try {
    return answer();
  } catch (error) {
    throw error instanceof TypeError ? readable(error) : error;
  }
}

/** The parts of a session with informers of its own. */
export interface OwnInformersParts extends SessionBeginning {
  readonly factory: SessionFactory;
  readonly queries: WorkerQueries;
  readonly takesEdits: boolean;
  /** How many different queries run at one time. */
  readonly mostPipelines: number;
}

export class OwnInformers implements UserSession {
  readonly epoch: number;
  readonly edit: UserSession['edit'];
  readonly #parts: OwnInformersParts;
  readonly #informers: InformerPool;
  readonly #answers: Answers;

  constructor(parts: OwnInformersParts) {
    this.#parts = parts;
    this.epoch = parts.epoch;
    const { factory, queries, takesEdits } = parts;
    const informers: InformerPool = informersOfFactory('serveUsers: createFactory', factory);
    this.#informers = informers;
    // Without edits no query runs through a layer.
    const layer = takesEdits ? new EditableLayer() : undefined;
    this.#answers = new Answers({ informers, queries, lingerMs: undefined, layer });
    const { client, scheduler } = informers;
    const edits = new UserEdits({ client: () => client, scheduler, layer });
    this.edit = takesEdits ? (...edit) => edits.edit(...edit) : refusedEdit;
  }

  answerOf(query: CarriedQuery): AskedAnswer {
    checkQuerySize(query);
    const answer = this.#answer(query);
    const { mostPipelines, elsewhere } = this.#parts;
    const size = this.pipelines + elsewhere();
    if (size < mostPipelines || this.#answers.runs(answer)) return answer;
    throw refusedPipeline(mostPipelines);
  }

  get pipelines(): number {
    return this.#answers.size;
  }

  #answer(query: CarriedQuery): AskedAnswer {
    const { queries } = this.#parts;
    if ('named' in query) {
      const { named } = query;
      if (queryNamed(queries, named) === undefined) throw refusedName(named);
      // What its function throws is not ours to tell.
      return this.#answers.of(query);
    }
    return aboutQuery(() => {
      checkIndex(checkedQuery(query), this.#informers);
      return this.#answers.of(query);
    });
  }

  /** Stops the informers. */
  end(): void {
    this.#answers.end();
    this.#parts.factory.stop().catch(reportUnhandled);
  }
}
