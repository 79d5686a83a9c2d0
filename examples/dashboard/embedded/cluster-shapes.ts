/** Creates the objects around the pods: namespaces, nodes, services and config maps. */
import type { ConfigMap, Namespace, Node, ResourceQuota, Service } from 'rx-informer/resources';
import { podLabels } from './pod-shapes.ts';
import { timestamp } from './timestamp.ts';

/** The cores of a node that pods can request, in thousandths. */
export const NODE_MILLI_CPU = 15_800;

/** A node as the simulation keeps it beside the object of the server. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  /** The CPU that its pods request, in thousandths of a core. */
  requested: number;
  cordoned: boolean;
}

/** The object of a new namespace. */
export function newNamespace(name: string, uid: string, createdMs: number): Namespace {
  const labels = { 'kubernetes.io/metadata.name': name };
  return {
    metadata: { name, uid, labels, creationTimestamp: timestamp(createdMs) },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

const healthy = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** The object of a new node. */
export function newNode({ name, uid, ip }: NodeState, zone: string, createdMs: number): Node {
  const since = timestamp(createdMs);
  return {
    metadata: {
      name,
      uid,
      creationTimestamp: since,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'node.kubernetes.io/instance-type': 'standard-16',
        'topology.kubernetes.io/zone': zone,
      },
    },
    spec: { podCIDR: `${ip.replace(/^10\.0\./, '10.')}/24` },
    status: {
      capacity: {
        cpu: '16',
        memory: '65842612Ki',
        pods: '110',
        'ephemeral-storage': '203070420Ki',
      },
      allocatable: {
        ...{ cpu: `${NODE_MILLI_CPU}m`, memory: '63744000Ki', pods: '110' },
        'ephemeral-storage': '187149698763',
      },
      conditions: healthy.map(([type, status, reason, message]) => ({
        ...{ type, status, reason, message },
        lastTransitionTime: since,
        lastHeartbeatTime: timestamp(Date.now()),
      })),
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        ...{ kubeletVersion: 'v1.36.0', kubeProxyVersion: 'v1.36.0', kernelVersion: '6.12.48' },
        ...{ osImage: 'Debian GNU/Linux 13 (trixie)', operatingSystem: 'linux' },
        ...{ architecture: 'amd64', containerRuntimeVersion: 'containerd://2.2.0' },
        ...{ bootID: uid, machineID: uid, systemUUID: uid },
      },
    },
  };
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The service of an application. */
export function newService({ namespace, name }: Named, uid: string, createdMs: number): Service {
  return {
    metadata: {
      ...{ name, namespace, uid, creationTimestamp: timestamp(createdMs) },
      labels: { app: name },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: `10.96.${Number.parseInt(uid.slice(0, 2), 16)}.${Number.parseInt(uid.slice(2, 4), 16)}`,
      selector: { app: podLabels({ app: name, namespace }).app },
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    },
    status: { loadBalancer: {} },
  };
}

/** The settings of an application. */
export function newConfigMap(
  { namespace, name }: Named,
  uid: string,
  createdMs: number,
): ConfigMap {
  return {
    metadata: {
      ...{ name: `${name}-settings`, namespace, uid, creationTimestamp: timestamp(createdMs) },
      labels: { app: name },
    },
    data: { LOG_LEVEL: 'info', HTTP_PORT: '8080', CACHE_TTL: '30s' },
  };
}

type Amounts = Readonly<Record<string, string>>;

/** A quota of a namespace. */
export function newQuota(
  { namespace, name }: Named,
  { hard, used }: { readonly hard: Amounts; readonly used: Amounts },
  uid: string,
  createdMs: number,
): ResourceQuota {
  const metadata = { name, namespace, uid, creationTimestamp: timestamp(createdMs) };
  return { metadata, spec: { hard }, status: { hard, used } };
}
