/** What the table reads from where, and what that costs. */
import { Code, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useQuery, useView } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { useClockText } from '../cluster/clock.ts';
import type { Queries } from '../cluster/cluster.ts';
import type { Cost } from '../cluster/rows.ts';
import { useTableQueries } from '../table/use-table.tsx';
import { AskedQueries } from './asked-queries.tsx';
import { PanelPart } from './panel-part.tsx';
import classes from './server-panel.module.css';

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** The steps behind the query; docs/guide/queries.md lists the cost of each. */
const inWorker = [
  ['conflateByKey', 'at most five change sets per second'],
  ['liveSort', 'in the order that the table begins with'],
] as const;
const inPage = [
  ['liveFilter', 'the words, the namespace and the status: one test per changed row'],
  ['liveGroupBy', 'the counts: one addition per changed row'],
  ['liveSort', 'O(log n) comparisons per changed row'],
  ['liveWindow', 'the rows on screen'],
] as const;

export function QueriesPanel() {
  const { kind, selectors, queries, cost } = useTableQueries();
  const objects = useView(queries.counts.all).rows[0]?.count ?? 0;
  const shown = useView(queries.table).rows.length;
  const query = workerQuery<Queries, 'explanation'>('explanation', { kind: kind.id, ...selectors });
  const [explanation] = useQuery(query).rows;
  return (
    <PanelPart title={`The query of ${kind.title}`}>
      <Code block className={classes.query} data-testid="explain">
        {explanation?.text}
      </Code>
      <Steps title="Then, in the worker of all tabs" steps={inWorker}>
        {kind.join !== undefined && (
          <li>
            <b>liveJoin</b> what other kinds say about each row
          </li>
        )}
      </Steps>
      <Steps title="Then, in this page" steps={inPage} />
      <AskedQueries />
      <PanelPart title="Cost in this page so far" isInner>
        <CostTable cost={cost} objects={objects} shown={shown} />
      </PanelPart>
    </PanelPart>
  );
}

function Steps(props: {
  readonly title: string;
  readonly steps: readonly (readonly [name: string, what: string])[];
  readonly children?: ReactNode;
}) {
  return (
    <PanelPart title={props.title} isInner>
      <ul className={classes.steps}>
        {props.steps.map(([name, what]) => (
          <li key={name}>
            <b>{name}</b> {what}
          </li>
        ))}
        {props.children}
      </ul>
    </PanelPart>
  );
}

function CostTable(props: {
  readonly cost: Cost;
  readonly objects: number;
  readonly shown: number;
}) {
  const { cost, objects, shown } = props;
  const text = useClockText(() =>
    JSON.stringify([
      ['Objects in the informer', number.format(objects)],
      ['Rows made for the screen', number.format(shown)],
      ['Change sets', number.format(cost.sets)],
      ['Changed rows', number.format(cost.changes)],
      [
        'Time per changed row',
        `${number.format((cost.totalMs * 1000) / Math.max(1, cost.changes))} µs`,
      ],
      ['Longest change set, with pauses', `${number.format(cost.longestMs)} ms`],
    ]),
  );
  return (
    <Table
      className={classes.cost}
      fz={12}
      data-testid="cost"
      variant="vertical"
      data={{ body: JSON.parse(text) as [string, string][] }}
    />
  );
}
