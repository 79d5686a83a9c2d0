/** The number of pods per phase. Each count is a button that filters by its phase. */
import { UnstyledButton } from '@mantine/core';
import { podQueries } from '../cluster/live-pods.ts';
import { usePodCount, useValue, useView } from '../cluster/use-live.ts';
import { noFilter } from '../pods/filter.ts';
import classes from './phase-counts.module.css';

const number = new Intl.NumberFormat('en-US');
const always = ['Running', 'Pending', 'Succeeded', 'Failed'];
const tones: Readonly<Record<string, string>> = {
  Running: 'good',
  Pending: 'busy',
  Succeeded: 'done',
  Failed: 'bad',
};

export function PhaseCounts() {
  const { phases: view, filter$ } = podQueries;
  const phases = useView(view, ({ rows }) => rows);
  const total = usePodCount();
  const trouble = useView(
    podQueries.tones,
    ({ rows }) => rows.find(({ key }) => key === 'bad')?.count ?? 0,
  );
  const filter = useValue(filter$);
  const counts = new Map(phases.map(({ key, count }) => [key, count]));
  const names = [...always, ...[...counts.keys()].filter((phase) => !always.includes(phase))];
  return (
    <section className={classes.tiles} aria-label="Pods by phase">
      <Tile
        name="All pods"
        count={total}
        pressed={filter.phase === '' && !filter.trouble}
        onPress={() => filter$.next({ ...filter, phase: '', trouble: false })}
      />
      {names.map((phase) => (
        <Tile
          key={phase}
          name={phase}
          tone={tones[phase] ?? 'bad'}
          count={counts.get(phase) ?? 0}
          pressed={filter.phase === phase}
          onPress={() =>
            filter$.next({
              ...filter,
              phase: filter.phase === phase ? '' : phase,
              trouble: false,
            })
          }
        />
      ))}
      <Tile
        name="In trouble"
        tone="bad"
        count={trouble}
        pressed={filter.trouble}
        onPress={() => filter$.next({ ...filter, phase: noFilter.phase, trouble: !filter.trouble })}
      />
    </section>
  );
}

function Tile(props: {
  readonly name: string;
  readonly count: number;
  readonly tone?: string;
  readonly pressed: boolean;
  readonly onPress: () => void;
}) {
  return (
    <UnstyledButton
      className={classes.tile}
      data-tone={props.count === 0 ? 'none' : props.tone}
      data-phase={props.name}
      aria-pressed={props.pressed}
      onClick={props.onPress}
    >
      <span className={classes.count}>{number.format(props.count)}</span>
      <span className={classes.name}>{props.name}</span>
    </UnstyledButton>
  );
}
