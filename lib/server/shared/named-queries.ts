/** The queries with names of a shared factory: run once for equal parameters and rights, and checked to have no rows of other kinds. */
import { EMPTY, isObservable, type Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import { checkedFunction, checkedList } from '../../checks/checked-option.ts';
import { liveQueriesOver } from '../../factory/queries/create-live-queries.ts';
import type { SourcePlan } from '../../factory/queries/plan.ts';
import type { QueryChannel } from '../../factory/queries/query-channel.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { isFields } from '../../meta/json-fields.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import { toView } from '../../query/view/to-view.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { type CarriedQuery, checkSize, paramsOf } from '../../worker/carried-query.ts';
import { queryNamed, sortedJson } from '../../worker/server/answers.ts';
import { SharedAnswer } from '../../worker/server/shared-answer.ts';
import { deniedError, failedError, narrowed, statusOfNothing } from '../rights/narrowed.ts';
import { type AskedRights, checkedNames, type PermittedNamespaces } from '../rights/rights.ts';
import { refusedName } from '../users/user-session.ts';
import type { HeldQueries } from './held-queries.ts';
import { permittedChannel } from './permitted-query.ts';
import type { KindsRead, SharedQueriesByName, SharedQuery } from './shared-query.ts';

/** The rights of a run. */
export type PermittedKinds = ReadonlyMap<Resource, PermittedNamespaces>;

/** The parts of the named queries. */
export interface NamedQueriesParts {
  readonly held: HeldQueries;
  readonly queries: SharedQueriesByName;
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
  /** Tells the program with what a stream has failed. */
  report(error: unknown): void;
}

type Answer = SharedAnswer | QueryChannel;

/** Checks the option. Throws a `TypeError` that names the query. */
function checkNamedQueries(held: HeldQueries, queries: SharedQueriesByName): void {
  for (const [name, query] of Object.entries(queries)) {
    const where = `serveUsers: queries: ${name}`;
    if (!isFields(query)) {
      throw new TypeError(
        `${where} must be { reads, ask } beside factory, because the rights to the kinds that it reads are the user's`,
      );
    }
    checkedFunction(query.ask, `${where}: ask`, '(params, live) => a query');
    if (typeof query.reads !== 'function') checkedReads(held, query.reads, where);
  }
}

/** The kinds as the server has them, each once. Throws a `TypeError` if that is no list of its kinds. */
function checkedReads(held: HeldQueries, given: unknown, where: string): readonly Resource[] {
  const reads = checkedList(given as KindsRead, `${where}: reads`, 'a list of kinds');
  // Without any, no right would be needed.
  if (reads.length === 0) throw new TypeError(`${where}: reads is empty; name the kinds`);
  return [...new Set(reads.map((kind) => held.kindOf(kind)))];
}

export class NamedQueries {
  readonly #parts: NamedQueriesParts;
  /** The streams that run, by name, parameters and rights. */
  readonly #runs = new Map<string, SharedAnswer>();

  constructor(parts: NamedQueriesParts) {
    checkNamedQueries(parts.held, parts.queries);
    this.#parts = parts;
  }

  /** Throws a readable `TypeError` if there is no such query. */
  of(named: unknown): SharedQuery {
    const query = queryNamed(this.#parts.queries, named);
    if (query === undefined) throw refusedName(named);
    return query;
  }

  /** The kinds that a query reads, as the server has them. Throws as `rightsAskedBy` does. */
  kindsReadBy({ reads }: SharedQuery, carried: CarriedQuery): readonly Resource[] {
    const { held } = this.#parts;
    return this.#called(
      carried,
      () => (typeof reads === 'function' ? reads(paramsOf(carried)) : reads),
      (given, where) => checkedReads(held, given, where),
    );
  }

  /** What a query needs. Throws a readable error if its function does, of which the program is told. */
  rightsAskedBy({ namespaces }: SharedQuery, carried: CarriedQuery): AskedRights {
    if (namespaces === undefined) return {};
    return this.#called(
      carried,
      () => namespaces(paramsOf(carried)),
      (given, where) => ({ namespaces: checkedNames(`${where}: namespaces must return`, given) }),
    );
  }

  #called<R>(
    carried: CarriedQuery,
    call: () => unknown,
    checked: (given: unknown, where: string) => R,
  ): R {
    const { report } = this.#parts;
    try {
      const given = call();
      if (given instanceof Promise) given.catch(report);
      return checked(given, `serveUsers: queries: ${String(carried['named'])}`);
    } catch (error) {
      report(error);
      throw failedError();
    }
  }

  /** The answer for users with these rights. */
  answer(carried: CarriedQuery, permitted: PermittedKinds): Answer {
    const { held, lingerMs, scheduler, report } = this.#parts;
    const rights = [...permitted].map(([{ group, plural }, each]) => [group, plural, each]);
    const key = sortedJson([carried, rights]);
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    const where = `workerQuery ${String(carried['named'])}`;
    const reads = new NarrowedQueries(held, permitted, where);
    const made = this.of(carried['named']).ask(paramsOf(carried), liveQueriesOver(reads));
    const other: unknown = made;
    if (other instanceof Promise) {
      other.catch(report);
      throw new TypeError(`${where}: ask has returned a promise; return a query or a stream`);
    }
    if (!isObservable(made)) {
      const query = checkedQuery(made);
      checkSize(where, query);
      return reads.channelOf(query);
    }
    let isTold = false;
    const shared: SharedAnswer = new SharedAnswer({
      ...{ where, lingerMs, scheduler },
      source: reads.checked(made),
      // Each reader begins a stream that has failed again.
      onError: (error) => {
        if (!isTold) report(error);
        isTold = true;
      },
      onBegin: () => this.#runs.set(key, shared),
      onEnd: () => {
        if (this.#runs.get(key) === shared) this.#runs.delete(key);
      },
    });
    return shared;
  }
}

/** The live queries of users with equal rights. */
class NarrowedQueries {
  readonly #held: HeldQueries;
  readonly #permitted: PermittedKinds;
  readonly #where: string;
  /** The statuses of the informers whose rows were handed out. */
  readonly #given = new WeakSet<object>();

  constructor(held: HeldQueries, permitted: PermittedKinds, where: string) {
    this.#held = held;
    this.#permitted = permitted;
    this.#where = where;
  }

  plansOf(query: LiveQuery): readonly SourcePlan[] {
    const { kind, query: own } = this.#held.known(query);
    this.#permittedOf(kind);
    return this.#held.plansOf(own);
  }

  get size(): number {
    return this.#held.size;
  }

  /** The objects of a query that may be read. */
  channelOf(asked: LiveQuery): QueryChannel {
    const { kind, query } = this.#held.known(checkedQuery(asked));
    const own = narrowed(query, kind, this.#permittedOf(kind));
    const channel =
      own !== undefined
        ? this.#held.channelOf(own)
        : permittedChannel(
            of({ nothing: statusOfNothing(deniedError([kind], false), undefined, 0) }),
          );
    this.#given.add(channel.status$);
    return channel;
  }

  #permittedOf(kind: Resource): PermittedNamespaces {
    const permitted = this.#permitted.get(kind);
    if (permitted !== undefined) return permitted;
    const name = resourceName(kind);
    throw new TypeError(`${this.#where} reads ${name}, which is not in its reads; add it there`);
  }

  /** A stream of rows that come from these queries, and from no informer that the program has otherwise. */
  checked(source: Observable<AnyChangeSet<unknown>>): Observable<AnyChangeSet<unknown>> {
    return source.pipe(
      tap((set) => {
        // A program may emit anything, which is refused later.
        const { origin } = (set as AnyChangeSet<unknown> | undefined) ?? {};
        const others = [...(origin?.informers ?? [])].filter((each) => !this.#given.has(each));
        if (others.length === 0) return;
        throw new TypeError(
          `${this.#where} has rows of an informer that it was not given; read by the live queries that it receives`,
        );
      }),
    );
  }
}

/** The status of an answer, which follows it. Never errors, because the answer does. */
export function statusOf(answer: Answer): Observable<InformerStatus> {
  if (!(answer instanceof SharedAnswer)) return answer.status$;
  const rows$ = answer.stream.pipe(catchError(() => EMPTY));
  return toView(rows$).status$ as Observable<InformerStatus>;
}
