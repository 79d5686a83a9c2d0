/** The rows of a kind as live queries, and what they cost. */
import {
  type ChangeStream,
  type KubernetesObject,
  type LiveQuery,
  liveQuery,
  liveShare,
  parseFieldSelector,
  type Resource,
} from 'rx-informer';
import { tap } from 'rxjs';
import type { Kind, Row, Streams } from '../kinds/kind.ts';
import { paced, queries } from './cluster.ts';

/** The selectors of the filter. */
export interface Selectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** The work of a query since it began. */
export class Cost {
  /** Change sets, and the changes in them. */
  sets = 0;
  changes = 0;
  /** The time from a change set to the end of its last step, in milliseconds: all of them, and the longest. */
  totalMs = 0;
  longestMs = 0;
  #beganMs = 0;

  begin(): void {
    this.#beganMs = performance.now();
  }

  end(changes: number): void {
    const ms = performance.now() - this.#beganMs;
    this.sets++;
    this.changes += changes;
    this.totalMs += ms;
    this.longestMs = Math.max(this.longestMs, ms);
  }
}

/** The query of a kind as data: what is read from the server, and the row that is made of each object. */
export function queryOf(kind: Kind, selectors?: Selectors): LiveQuery<Row> {
  const { labelSelector = '', fieldSelector = '' } = selectors ?? {};
  // Each kind reads its own resource.
  const { resource: from, as } = kind as Pick<Kind, 'as'> & {
    resource: Resource<KubernetesObject>;
  };
  const project = kind.row as (object: KubernetesObject) => Row;
  const query = {
    ...(labelSelector === '' ? {} : { labelSelector }),
    // As a condition, because a server selects by a few fields only, and each text would be a watch of its own.
    ...(fieldSelector === ''
      ? {}
      : {
          where: {
            key: `fields ${fieldSelector}`,
            test: (object: object) => parseFieldSelector(fieldSelector).matches(object),
          },
        }),
    select: { key: `row of ${kind.resource.plural}`, project },
  };
  return as === undefined ? liveQuery({ from, ...query }) : liveQuery({ from, as, ...query });
}

const streams: Streams = {
  rows: (kind) => queries.stream(queryOf(kind) as LiveQuery<Row, false>).pipe(paced()),
  objects: (resource) => queries.stream(liveQuery({ from: resource })).pipe(paced()),
};

/** The rows of a kind. */
export interface KindRows {
  /** With what other kinds add to them. */
  readonly rows$: ChangeStream<Row>;
  /** Without it, so that their number is known even if another kind may not be read. */
  readonly listed$: ChangeStream<Row>;
}

export function rowsOf(kind: Kind, cost: Cost, selectors?: Selectors): KindRows {
  const query = queryOf(kind, selectors) as LiveQuery<Row, false>;
  const paced$ = queries.stream(query).pipe(paced<Row>());
  // The health of a tree is that of all its objects.
  const isWhole = kind.join === undefined || kind.isTree;
  const own$ = isWhole ? paced$ : paced$.pipe(liveShare());
  const joined$ = kind.join?.(own$, streams) ?? own$;
  const rows$ = joined$.pipe(
    tap(() => cost.begin()),
    liveShare(),
  );
  return { rows$, listed$: isWhole ? rows$ : own$ };
}
