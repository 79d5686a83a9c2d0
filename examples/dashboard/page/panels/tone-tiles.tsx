/** The number of rows per state. Each count is a button that filters by its state. */
import { UnstyledButton } from '@mantine/core';
import { useView } from 'rx-informer/react/worker';
import { go } from '../cluster/page-state.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import { useTableQueries } from '../table/use-table.tsx';
import classes from './tone-tiles.module.css';

const number = new Intl.NumberFormat('en-US');

export function ToneTiles() {
  const { kind, queries } = useTableQueries();
  const tones = useView(queries.tones).rows;
  const isListed = useValue(queries.isListed$);
  const { tone } = usePage();
  const counts = new Map(tones.map(({ key, count }) => [key, count]));
  const names = Object.entries(kind.tones);
  if (names.length === 0) return null;
  const total = tones.reduce((sum, { count }) => sum + count, 0);
  return (
    <section className={classes.tiles} aria-label={`${kind.title} by state`}>
      <Tile
        name="All"
        tone=""
        // Before the list is complete, no number is known.
        count={isListed ? total : undefined}
        pressed={tone === ''}
      />
      {names.map(([key, name]) => (
        <Tile
          key={key}
          name={name}
          tone={key}
          count={isListed ? (counts.get(key) ?? 0) : undefined}
          pressed={tone === key}
        />
      ))}
    </section>
  );
}

function Tile(props: {
  readonly name: string;
  readonly count: number | undefined;
  readonly tone: string;
  readonly pressed: boolean;
}) {
  const { name, count, tone, pressed } = props;
  return (
    <UnstyledButton
      className={classes.tile}
      data-tone={count ? tone : 'none'}
      data-tile={tone || 'all'}
      aria-pressed={pressed}
      onClick={() => go({ tone: pressed ? '' : tone, status: '' })}
    >
      <span className={classes.count}>
        {count === undefined ? (
          <span role="img" aria-label="not known yet">
            –
          </span>
        ) : (
          number.format(count)
        )}
      </span>
      <span className={classes.name}>{name}</span>
    </UnstyledButton>
  );
}
