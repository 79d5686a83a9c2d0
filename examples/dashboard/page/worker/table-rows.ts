/** The rows and the columns of the server's own table, for kinds that the dashboard does not know. */
import {
  type ChangeStream,
  createChangeSet,
  type InformerFactory,
  liveFilter,
  liveMap,
  parseFieldSelector,
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

/** Holds the informer of a table while somebody subscribes. */
function reading<R>(
  factory: InformerFactory,
  { resource }: Kind,
  labelSelector: string,
  read: (informer: TableInformer) => Observable<R>,
): Observable<R> {
  return new Observable((subscriber) => {
    const { informer, release } = factory.acquire(resource, { as: 'table', labelSelector });
    subscriber.add(read(informer).subscribe(subscriber));
    subscriber.add(release);
  });
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
  return reading(factory, kind, labelSelector, toRows) as ChangeStream<Row>;
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
  return reading(factory, kind, '', toSets) as ChangeStream<Columns>;
}
