/** Which tab asks what, as the worker of all tabs counts it. */
import { Text } from '@mantine/core';
import { useQuery } from 'rx-informer/react/worker';
import { type AskedOfWorker, workerQuery } from 'rx-informer/worker';
import { counted } from '../../shared/words.ts';
import type { Queries } from '../cluster/cluster.ts';
import { PanelPart } from './panel-part.tsx';
import classes from './server-panel.module.css';

/** By this text the page finds itself among the tabs. */
const page = crypto.randomUUID();

const asked = workerQuery<Queries, 'asked'>('asked', page);

/** A short name of what a query asks for: `rows pods`, `podsOf shop app=web`. */
function wordsOf({ query }: AskedOfWorker): string {
  const { named, params, from } = query;
  if (typeof named !== 'string') return String((from as { readonly plural: string }).plural);
  const values = typeof params === 'object' && params !== null ? Object.values(params) : [params];
  return [named, ...values.filter((value) => value !== '' && value !== undefined)].join(' ');
}

type Tabs = AskedOfWorker['tabs'];

function nameOf({ tab, isHidden }: Tabs[number], own: number | undefined): string {
  const notes = [...(tab === own ? ['this tab'] : []), ...(isHidden ? ['hidden'] : [])];
  return notes.length === 0 ? `tab ${tab}` : `tab ${tab} (${notes.join(', ')})`;
}

export function AskedQueries() {
  const { rows } = useQuery(asked);
  const own = rows.find(({ query }) => query['params'] === page)?.tabs[0]?.tab;
  const names = (tabs: Tabs) => tabs.map((tab) => nameOf(tab, own)).join(', ');
  const all = new Map(rows.flatMap(({ tabs }) => tabs.map((tab) => [tab.tab, tab] as const)));
  const tabs = [...all.values()].sort((one, other) => one.tab - other.tab);
  // The question itself is one of the tab that shows the answer.
  const others = rows.filter(({ query }) => query['named'] !== 'asked');
  return (
    <PanelPart title="Which tab asks what" isInner>
      <Text size="xs" mb={4} c="dimmed" data-testid="tabs">
        {tabs.length === 0
          ? 'The worker has not answered yet.'
          : `One worker answers ${counted(tabs.length, 'tab')}: ${names(tabs)}`}
      </Text>
      <ul className={classes.steps} data-testid="asked">
        {others
          .map((row) => ({ words: wordsOf(row), row }))
          .sort((one, other) => (one.words < other.words ? -1 : 1))
          .map(({ words, row }) => (
            <li key={JSON.stringify(row.query)}>
              <b>{words}</b> {counted(row.tabs.length, 'tab')}: {names(row.tabs)}
            </li>
          ))}
      </ul>
    </PanelPart>
  );
}
