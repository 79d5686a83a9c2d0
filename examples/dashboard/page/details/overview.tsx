/** The overview of an object: why it is in trouble, its facts, conditions, pods and events. */
import { Alert, Anchor } from '@mantine/core';
import type { KubernetesObject } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { type Queries, user } from '../cluster/cluster.ts';
import { go } from '../cluster/page-state.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { usageKey, usageWords } from '../kinds/usage.ts';
import { Age, StatusBadge } from '../table/cells.tsx';
import { useLastLine } from '../table/use-last-line.ts';
import { Linked } from './cause-text.tsx';
import { Children } from './children.tsx';
import classes from './details.module.css';
import { factsOf } from './facts.tsx';
import { HiddenData } from './hidden-data.tsx';
import { Line, Pairs, Section } from './pairs.tsx';
import { Quotas } from './quotas.tsx';
import { conditionsOf, troublesOf } from './troubles.ts';
import { type ObjectProps, useRow } from './use-pods.ts';

export function Overview({ kind, object }: ObjectProps) {
  const row = useRow(kind, object);
  const used = useUsageWords(kind, row);
  const own = troublesOf(object);
  // What the pods say is the cause of what the conditions of their owner say.
  const isTold = kind.id === 'pods' || own.some(({ text }) => text === row?.why);
  const isRolledUp = row?.tone === 'bad' && row.why !== '' && !isTold;
  const troubles = isRolledUp ? [{ title: row.status, text: row.why }, ...own] : own;
  const line = useLastLine(row?.['log']);
  const { labels = {}, annotations = {}, namespace = '' } = object.metadata;
  return (
    <>
      {troubles.length > 0 && (
        <Alert color="red" className={classes.trouble} data-testid="troubles">
          {line !== '' && (
            <p>
              <b>The log ends with</b>
              <br />
              <code>{line}</code> {kind.id !== 'pods' && <OpenLog text="Open the logs" />}
            </p>
          )}
          {troubles.map(({ title, text, logOf }) => (
            <p key={title}>
              <b>{title}</b>
              <br />
              <Linked text={text} namespace={namespace} />{' '}
              {logOf && <OpenLog text="Open its log" />}
            </p>
          ))}
        </Alert>
      )}
      {troubles.some(({ text }) => text.includes('exceeded quota')) && (
        <Quotas namespace={namespace} />
      )}
      {kind.id === 'namespaces' && <Quotas namespace={object.metadata.name} />}
      {kind.as === 'metadata' && <HiddenData kind={kind} object={object} />}
      <Children kind={kind} object={object} />
      {factsOf(kind, object, used).map(({ title, facts }) => (
        <Pairs key={title} title={title} pairs={facts} />
      ))}
      <Conditions object={object} />
      <Pairs title="Labels" pairs={labels} />
      <Pairs title="Annotations" pairs={annotations} />
    </>
  );
}

const OpenLog = ({ text }: { readonly text: string }) => (
  <Anchor component="button" inherit onClick={() => go({ tab: 'logs' })}>
    {text}
  </Anchor>
);

function useUsageWords({ metered: of }: Kind, row: Row | undefined) {
  const key = row && usageKey(row);
  const query =
    user === undefined && of && key && workerQuery<Queries, 'usedOf'>('usedOf', { of, key });
  const { rows } = useQuery(query || undefined);
  return row === undefined ? {} : usageWords(row, rows[0]);
}

function Conditions({ object }: { readonly object: KubernetesObject }) {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return null;
  return (
    <Section title="Conditions">
      <ul className={classes.lines}>
        {conditions.map(({ type, status, isBad, reason, message, sinceMs }) => (
          <Line
            key={type}
            badge={<StatusBadge tone={isBad ? 'bad' : 'good'} text={type} />}
            end={<Age sinceMs={sinceMs} />}
          >
            {status === 'True' ? 'yes' : status === 'False' ? 'no' : 'unknown'}
            {reason && `, ${reason}`}
            {message && `: ${message}`}
          </Line>
        ))}
      </ul>
    </Section>
  );
}
