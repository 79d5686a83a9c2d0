/** The line above the pods that names what no row shows: workloads whose pods could not be created. */
import { Anchor, Text } from '@mantine/core';
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { counted } from '../../shared/words.ts';
import type { Queries } from '../cluster/cluster.ts';
import { go, goToKind } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import { causeOf } from '../kinds/cause.ts';
import { kindOf } from '../kinds/index.ts';
import { AlertIcon } from '../layout/icons.tsx';
import { FAILED } from '../worker/uncreated.ts';
import classes from './uncreated-pods.module.css';

/** The workload and the cause: `: shop/web-5f7c — exceeded quota: …`. */
function textOf({
  namespace,
  name,
  message,
}: Readonly<Record<'namespace' | 'name' | 'message', string>>): string {
  const cause = causeOf(message);
  return `: ${namespace}/${name}${cause === '' ? '' : ` — ${cause}`}`;
}

const uncreated = workerQuery<Queries, 'uncreated'>('uncreated');

export function UncreatedPods() {
  const { kind } = usePage();
  const isShown = kindOf(kind).id === 'pods';
  const { rows } = useQuery(isShown ? uncreated : undefined);
  if (!isShown || rows.length === 0) return null;
  const what = counted(rows.length, 'workload');
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
