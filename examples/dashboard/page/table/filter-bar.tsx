/** The filter box, the chosen namespace and status, the pause of updates, and the number of matching rows. */
import { Button, CloseButton, Pill, Select, Text, TextInput, Tooltip } from '@mantine/core';
import { useView } from 'rx-informer/react/worker';
import { number } from '../../shared/words.ts';
import { paused$ } from '../cluster/cluster.ts';
import { go, noFilter } from '../cluster/page-state.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import { namespaceIn, rowsName, type Tone } from '../kinds/kind.ts';
import { FILTER_ID, focusTable } from '../layout/focus.ts';
import { PauseIcon, PlayIcon, SearchIcon } from '../layout/icons.tsx';
import { ColumnChoice } from './column-choice.tsx';
import { parseFilter } from './filter.ts';
import classes from './filter-bar.module.css';
import { useTableQueries } from './use-table.tsx';

const HINT = 'Words, labels (app=web, tier in (a, b)) and fields (spec.nodeName=node-001)';

export function FilterBar() {
  const { kind, queries } = useTableQueries();
  const page = usePage();
  const { filter, tone, status } = page;
  const namespace = namespaceIn(kind, page);
  const statuses = useView(queries.counts.statuses).rows;
  const { problem } = parseFilter(filter, kind.id);
  const names = statuses.map(({ key, count }) => ({ value: key, label: `${key} (${count})` }));
  const options =
    status === '' || statuses.some(({ key }) => key === status)
      ? names
      : [...names, { value: status, label: `${status} (0)` }];
  const state = tone === '' ? undefined : kind.tones[tone as Tone];
  const isOpen = [filter, namespace, tone, status].every((text) => text === '');
  return (
    <search className={classes.bar} aria-label={`Filter ${kind.title}`}>
      <TextInput
        className={classes.text}
        id={FILTER_ID}
        aria-label={`Filter ${kind.title}: ${HINT}`}
        placeholder="Filter: words or app=web"
        // Only here, because under the complete box the hint would cover what the user reads after the layout has moved.
        leftSectionPointerEvents="all"
        leftSection={
          <Tooltip label={HINT} openDelay={600} position="bottom-start" withinPortal={false}>
            <span className={classes.icon}>
              <SearchIcon />
            </span>
          </Tooltip>
        }
        value={filter}
        error={problem && `${problem}. All rows are shown.`}
        onChange={(event) => go({ filter: event.currentTarget.value })}
        onKeyDown={({ key }) => {
          if (key === 'Enter' || key === 'ArrowDown' || key === 'Escape') focusTable();
        }}
        rightSection={
          filter !== '' && (
            <CloseButton size="sm" aria-label="Clear the text" onClick={() => go({ filter: '' })} />
          )
        }
      />
      {kind.columns.some(({ id }) => id === 'status') && (
        <Select
          className={classes.status}
          aria-label="Status"
          placeholder="Any status"
          data={options}
          value={status || null}
          onChange={(next) => go({ status: next ?? '' })}
          // Wider than the box, whose place is small on a phone.
          comboboxProps={{ withinPortal: false, width: 'max-content', position: 'bottom-start' }}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the status' }}
        />
      )}
      <ColumnChoice />
      <PauseButton />
      {namespace !== '' && (
        <Chosen
          text={`Namespace ${namespace}`}
          removal={`Show all namespaces, not only ${namespace}`}
          onRemove={() => go({ namespace: '' })}
        />
      )}
      {state !== undefined && (
        <Chosen
          text={state}
          removal={`Show every state, not only ${state}`}
          onRemove={() => go({ tone: '' })}
        />
      )}
      <Shown />
      {!isOpen && (
        <Button variant="subtle" size="compact-sm" onClick={() => go(noFilter)}>
          Clear filters
        </Button>
      )}
    </search>
  );
}

/** A choice that was made elsewhere, and can be taken back here. */
function Chosen(props: {
  readonly text: string;
  readonly removal: string;
  readonly onRemove: () => void;
}) {
  const { text, removal, onRemove } = props;
  return (
    <Pill
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': removal, 'aria-hidden': false, tabIndex: 0 }}
    >
      {text}
    </Pill>
  );
}

/** Lets the user read a table whose rows would move otherwise. The changes are folded until it goes on. */
function PauseButton() {
  const isPaused = useValue(paused$);
  return (
    <Button
      variant={isPaused ? 'filled' : 'default'}
      px={12}
      aria-pressed={isPaused}
      leftSection={isPaused ? <PlayIcon /> : <PauseIcon />}
      onClick={() => paused$.next(!isPaused)}
    >
      {isPaused ? 'Resume updates' : 'Pause updates'}
    </Button>
  );
}

function Shown() {
  const { kind, queries } = useTableQueries();
  const shown = useView(queries.counts.shown).rows[0]?.count ?? 0;
  const all = useView(queries.counts.all).rows[0]?.count ?? 0;
  const isListed = useValue(queries.isListed$);
  const { refusedRows } = useValue(queries.status$);
  const what = rowsName(kind, all);
  if (!isListed) return null;
  return (
    <Text size="sm" c="dimmed" className={classes.shown} data-testid="shown">
      {shown === all
        ? `${number.format(all)} ${what}`
        : `${number.format(shown)} of ${number.format(all)} ${what}`}
      {refusedRows.length > 0 && (
        <span
          className={classes.unreadable}
          title={refusedRows.map(({ key, error }) => `${key}: ${error}`).join('\n')}
        >
          {`, ${number.format(refusedRows.length)} unreadable`}
        </span>
      )}
    </Text>
  );
}
