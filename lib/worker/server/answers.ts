/** The answers of a session: the same one for equal questions of all its tabs. */
import { isObservable, type Observable } from 'rxjs';
import { type LiveQueries, liveQueriesOver } from '../../factory/queries/create-live-queries.ts';
import type { Layer } from '../../factory/queries/pipeline.ts';
import { SharedQueries } from '../../factory/queries/shared-queries.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { checkedQuery } from '../../query/live-query/live-query.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { AskedAnswer } from '../../wire/query-feed.ts';
import { type CarriedQuery, checkSize, paramsOf, type WorkerQueries } from '../carried-query.ts';
import { SharedAnswer } from './shared-answer.ts';

/** The parts of the answers. */
export interface AnswersParts {
  readonly informers: InformerPool;
  readonly queries: WorkerQueries;
  /** @defaultValue that of the informers */
  readonly lingerMs: number | undefined;
  /** @defaultValue objects are shown as the informers have them */
  readonly layer?: Layer | undefined;
}

/** JSON with sorted fields. An answer that is shared by this text is made of this text, because different values, such as 1e999 and null, have the same. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}

/** The query of a name that a client has sent, which may be any value. */
export function queryNamed<Q>(queries: Readonly<Record<string, Q>>, named: unknown): Q | undefined {
  return typeof named === 'string' && Object.hasOwn(queries, named) ? queries[named] : undefined;
}

export class Answers {
  readonly #parts: AnswersParts;
  readonly #shared: SharedQueries;
  /** What a named query may read. */
  readonly #live: LiveQueries;
  /** The streams of named queries, by name and parameters. */
  readonly #streams = new Map<string, SharedAnswer>();

  constructor(parts: AnswersParts) {
    const { informers, lingerMs, layer } = parts;
    this.#parts = parts;
    this.#shared = new SharedQueries(informers, { lingerMs }, layer);
    this.#live = liveQueriesOver(this.#shared);
  }

  /** How many pipelines there are: of queries, and of streams, which read queries. */
  get size(): number {
    return this.#shared.size + this.#streams.size;
  }

  /** Throws if the query is invalid or unknown, or if its function throws. */
  of(carried: CarriedQuery): AskedAnswer {
    if ('named' in carried) return this.#named(carried);
    const query = checkedQuery(carried);
    checkSize('useQuery', query);
    return this.#shared.channelOf(query);
  }

  /** Whether an answer is computed already, also if nobody asks it at present. */
  runs(answer: AskedAnswer): boolean {
    return this.#shared.runs(answer) || [...this.#streams.values()].some((each) => each === answer);
  }

  /** Ends all streams, also those that linger. */
  end(): void {
    for (const each of [...this.#streams.values()]) each.end();
  }

  #named(carried: CarriedQuery): AskedAnswer {
    const key = sortedJson(carried);
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const named = String(carried['named']);
    const where = `workerQuery ${named}`;
    const made = this.#functionOf(named)(paramsOf(JSON.parse(key)), this.#live);
    const other: unknown = made;
    // Refused below. Its rejection must not end a process.
    if (other instanceof Promise) other.catch(() => undefined);
    if (isObservable(made)) return this.#share(key, where, made);
    const query = checkedQuery(made);
    checkSize(where, query);
    return this.#shared.channelOf(query);
  }

  #share(key: string, where: string, source: Observable<AnyChangeSet<unknown>>): SharedAnswer {
    const { informers } = this.#parts;
    const { lingerMs = informers.lingerMs } = this.#parts;
    const shared: SharedAnswer = new SharedAnswer({
      ...{ where, source, lingerMs, scheduler: informers.scheduler },
      onBegin: () => this.#streams.set(key, shared),
      onEnd: () => {
        if (this.#streams.get(key) === shared) this.#streams.delete(key);
      },
    });
    return shared;
  }

  #functionOf(named: string): WorkerQueries[string] {
    const { queries } = this.#parts;
    const make = queryNamed(queries, named);
    if (make !== undefined) return make;
    const names = Object.keys(queries).join(', ') || 'none';
    throw new TypeError(
      `workerQuery: the worker has no query ${JSON.stringify(named)}; serveQueries({ queries }) has ${names}`,
    );
  }
}
