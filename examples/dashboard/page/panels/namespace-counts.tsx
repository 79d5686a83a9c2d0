/** The number of pods per namespace. Each line is a button that filters by its namespace. */
import { ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { podQueries } from '../cluster/live-pods.ts';
import { useValue, useView } from '../cluster/use-live.ts';
import classes from './namespace-counts.module.css';

const number = new Intl.NumberFormat('en-US');

export function NamespaceCounts() {
  const { namespaces: view, filter$ } = podQueries;
  const namespaces = useView(view, ({ rows }) => rows);
  const filter = useValue(filter$);
  const most = Math.max(1, ...namespaces.map(({ count }) => count));
  return (
    <ScrollArea className={classes.scroll} type="auto">
      <Text component="h2" className={classes.heading}>
        Namespaces <span>{namespaces.length}</span>
      </Text>
      <ul className={classes.list}>
        {namespaces.map(({ key, count }) => (
          <li key={key}>
            <UnstyledButton
              className={classes.namespace}
              aria-pressed={filter.namespace === key}
              onClick={() =>
                filter$.next({ ...filter, namespace: filter.namespace === key ? '' : key })
              }
            >
              <span className={classes.name}>{key}</span>
              <span className={classes.count}>{number.format(count)}</span>
              <span className={classes.bar} style={{ transform: `scaleX(${count / most})` }} />
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </ScrollArea>
  );
}
