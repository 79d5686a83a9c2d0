/** The informers of one user, which all connections of this user share. */

import { informersOfFactory } from '../../factory/factory-informers.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { readable } from '../../wire/public-error.ts';
import type { AskedAnswer } from '../../wire/query-feed.ts';
import type { CarriedQuery, WorkerQueries } from '../../worker/carried-query.ts';
import { Answers } from '../../worker/server/answers.ts';
import type { TabSession } from '../../worker/server/served-tab.ts';
import type { SessionFactory } from '../../worker/server/session.ts';
import { checkQuerySize } from './limits.ts';

/** The parts of a session. */
export interface UserSessionParts {
  readonly epoch: number;
  readonly factory: SessionFactory;
  readonly queries: WorkerQueries;
  /** How many different queries run at one time. */
  readonly mostPipelines: number;
}

export class UserSession implements TabSession {
  readonly epoch: number;
  readonly #parts: UserSessionParts;
  readonly #answers: Answers;

  constructor(parts: UserSessionParts) {
    this.#parts = parts;
    this.epoch = parts.epoch;
    const { factory, queries } = parts;
    const informers: InformerPool = informersOfFactory('serveUsers: createFactory', factory);
    this.#answers = new Answers({ informers, queries, lingerMs: undefined });
  }

  get pipelines(): number {
    return this.#answers.size;
  }

  answerOf(query: CarriedQuery): AskedAnswer {
    checkQuerySize(query);
    const answer = this.#answer(query);
    const { mostPipelines } = this.#parts;
    if (this.#answers.size < mostPipelines || this.#answers.runs(answer)) return answer;
    const message = `this user has ${mostPipelines} queries; close some, and ask again in a minute`;
    throw readable(new RangeError(message));
  }

  #answer(query: CarriedQuery): AskedAnswer {
    const { queries } = this.#parts;
    if ('named' in query) {
      const { named } = query;
      const isKnown = typeof named === 'string' && Object.hasOwn(queries, named);
      if (!isKnown)
        throw readable(new TypeError(`the server has no query ${JSON.stringify(named)}`));
      // What its function throws is not ours to tell.
      return this.#answers.of(query);
    }
    try {
      return this.#answers.of(query);
    } catch (error) {
      // About the data of the query.
      throw error instanceof TypeError ? readable(error) : error;
    }
  }

  edit(): Promise<never> {
    return Promise.reject(readable(ApiError.local('Refused', 'this server takes no edits')));
  }

  /** Stops the informers. */
  end(): void {
    this.#answers.end();
    this.#parts.factory.stop().catch(reportUnhandled);
  }
}
