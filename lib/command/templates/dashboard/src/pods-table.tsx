/** The table of Pods, with its filter, its order and its pages. */
import { memo, useState } from 'react';
import { useQuery } from 'rx-informer/react';
import { Announcement } from './announcement.tsx';
import { type Choice, COLUMNS, type Column, PAGE_SIZE, type PodRow, podsQuery } from './pods.ts';

const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Renders only if its Pod has changed: a row is the same object until then. */
const Row = memo(function Row({ pod }: { readonly pod: PodRow }) {
  return (
    <tr>
      <td>{pod.namespace}</td>
      <th scope="row">{pod.name}</th>
      <td className={pod.phase?.toLowerCase()}>{pod.phase}</td>
      <td className="wide">{pod.node}</td>
      <td className="wide">{pod.created && date.format(new Date(pod.created))}</td>
    </tr>
  );
});

interface HeadingProps {
  readonly column: Column;
  readonly choice: Choice;
  readonly onSort: (column: Column) => void;
}

function Heading({ column, choice, onSort }: HeadingProps) {
  const isSorted = column.id === choice.column.id;
  const order = choice.direction === 'asc' ? 'ascending' : 'descending';
  const isWide = column.id === 'node' || column.id === 'created';
  return (
    <th
      scope="col"
      className={isWide ? 'wide' : undefined}
      aria-sort={isSorted ? order : undefined}
    >
      <button type="button" onClick={() => onSort(column)}>
        {column.title}
        <span aria-hidden="true">{isSorted && (choice.direction === 'asc' ? ' ↑' : ' ↓')}</span>
      </button>
    </th>
  );
}

interface TurnProps {
  readonly children: string;
  readonly page: number;
  readonly pages: number;
  readonly onTurn: (page: number) => void;
}

/** Remains in the order of the tabs if there is no such page: a button that is `disabled` loses the focus. */
function Turn({ children, page, pages, onTurn }: TurnProps) {
  const exists = page >= 0 && page < pages;
  return (
    <button type="button" aria-disabled={!exists} onClick={() => exists && onTurn(page)}>
      {children}
    </button>
  );
}

export function PodsTable() {
  const [choice, setChoice] = useState<Choice>({
    filter: '',
    column: COLUMNS[1],
    direction: 'asc',
    page: 0,
  });
  const { rows, total, synced, stale, error } = useQuery(podsQuery(choice));
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  // The last page is shown if the rows of this one have left.
  if (synced && !stale && choice.page >= pages) setChoice({ ...choice, page: pages - 1 });
  const sort = (column: Column) => {
    const turns = column.id === choice.column.id && choice.direction === 'asc';
    setChoice({ ...choice, column, direction: turns ? 'desc' : 'asc', page: 0 });
  };
  const turn = (page: number) => setChoice({ ...choice, page });
  // Beside the rows, too: they remain if the permission is withdrawn.
  const refusal = error && <p role="alert">The cluster refuses: {error.message}</p>;
  if (refusal && rows.length === 0) return refusal;
  const count = `${total.toLocaleString('en')} Pods`;
  const place = `${choice.page + 1} of ${pages}`;
  return (
    <>
      {refusal}
      <search>
        <label>
          Filter
          <input
            type="search"
            placeholder="name or namespace"
            value={choice.filter}
            onChange={({ target }) => setChoice({ ...choice, filter: target.value, page: 0 })}
          />
        </label>
        {/* After a change of the filter, the former rows stand until the new answer is complete. */}
        <span>{synced || stale ? count : 'Loading'}</span>
      </search>
      <Announcement
        choice={`${choice.page} ${choice.filter}`}
        isComplete={synced && !stale}
        text={`${count}, page ${place}`}
      />
      <table aria-busy={stale || !synced}>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <Heading key={column.id} column={column} choice={choice} onSort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((pod) => (
            <Row key={pod.uid} pod={pod} />
          ))}
        </tbody>
      </table>
      {synced && total === 0 && <p>No Pod matches.</p>}
      <nav aria-label="Pages">
        <Turn page={choice.page - 1} pages={pages} onTurn={turn}>
          Previous
        </Turn>
        <span>Page {place}</span>
        <Turn page={choice.page + 1} pages={pages} onTurn={turn}>
          Next
        </Turn>
      </nav>
    </>
  );
}
