/**
 * Pods as bytes, encoded once: about 3.2 KB of JSON each, with 0.86 KB of managedFields, as in a cluster. The parts
 * that change with an event have a fixed width. An event is therefore a copy and a few digits, and the server does
 * not become the bottleneck.
 */

/** The annotation with the server's write time: microseconds of the monotonic clock, 16 digits. */
export const writtenAnnotation = 'bench.example.com/written';

/** The first resourceVersion. All versions have 10 digits. */
export const firstVersion = 1_000_000_000;

/** Creates one Pod whose strings depend on `index`. */
export function podOf(index: number, namespaces: number): object {
  const namespace = `team-${String(index % namespaces).padStart(3, '0')}`;
  const hex = (salt: number) =>
    ((index * 2_654_435_761 + salt * 40_503) >>> 0).toString(16).padStart(8, '0');
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

/** All Pods in one buffer. */
export class PodBytes {
  readonly count: number;
  #bytes: Buffer;
  #starts: Uint32Array;
  /** For each Pod the positions of its version, its write time and its restart count. */
  #digits: Uint32Array;

  constructor(count: number, namespaces = 100) {
    this.count = count;
    const texts = Array.from({ length: count }, (_, index) =>
      JSON.stringify(podOf(index, namespaces)),
    );
    this.#starts = new Uint32Array(count + 1);
    this.#digits = new Uint32Array(count * 3);
    this.#bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + text.length, 0));
    let at = 0;
    for (const [index, text] of texts.entries()) {
      this.#starts[index] = at;
      for (const [n, mark] of [
        `"resourceVersion":"`,
        `"${writtenAnnotation}":"`,
        `"restartCount":`,
      ].entries()) {
        this.#digits[index * 3 + n] = at + text.indexOf(mark) + mark.length;
      }
      at += this.#bytes.write(text, at, 'latin1');
    }
    this.#starts[count] = at;
  }

  /** The Pod as JSON, valid until the next `touch`. */
  of(index: number): Buffer {
    return this.#bytes.subarray(this.#starts[index], this.#starts[index + 1]);
  }

  /** Writes a new version of one Pod: changes its resourceVersion, its restart count and its write time. */
  touch(index: number, version: number): void {
    const put = (field: number, digits: string) =>
      this.#bytes.write(digits, this.#digits[index * 3 + field] ?? 0, 'latin1');
    put(0, String(version));
    put(1, String(process.hrtime.bigint() / 1000n).padStart(16, '0'));
    put(2, String(version));
  }
}
