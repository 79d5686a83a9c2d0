/** The line above the pods that names what no row shows: workloads whose pods could not be created. */
import { Anchor, Text } from '@mantine/core';
import { liveQuery } from 'rx-informer';
import { useQuery } from 'rx-informer/react';
import { type ReplicaSet, replicaSets } from 'rx-informer/resources';
import { go, goToKind } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import { causeOf } from '../kinds/cause.ts';
import { kindOf } from '../kinds/index.ts';
import { AlertIcon } from '../layout/icons.tsx';
import classes from './uncreated-pods.module.css';

const FAILED = 'FailedCreate';

function failureOf({ status }: ReplicaSet) {
  const conditions = status?.conditions ?? [];
  return conditions.find(
    ({ type, status: now, reason }) =>
      type === 'ReplicaFailure' && now === 'True' && reason === FAILED,
  );
}

const hasFailed = (set: ReplicaSet) => failureOf(set) !== undefined;

/** The workload and the cause: `: shop/web-5f7c — exceeded quota: …`. */
function textOf(set: ReplicaSet): string {
  const { namespace, name } = set.metadata ?? {};
  const cause = causeOf(failureOf(set)?.message ?? '');
  return `: ${namespace}/${name}${cause === '' ? '' : ` — ${cause}`}`;
}

export function UncreatedPods() {
  const { kind } = usePage();
  const isShown = kindOf(kind).id === 'pods';
  const where = { key: 'pods could not be created', test: hasFailed };
  const { rows } = useQuery(isShown ? liveQuery({ from: replicaSets, where }) : undefined);
  if (!isShown || rows.length === 0) return null;
  const what = rows.length === 1 ? '1 workload' : `${rows.length} workloads`;
  return (
    <Text size="sm" className={classes.line} data-testid="uncreated">
      <AlertIcon />
      <Anchor
        className={classes.link}
        href={`?kind=replicasets&status=${FAILED}`}
        onClick={(event) => {
          event.preventDefault();
          goToKind('replicasets');
          go({ status: FAILED });
        }}
      >
        {what} could not create Pods
      </Anchor>
      {rows.length === 1 && rows[0] !== undefined && textOf(rows[0])}
    </Text>
  );
}
