/** The cells of a table, by the type of their column. The ids of the columns are the sort keys; the query sorts. */
import {
  type ColumnDef,
  createColumnHelper,
  rowSortingFeature,
  tableFeatures,
} from '@tanstack/react-table';
import { ageText, useClockText } from '../cluster/clock.ts';
import { causeOf } from '../kinds/cause.ts';
import type { Column, Row } from '../kinds/kind.ts';
import { toggle } from '../kinds/tree.ts';
import { DownIcon, RightIcon } from '../layout/icons.tsx';
import classes from './cells.module.css';
import { ShortName } from './short-name.tsx';
import { useLastLine } from './use-last-line.ts';

/** The features of TanStack Table that the table uses: columns and the state of sorting. */
export const features = tableFeatures({ rowSortingFeature });

const helper = createColumnHelper<typeof features, Row>();

export function columnsOf(columns: readonly Column[]): ColumnDef<typeof features, Row>[] {
  return columns.map((column) =>
    helper.accessor((row) => row[column.id], {
      id: column.id,
      header: column.title,
      sortDescFirst: column.largestFirst ?? false,
      cell: ({ row }) => <Cell column={column} row={row.original} />,
    }),
  ) as ColumnDef<typeof features, Row>[];
}

function Cell({ column, row }: { readonly column: Column; readonly row: Row }) {
  const value = row[column.id] ?? '';
  switch (column.type) {
    case 'name':
      return <Name row={row} />;
    case 'status':
      return <StatusBadge tone={row.tone} text={row.status} why={row.why} />;
    case 'why':
      return row.why === '' ? <None /> : <Why row={row} />;
    case 'age':
      return <Age sinceMs={Number(value)} />;
    case 'number':
      if (value === '') return <None label="not known" />;
      return <span className={value === 0 ? classes.faint : undefined}>{value}</span>;
    case 'owner':
      return <Owner text={String(value)} column={column.id} />;
    case 'share':
      if (value === '') return <None label="not known" />;
      return (
        <Share
          share={Number(value)}
          text={String(row[`${column.id}Text`])}
          {...(column.isUsage && { title: String(row[`${column.id}Title`]) })}
        />
      );
    case 'text':
      if (value === '') return <None />;
      return <span title={String(value)}>{value}</span>;
  }
}

function Why({ row: { why, log } }: { readonly row: Row }) {
  const line = useLastLine(log);
  const first = line && `${line} — `;
  return <span title={`${first}${why}`}>{`${first}${causeOf(why)}`}</span>;
}

function None({ label = 'none' }: { readonly label?: string }) {
  return (
    <span className={classes.faint} role="img" aria-label={label} title={label}>
      –
    </span>
  );
}

function Name({ row }: { readonly row: Row }) {
  const { depth, branch } = row;
  if (depth === undefined) return <ShortName text={row.name} column="name" beside={22} />;
  return (
    <span className={classes.branch} style={{ paddingLeft: Number(depth) * 18 }}>
      {/* The arrow keys do the same for the keyboard, which moves over rows and not over their parts. */}
      <span
        className={classes.twist}
        aria-hidden="true"
        onClick={(event) => {
          if (branch === '') return;
          event.stopPropagation();
          toggle(row.uid);
        }}
      >
        {branch === 'open' && <DownIcon size={14} />}
        {branch === 'closed' && <RightIcon size={14} />}
      </span>
      <ShortName text={row.name} column="name" beside={42 + Number(depth) * 18} />
    </span>
  );
}

/** A status in the colour of its tone. */
export function StatusBadge(props: {
  readonly tone: string;
  readonly text: string;
  readonly why?: string;
}) {
  const { tone, text, why } = props;
  return (
    <span className={classes.badge} data-tone={tone} title={why ? `${text} (${why})` : text}>
      <span className={classes.badgeText}>{text}</span>
    </span>
  );
}

/** The time since a moment, as kubectl prints it. */
export function Age({ sinceMs }: { readonly sinceMs: number }) {
  return useClockText((now) => (sinceMs === 0 ? '' : ageText(now - sinceMs)));
}

/** The short names of kubectl. A map, because a kind may be called `constructor`. */
const shortKinds: ReadonlyMap<string, string> = new Map([
  ['ReplicaSet', 'rs'],
  ['Deployment', 'deploy'],
  ['StatefulSet', 'sts'],
  ['DaemonSet', 'ds'],
  ['Job', 'job'],
  ['Pod', 'pod'],
  ['Node', 'node'],
  ['PersistentVolumeClaim', 'pvc'],
  ['HorizontalPodAutoscaler', 'hpa'],
]);

function Owner({ text, column }: { readonly text: string; readonly column: string }) {
  if (text === '') return <None />;
  const [kind = '', name = ''] = text.split('/');
  const before = `${shortKinds.get(kind) ?? kind}/`;
  return (
    <span className={classes.owner} title={text}>
      <span className={classes.kind}>{before}</span>
      <ShortName text={name} column={column} beside={16} before={before} />
    </span>
  );
}

/** A part of a limit, as a bar and in words. */
export function Share(props: {
  readonly share: number;
  readonly text: string;
  /** In more words. The bar is shorter then. */
  readonly title?: string;
}) {
  const { share, text, title = `${text} (${Math.round(share * 100)} %)` } = props;
  const tone = share > 0.9 ? 'bad' : share > 0.75 ? 'busy' : 'good';
  return (
    <span
      className={classes.share}
      data-tone={tone}
      data-short={props.title !== undefined}
      title={title}
    >
      <span className={classes.track}>
        <span className={classes.fill} style={{ transform: `scaleX(${Math.min(1, share)})` }} />
      </span>
      {text}
    </span>
  );
}
