/** The objects that belong to an object: its ReplicaSets and pods by selector, and the events of all of them. */
import { type ReactNode, useState } from 'react';
import type { Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import type { Event } from 'rx-informer/resources';
import { type WorkerQuery, workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import type { Row } from '../kinds/kind.ts';
import { rolledUp } from '../kinds/roll-up.ts';
import { Age, StatusBadge } from '../table/cells.tsx';
import classes from './details.module.css';
import { ObjectLink } from './object-link.tsx';
import { Line, Section } from './pairs.tsx';
import { type ObjectProps, podsQuery, selectorOf, usePods } from './use-pods.ts';
import { presentSets, versionOf } from './versions.ts';

/** How many lines a list shows before the user asks for all. */
const FEW = 6;

export function Children({ kind, object }: ObjectProps) {
  if (kind.id === 'events') {
    const { uid = '' } = (object as Stored<Event>).involvedObject;
    return <Events uids={[uid]} title="Events of the same object" />;
  }
  const { name } = object.metadata;
  if (kind.id === 'namespaces') {
    const query = workerQuery<Queries, 'eventsIn'>('eventsIn', name);
    return <EventList query={query} areOfSeveral title="Events in the namespace" />;
  }
  if (kind.id === 'nodes') {
    // Those of its kubelet have its name in place of its UID.
    return <Events uids={[name, object.metadata.uid]} />;
  }
  if (selectorOf(kind, object) === undefined) return <Events uids={[object.metadata.uid]} />;
  return <Selected kind={kind} object={object} />;
}

function Selected({ kind, object }: ObjectProps) {
  const { namespace = '', uid } = object.metadata;
  const selected = usePods(kind, object);
  const sets = useQuery(
    kind.id === 'deployments'
      ? workerQuery<Queries, 'replicaSetsOf'>('replicaSetsOf', { namespace, owner: uid })
      : undefined,
  );
  const podsIn = (uid: string) => selected.filter(({ ownerUid }) => ownerUid === uid);
  const shownSets = presentSets(sets.rows).map((row) => rolledUp(row, podsIn(row.uid)));
  const uids = [uid, ...[...shownSets, ...selected].map((row) => row.uid)];
  return (
    <>
      {kind.id === 'deployments' && (
        <RowList title="ReplicaSets" kind="replicasets" rows={shownSets} noteOf={versionOf} />
      )}
      {kind.id === 'services' && <Behind kind={kind} object={object} />}
      <RowList title="Pods" kind="pods" rows={selected} />
      <Events uids={uids} />
    </>
  );
}

/** The Deployments whose Pods a Service selects, and a note if there are no such Pods. */
function Behind({ kind, object }: ObjectProps) {
  const { rows, synced } = useQuery(podsQuery('podsOf', kind, object));
  const deployments = useQuery(podsQuery('deploymentsOf', kind, object)).rows as readonly Row[];
  return (
    <>
      {synced && rows.length === 0 && (
        <p className={classes.note}>No Pod is behind this Service, so that nothing answers.</p>
      )}
      <RowList title="Deployments" kind="deployments" rows={deployments} />
    </>
  );
}

function RowList(props: {
  readonly title: string;
  readonly kind: string;
  readonly rows: readonly Row[];
  /** What is said beside the name of a row. */
  readonly noteOf?: (row: Row, rows: readonly Row[]) => string;
}) {
  const { title, kind, rows, noteOf } = props;
  return (
    <Section title={`${title} (${rows.length})`}>
      <FewLines>
        {rows.map((row) => {
          const { uid, name, namespace, status, tone, why, ready } = row;
          const badge = <StatusBadge tone={tone} text={status} why={why} />;
          return (
            <Line key={uid} badge={badge} end={`${ready} ready`}>
              <ObjectLink of={{ kind, uid, name, namespace }} text={name} />
              {noteOf && <span className={classes.quiet}> — {noteOf(row, rows)}</span>}
            </Line>
          );
        })}
      </FewLines>
    </Section>
  );
}

function FewLines({ children }: { readonly children: readonly ReactNode[] }) {
  const [showsAll, showAll] = useState(false);
  return (
    <>
      <ul className={classes.lines}>{children.slice(0, showsAll ? undefined : FEW)}</ul>
      {!showsAll && children.length > FEW && (
        <button type="button" className={classes.more} onClick={() => showAll(true)}>
          Show all {children.length}
        </button>
      )}
    </>
  );
}

function Events(props: { readonly uids: readonly string[]; readonly title?: string }) {
  const { uids, title } = props;
  const query = workerQuery<Queries, 'eventsOf'>('eventsOf', [...uids].sort());
  return <EventList query={query} areOfSeveral={uids.length > 1} {...(title && { title })} />;
}

function EventList(props: {
  readonly query: WorkerQuery<Row>;
  /** Whether each event says which object it is about. */
  readonly areOfSeveral: boolean;
  readonly title?: string;
}) {
  const { query, areOfSeveral, title = 'Events' } = props;
  const { rows, synced, status } = useQuery(query);
  return (
    <Section title={title}>
      {rows.length === 0 && (
        <p className={classes.quiet}>
          {synced
            ? 'No event is known.'
            : status.error
              ? 'The events cannot be read.'
              : 'Loading …'}
        </p>
      )}
      <FewLines>
        {rows.map((row) => {
          const badge = <StatusBadge tone={row.tone} text={row.status} />;
          return (
            <Line key={row.uid} badge={badge} end={<Age sinceMs={Number(row['seenMs'])} />}>
              {row['message']}
              {Number(row['count']) > 1 && ` (${row['count']} times)`}
              {areOfSeveral && <span className={classes.quiet}> — {row['object']}</span>}
            </Line>
          );
        })}
      </FewLines>
    </Section>
  );
}
