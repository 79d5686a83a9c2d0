/** The rows and the columns of the server's own table, for kinds that the dashboard does not know. */
import {
  type ChangeStream,
  createChangeSet,
  type InformerFactory,
  type KubernetesObject,
  liveFilter,
  liveMap,
  parseFieldSelector,
  type Resource,
  type Stored,
  type TableColumn,
  type TableInformer,
  type TableRow,
} from 'rx-informer';
import { map, Observable } from 'rxjs';
import { headOf } from '../cluster/row-changes.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { rowIn } from '../kinds/other-kinds.ts';

export interface Columns {
  readonly columns: readonly TableColumn[];
}

/** Holds an informer while somebody subscribes. */
function reading<I, R>(
  acquire: () => { readonly informer: I; release(): void },
  read: (informer: I) => Observable<R>,
): Observable<R> {
  return new Observable((subscriber) => {
    const { informer, release } = acquire();
    subscriber.add(read(informer).subscribe(subscriber));
    subscriber.add(release);
  });
}

/** The rows of the objects that an informer of a factory has. */
export function rowsIn(
  factory: InformerFactory,
  { resource, as, row }: Kind,
  selectors: { readonly fieldSelector?: string },
): ChangeStream<Row> {
  const toRow = row as unknown as (object: Stored<KubernetesObject>) => Row;
  return reading(
    () => factory.acquire(resource as Resource<KubernetesObject>, { ...selectors, as } as never),
    ({ changes$ }) => changes$.pipe(liveMap(toRow)),
  ) as ChangeStream<Row>;
}

export function tableRowsOf(
  factory: InformerFactory,
  kind: Kind,
  { labelSelector = '', fieldSelector = '' } = {},
): ChangeStream<Row> {
  const { matches } = parseFieldSelector(fieldSelector);
  const toRows = (informer: TableInformer) =>
    informer.changes$.pipe(
      liveFilter((row: Stored<TableRow>) => matches(row)),
      liveMap(
        informer.columns$.pipe(map((columns) => (row: Stored<TableRow>) => rowIn(columns, row))),
      ),
    );
  return reading(
    () => factory.acquire(kind.resource, { as: 'table', labelSelector }),
    toRows,
  ) as ChangeStream<Row>;
}

export function columnsOf(factory: InformerFactory, kind: Kind): ChangeStream<Columns> {
  const toSets = ({ columns$ }: TableInformer) =>
    columns$.pipe(
      map((columns, at) => {
        const head = { ...headOf(at + 1), reset: true };
        const object = { columns } as Stored<Columns>;
        return createChangeSet<Columns>(head, [{ id: 'columns', key: 'columns', object }]);
      }),
    );
  return reading(
    () => factory.acquire(kind.resource, { as: 'table' }),
    toSets,
  ) as ChangeStream<Columns>;
}
