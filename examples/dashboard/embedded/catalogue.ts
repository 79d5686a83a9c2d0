/** The applications of the embedded cluster. */

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job';

export interface App {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly app: string;
  /** Its share of the pods, relative to the other applications. */
  readonly share: number;
  /** Requested CPU in thousandths of a core, and requested memory in MiB. */
  readonly milliCpu: number;
  readonly memoryMi: number;
}

type Row = readonly [namespace: string, app: string, share: number, milli: number, memory: number];

const deployments: readonly Row[] = [
  ['shop', 'storefront', 9, 150, 256],
  ['shop', 'cart', 6, 100, 192],
  ['shop', 'checkout', 5, 200, 256],
  ['shop', 'catalogue', 6, 250, 512],
  ['payments', 'ledger', 4, 300, 512],
  ['payments', 'card-gateway', 4, 150, 256],
  ['payments', 'fraud-score', 3, 400, 1024],
  ['search', 'query', 6, 300, 768],
  ['search', 'indexer', 4, 250, 1024],
  ['identity', 'login', 4, 100, 128],
  ['identity', 'sessions', 3, 100, 256],
  ['media', 'thumbnailer', 5, 200, 256],
  ['media', 'transcoder', 4, 500, 512],
  ['messaging', 'mail-sender', 3, 50, 128],
  ['analytics', 'collector', 6, 100, 256],
  ['analytics', 'aggregator', 4, 200, 1024],
  ['platform', 'ingress', 3, 200, 192],
  ['platform', 'dns', 2, 100, 96],
];
const statefulSets: readonly Row[] = [['messaging', 'broker', 3, 300, 1024]];
const daemonSets: readonly Row[] = [
  ['observability', 'metrics-agent', 0, 50, 64],
  ['observability', 'log-shipper', 0, 50, 96],
];

function appsOf(kind: WorkloadKind, rows: readonly Row[]): readonly App[] {
  return rows.map(([namespace, app, share, milliCpu, memoryMi]) => ({
    ...{ kind, namespace, app, share, milliCpu, memoryMi },
  }));
}

/** All applications. Daemon sets have no share, because they have a pod per node. */
export const apps: readonly App[] = [
  ...appsOf('Deployment', deployments),
  ...appsOf('StatefulSet', statefulSets),
  ...appsOf('DaemonSet', daemonSets),
];

/** The applications whose pods have a container of the service mesh. */
export function hasSidecar({ namespace }: Pick<App, 'namespace'>): boolean {
  return namespace === 'payments' || namespace === 'identity';
}

export const jobNames: readonly string[] = [
  ...['report', 'backup', 'reindex', 'invoice-run', 'thumbnail-batch'],
];
