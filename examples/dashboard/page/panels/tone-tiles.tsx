/** The number of rows per state. Each count is a button that filters by its state. */
import { UnstyledButton } from '@mantine/core';
import { useView } from 'rx-informer/react/worker';
import { number } from '../../shared/words.ts';
import { go } from '../cluster/page-state.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import { useTableQueries } from '../table/use-table.tsx';
import classes from './tone-tiles.module.css';

export function ToneTiles() {
  const { kind, queries } = useTableQueries();
  const tones = useView(queries.counts.tones).rows;
  const isListed = useValue(queries.isListed$);
  const { tone } = usePage();
  const counts = new Map(tones.map(({ key, count }) => [key, count]));
  const names = Object.entries(kind.tones);
  if (names.length === 0) return null;
  const total = tones.reduce((sum, { count }) => sum + count, 0);
  return (
    <section className={classes.tiles} aria-label={`${kind.title} by state`}>
      {[['', 'All'] as const, ...names].map(([key, name]) => {
        const count = key === '' ? total : (counts.get(key) ?? 0);
        return (
          <UnstyledButton
            key={key}
            className={classes.tile}
            data-tone={isListed && count > 0 ? key : 'none'}
            data-tile={key || 'all'}
            aria-pressed={tone === key}
            onClick={() => go({ tone: tone === key ? '' : key, status: '' })}
          >
            <span className={classes.count}>
              {/* Before the list is complete, no number is known. */}
              {isListed ? (
                number.format(count)
              ) : (
                <span role="img" aria-label="not known yet">
                  –
                </span>
              )}
            </span>
            <span className={classes.name}>{name}</span>
          </UnstyledButton>
        );
      })}
    </section>
  );
}
