/** The applications of the embedded cluster. */
import { readManifests } from './manifests.ts';

export interface App {
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job';
  readonly namespace: string;
  readonly app: string;
  /** Its share of the pods, relative to the other applications. */
  readonly share: number;
  /** Requested CPU in thousandths of a core, and requested memory in MiB. */
  readonly milliCpu: number;
  readonly memoryMi: number;
}

/** All applications. Daemon sets have no share, because they have a pod per node. */
export const apps: readonly App[] = readManifests<App[]>('./catalogue.yaml').flat();

/** The applications whose pods have a container of the service mesh. */
export function hasSidecar({ namespace }: Pick<App, 'namespace'>): boolean {
  return namespace === 'payments' || namespace === 'identity';
}

export const jobNames: readonly string[] = [
  ...['report', 'backup', 'reindex', 'invoice-run', 'thumbnail-batch'],
];
