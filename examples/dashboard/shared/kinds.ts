/** The kinds that the page shows and the proxy forwards. Secrets are not among them, and neither is any other kind. */

/** One kind of objects. */
export interface ShownKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether the proxy forwards PATCH and PUT of one object. */
  readonly editable: boolean;
  /** The proxy requests only the metadata, because people store passwords in config maps, too. */
  readonly metadataOnly?: true;
}

function shown(
  [group, version]: readonly [string, string],
  [plural, kind]: readonly [string, string],
  is: Partial<Pick<ShownKind, 'namespaced' | 'editable' | 'metadataOnly'>> = {},
): ShownKind {
  return { group, version, plural, kind, namespaced: true, editable: false, ...is };
}

const core = ['', 'v1'] as const;
const apps = ['apps', 'v1'] as const;
const metrics = ['metrics.k8s.io', 'v1beta1'] as const;
const editable = { editable: true };

/** All kinds. */
export const shownKinds: readonly ShownKind[] = [
  shown(core, ['pods', 'Pod'], editable),
  shown(core, ['services', 'Service'], editable),
  shown(core, ['configmaps', 'ConfigMap'], { metadataOnly: true }),
  shown(core, ['events', 'Event']),
  shown(core, ['resourcequotas', 'ResourceQuota']),
  shown(core, ['nodes', 'Node'], { namespaced: false, editable: true }),
  shown(core, ['namespaces', 'Namespace'], { namespaced: false }),
  shown(apps, ['deployments', 'Deployment'], editable),
  shown(apps, ['replicasets', 'ReplicaSet']),
  shown(apps, ['statefulsets', 'StatefulSet'], editable),
  shown(apps, ['daemonsets', 'DaemonSet'], editable),
  shown(['batch', 'v1'], ['jobs', 'Job'], editable),
];

/** What Pods and Nodes use. The proxy forwards reads of it, and the page has no table of it. */
export const meteredKinds: readonly ShownKind[] = [
  shown(metrics, ['pods', 'PodMetrics']),
  shown(metrics, ['nodes', 'NodeMetrics'], { namespaced: false }),
];

/** The path of the API that serves a kind: `/api/v1`, `/apis/apps/v1`. */
export function rootOf({ group, version }: Pick<ShownKind, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
