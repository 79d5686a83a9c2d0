/** The kinds of the page, in the order of the sidebar. */
import { autoscalerKind } from './autoscalers.ts';
import { claimKind } from './claims.ts';
import { configMapKind } from './config-maps.ts';
import { cronJobKind } from './cron-jobs.ts';
import { eventKind } from './events.ts';
import { ingressKind } from './ingresses.ts';
import type { Kind } from './kind.ts';
import { nodeKind } from './nodes.ts';
import { otherKind } from './other-kinds.ts';
import { namespaceKind, serviceKind } from './others.ts';
import { podKind } from './pods.ts';
import { quotaKind } from './quotas.ts';
import { treeKind } from './tree.ts';
import {
  daemonSetKind,
  deploymentKind,
  jobKind,
  replicaSetKind,
  statefulSetKind,
} from './workloads.ts';

export const kindGroups: readonly { readonly title: string; readonly kinds: readonly Kind[] }[] = [
  { title: 'Overview', kinds: [treeKind, eventKind] },
  {
    title: 'Workloads',
    kinds: [
      podKind,
      deploymentKind,
      replicaSetKind,
      statefulSetKind,
      daemonSetKind,
      jobKind,
      cronJobKind,
      autoscalerKind,
    ],
  },
  {
    title: 'Cluster',
    kinds: [nodeKind, namespaceKind, quotaKind, serviceKind, ingressKind, claimKind, configMapKind],
  },
];

const all = kindGroups.flatMap(({ kinds }) => kinds);

/** The kind of a name in the URL; pods if there is none. */
export function kindOf(id: string): Kind {
  return all.find((kind) => kind.id === id) ?? otherKind(id) ?? podKind;
}

/** The kind whose objects have this `kind`, such as `ReplicaSet`. */
export function kindNamed(name: string): Kind | undefined {
  return all.find((kind) => kind.resource.kind === name && kind !== treeKind);
}
