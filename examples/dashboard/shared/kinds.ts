/** The kinds that the page knows and the proxy forwards, and those that the server of the dashboard finds by discovery. */

export interface ShownKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether the proxy forwards PATCH, PUT and DELETE of one object. */
  readonly editable: boolean;
  /** Whether the proxy forwards PATCH of its number of replicas. */
  readonly scales?: true;
  /** An object of this kind is not deleted here. */
  readonly stays?: true;
  /** Whether the proxy forwards POST of a new object. */
  readonly creatable?: true;
  /** The proxy requests only the metadata in lists and watches, because people store passwords in config maps, too. */
  readonly listsMetadataOnly?: true;
}

/** A kind that only discovery knows: one row of `GET /dashboard/kinds`. */
export interface ServedKind
  extends Pick<ShownKind, 'group' | 'version' | 'plural' | 'kind' | 'namespaced'> {
  readonly shortNames: readonly string[];
}

function shown(
  [group, version]: readonly [string, string],
  [plural, kind]: readonly [string, string],
  is: Partial<Omit<ShownKind, 'group' | 'version' | 'plural' | 'kind'>> = {},
): ShownKind {
  return { group, version, plural, kind, namespaced: true, editable: false, ...is };
}

const core = ['', 'v1'] as const;
const apps = ['apps', 'v1'] as const;
const metrics = ['metrics.k8s.io', 'v1beta1'] as const;
const batch = ['batch', 'v1'] as const;
const editable = { editable: true };
const scales = { editable: true, scales: true } as const;

export const shownKinds: readonly ShownKind[] = [
  shown(core, ['pods', 'Pod'], editable),
  shown(core, ['services', 'Service'], editable),
  shown(core, ['configmaps', 'ConfigMap'], { listsMetadataOnly: true }),
  shown(core, ['events', 'Event']),
  shown(core, ['resourcequotas', 'ResourceQuota']),
  shown(core, ['nodes', 'Node'], { namespaced: false, editable: true, stays: true }),
  shown(core, ['namespaces', 'Namespace'], { namespaced: false }),
  shown(apps, ['deployments', 'Deployment'], scales),
  shown(apps, ['replicasets', 'ReplicaSet']),
  shown(apps, ['statefulsets', 'StatefulSet'], scales),
  shown(apps, ['daemonsets', 'DaemonSet'], editable),
  shown(batch, ['jobs', 'Job'], { editable: true, creatable: true }),
  shown(batch, ['cronjobs', 'CronJob'], editable),
  shown(['autoscaling', 'v2'], ['horizontalpodautoscalers', 'HorizontalPodAutoscaler']),
  shown(['networking.k8s.io', 'v1'], ['ingresses', 'Ingress']),
  shown(core, ['persistentvolumeclaims', 'PersistentVolumeClaim']),
];

/** What Pods and Nodes use. The proxy forwards reads of it, and the page has no table of it. */
export const meteredKinds: readonly ShownKind[] = [
  shown(metrics, ['pods', 'PodMetrics']),
  shown(metrics, ['nodes', 'NodeMetrics'], { namespaced: false }),
];

/** The revisions of StatefulSets and DaemonSets. The proxy forwards reads of them, and the page has no table of them. */
export const revisionKinds: readonly ShownKind[] = [
  shown(apps, ['controllerrevisions', 'ControllerRevision']),
];

/** The path of the API that serves a kind: `/api/v1`, `/apis/apps/v1`. */
export function rootOf({ group, version }: Pick<ShownKind, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
