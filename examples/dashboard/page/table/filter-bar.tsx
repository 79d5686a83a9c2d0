/** The inputs of the filter (text, phase, namespace), and the number of matching pods. */
import { Button, CloseButton, Group, Select, Text, TextInput } from '@mantine/core';
import { podQueries } from '../cluster/live-pods.ts';
import { usePodCount, useValue, useView } from '../cluster/use-live.ts';
import { SearchIcon } from '../layout/icons.tsx';
import { isOpen, noFilter } from '../pods/filter.ts';
import classes from './filter-bar.module.css';

const number = new Intl.NumberFormat('en-US');

function names(counts: readonly { readonly key: string }[], chosen: string): string[] {
  const keys = counts.map(({ key }) => key);
  return chosen === '' || keys.includes(chosen) ? keys : [...keys, chosen];
}

export function FilterBar() {
  const { filter$ } = podQueries;
  const filter = useValue(filter$);
  const phases = useView(podQueries.phases, ({ rows }) => rows);
  const namespaces = useView(podQueries.namespaces, ({ rows }) => rows);
  const open = isOpen(filter);
  return (
    <Group gap="sm" className={classes.bar} role="search" aria-label="Filter pods">
      <TextInput
        className={classes.text}
        aria-label="Filter by name, namespace, node or owner"
        placeholder="Filter by name, namespace, node or owner"
        leftSection={<SearchIcon />}
        value={filter.text}
        onChange={(event) => filter$.next({ ...filter, text: event.currentTarget.value })}
        rightSection={
          filter.text !== '' && (
            <CloseButton
              size="sm"
              aria-label="Clear the text"
              onClick={() => filter$.next({ ...filter, text: '' })}
            />
          )
        }
      />
      <Select
        className={classes.phase}
        aria-label="Phase"
        placeholder="Any phase"
        data={names(phases, filter.phase)}
        value={filter.phase || null}
        onChange={(phase) => filter$.next({ ...filter, phase: phase ?? '', trouble: false })}
        clearable
      />
      <Select
        className={classes.namespace}
        aria-label="Namespace"
        placeholder="Any namespace"
        data={names(namespaces, filter.namespace)}
        value={filter.namespace || null}
        onChange={(namespace) => filter$.next({ ...filter, namespace: namespace ?? '' })}
        searchable
        clearable
      />
      <Shown />
      {!open && (
        <Button variant="subtle" size="compact-sm" onClick={() => filter$.next(noFilter)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function Shown() {
  const shown = useView(podQueries.table, ({ total }) => total);
  const rejected = useView(podQueries.table, ({ status }) => status.rejected);
  const total = usePodCount();
  return (
    <Text size="sm" c="dimmed" className={classes.shown} data-testid="shown">
      {shown === total
        ? `${number.format(total)} pods`
        : `${number.format(shown)} of ${number.format(total)} pods`}
      {rejected.length > 0 && (
        <Text
          span
          c="orange"
          title={rejected.map(({ key, error }) => `${key}: ${error}`).join('\n')}
        >
          {`, ${number.format(rejected.length)} unreadable`}
        </Text>
      )}
    </Text>
  );
}
