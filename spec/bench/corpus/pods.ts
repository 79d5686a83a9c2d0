/**
 * Pods: about 3.2 KB of JSON each, with 0.86 KB of managedFields, and larger ones of 6 KB with three containers. The
 * members have the order in which Go writes them.
 */
import { firstVersion, writtenAnnotation } from './fields.ts';

/** Creates one Pod whose strings depend on `index` and `seed`. */
export function podOf(index: number, namespaces: number, seed = 0): object {
  const namespace = `team-${String(index % namespaces).padStart(3, '0')}`;
  const hex = (salt: number) =>
    ((index * 2_654_435_761 + salt * 40_503 + seed * 1_000_003) >>> 0)
      .toString(16)
      .padStart(8, '0');
  const uid = `${hex(1)}-0000-4000-8000-${hex(2)}${hex(3).slice(4)}`;
  const app = `checkout-${index % 500}`;
  const name = `${app}-${hex(4)}-${hex(5).slice(3)}`;
  const image = `registry.example.com/shop/checkout:1.${index % 40}.0`;
  const time = `2026-01-${String(1 + (index % 28)).padStart(2, '0')}T08:30:00Z`;
  const ip = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  const ready = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: time,
  });
  const labels = {
    app,
    'app.kubernetes.io/part-of': 'shop',
    'pod-template-hash': hex(4),
    tier: index % 3 === 0 ? 'web' : 'worker',
  };
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      generateName: `${app}-${hex(4)}-`,
      namespace,
      uid,
      resourceVersion: String(firstVersion),
      creationTimestamp: time,
      labels,
      annotations: {
        [writtenAnnotation]: '0'.repeat(16),
        'kubectl.kubernetes.io/restartedAt': time,
        'prometheus.io/scrape': 'true',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-${hex(4)}`,
          uid: `${hex(6)}-0000-4000-8000-000000000000`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(time, uid),
    },
    spec: {
      volumes: [{ name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } }],
      containers: [
        {
          name: 'checkout',
          image,
          args: ['--listen=:8080', `--shard=${index % 16}`],
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: [
            {
              name: 'POD_NAME',
              valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
            },
            { name: 'REGION', value: 'eu-central-1' },
          ],
          resources: {
            limits: { cpu: '500m', memory: '512Mi' },
            requests: { cpu: '100m', memory: '128Mi' },
          },
          volumeMounts: [{ name: 'config', mountPath: '/etc/checkout' }],
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: app,
      nodeName: `node-${index % 200}`,
      securityContext: {},
      tolerations: [
        {
          key: 'node.kubernetes.io/not-ready',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
      ],
      priority: 0,
    },
    status: {
      phase: 'Running',
      conditions: ['Ready', 'PodScheduled'].map(ready),
      hostIP: `192.168.0.${index % 200}`,
      podIP: ip,
      podIPs: [{ ip }],
      startTime: time,
      containerStatuses: [
        {
          name: 'checkout',
          state: { running: { startedAt: time } },
          lastState: {},
          ready: true,
          restartCount: firstVersion,
          image,
          imageID: `registry.example.com/shop/checkout@sha256:${hex(7).repeat(8)}`,
          containerID: `containerd://${hex(8).repeat(8)}`,
          started: true,
        },
      ],
      qosClass: 'Burstable',
    },
  };
}

function managedFields(time: string, uid: string): object[] {
  const of = (manager: string, fieldsV1: object, more: object = {}) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  });
  const names = (...keys: string[]) => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
  return [
    of('kube-controller-manager', {
      'f:metadata': {
        'f:generateName': {},
        'f:labels': { '.': {}, ...names('app', 'pod-template-hash', 'tier') },
        'f:ownerReferences': { '.': {}, [`k:{"uid":"${uid}"}`]: {} },
      },
      'f:spec': {
        'f:containers': {
          'k:{"name":"checkout"}': {
            '.': {},
            ...names('args', 'env', 'image', 'imagePullPolicy', 'name', 'ports', 'resources'),
          },
        },
        ...names('dnsPolicy', 'restartPolicy', 'schedulerName', 'securityContext'),
      },
    }),
    of(
      'kubelet',
      { 'f:status': names('conditions', 'containerStatuses', 'phase', 'podIP', 'startTime') },
      { subresource: 'status' },
    ),
  ];
}

/** The parts of a Pod that the templates change. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly generateName?: string;
    readonly namespace: string;
    readonly uid: string;
    readonly ownerReferences?: readonly object[];
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly managedFields: readonly object[];
  };
  readonly spec: { readonly containers: readonly Container[] };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses: readonly ContainerStatus[];
  };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
}

interface ContainerStatus extends Container {
  readonly restartCount: number | string;
}

const imageOf = (name: string) => `registry.example.com/shop/${name}:%release%`;

const probeOf = (name: string): object => ({
  httpGet: { path: `/${name}/health`, port: 8080, scheme: 'HTTP' },
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
});

/** The members of `metadata` that events change. */
export function changing(metadata: Pod['metadata'], manager: string): object {
  const { managedFields, ...others } = metadata;
  const { name, uid, labels, annotations } = others;
  return {
    ...others,
    name: `${name}-%generation%`,
    uid: `${uid.slice(0, -5)}%generation%`,
    resourceVersion: '%version%',
    labels: { ...labels, track: '%track%' },
    annotations: { ...annotations, [writtenAnnotation]: '%written%' },
    '%%managed%%': 0,
    managedFields: managedFields.map((entry) => ({
      ...entry,
      time: 'manager' in entry && entry.manager === manager ? '%statusTime%' : '%specTime%',
    })),
    '%%unmanaged%%': 0,
  };
}

/** The JSON text of a Pod with tokens for the fields that events change. */
export function podTemplate(index: number, seed: number, large: boolean): string {
  const pod = podOf(index, 100, seed) as Pod;
  const { metadata, spec, status } = pod;
  const { imagePullPolicy, ...others } = spec.containers[0] as Container;
  const [firstStatus] = status.containerStatuses;
  const names = large ? ['checkout', 'metrics-proxy', 'log-shipper'] : ['checkout'];
  const types = large
    ? ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
    : ['Ready', 'PodScheduled'];
  const conditions = types.map((type) => ({ ...status.conditions[0], type }));
  return JSON.stringify({
    ...pod,
    metadata: changing(metadata, 'kubelet'),
    spec: {
      ...spec,
      containers: names.map((name) => ({
        ...others,
        name,
        image: imageOf(name),
        ...(large && { livenessProbe: probeOf(name), readinessProbe: probeOf(name) }),
        imagePullPolicy,
      })),
    },
    status: {
      ...status,
      conditions: conditions.map((condition) =>
        condition.type === 'Ready'
          ? {
              ...condition,
              status: '%ready%',
              lastTransitionTime: '%statusTime%',
              '%%reason%%': 0,
            }
          : condition,
      ),
      containerStatuses: names.map((name, at) => ({
        ...firstStatus,
        name,
        restartCount: at === 0 ? '%%count%%' : 0,
        image: imageOf(name),
      })),
    },
  });
}
