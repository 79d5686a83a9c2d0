/** Tests the details of an object in the dashboard: probes, amounts, troubles, versions, YAML, lines of kubectl to copy, and shortened names. */

import type { KubernetesObject, Stored } from 'rx-informer';
import type { Container } from 'rx-informer/resources';
import { describe, expect, test } from 'vitest';
import { draftText, yamlText } from '../../examples/dashboard/page/details/draft.ts';
import { copiesOf, portsOf } from '../../examples/dashboard/page/details/kubectl.ts';
import { troublesOf } from '../../examples/dashboard/page/details/troubles.ts';
import { versionOf } from '../../examples/dashboard/page/details/versions.ts';
import {
  amountsText,
  bytesText,
  cpuText,
  quantityOf,
} from '../../examples/dashboard/page/kinds/amounts.ts';
import { kindOf } from '../../examples/dashboard/page/kinds/index.ts';
import { podKind } from '../../examples/dashboard/page/kinds/pods.ts';
import { probesOf } from '../../examples/dashboard/page/kinds/probes.ts';
import { replicaSetKind } from '../../examples/dashboard/page/kinds/workloads.ts';
import { shortenedTo } from '../../examples/dashboard/page/table/shortened.ts';
import {
  fittingColumns,
  phoneColumns,
  shownColumns,
} from '../../examples/dashboard/page/table/shown-columns.ts';

describe('a probe', () => {
  const ports = [{ name: 'http', containerPort: 9090 }];
  const said = (container: Partial<Container>) => probesOf({ name: 'c', ...container });
  const liveness = (livenessProbe: Container['livenessProbe'], declared = ports) =>
    said({ ports: declared, livenessProbe } as Partial<Container>)['Liveness probe'];

  test('says what it asks, how often, and after how many failures it has failed', () => {
    const livenessProbe = {
      httpGet: { path: '/healthz', port: 9090 },
      periodSeconds: 5,
      failureThreshold: 1,
    };
    const readinessProbe = { tcpSocket: { port: 9090 } };
    expect(said({ ports, livenessProbe, readinessProbe })).toEqual({
      'Startup probe': '',
      'Liveness probe': 'GET :9090/healthz every 5 s, 1 failure',
      'Readiness probe': 'TCP :9090 every 10 s, 3 failures',
    });
    expect(liveness({ grpc: { port: 9090, service: 'x' } })).toMatch(/^gRPC :9090\/x every/);
    expect(liveness({ exec: { command: ['cat', '/ok'] } })).toMatch(/^command cat \/ok every/);
    expect(liveness({ httpGet: { scheme: 'HTTPS', port: 9090 } })).toMatch(
      /^GET https:\/\/:9090\//,
    );
  });

  test('resolves the name of a port', () => {
    expect(liveness({ httpGet: { path: '/healthz', port: 'http' } })).toBe(
      'GET :9090/healthz every 10 s, 3 failures',
    );
  });

  test('of a port that the container does not declare says so', () => {
    const warning = / — port 8080 is not among the container's ports \(9090\)$/;
    expect(liveness({ httpGet: { path: '/healthz', port: 8080 } })).toMatch(warning);
    expect(liveness({ tcpSocket: { port: 8080 } })).toMatch(warning);
    expect(liveness({ tcpSocket: { port: 'admin' } })).toMatch(/ — port admin is not among/);
    expect(liveness({ httpGet: { host: 'other', port: 8080 } })).not.toMatch(/not among/);
    expect(liveness({ tcpSocket: { port: 8080 } }, [])).not.toMatch(/not among/);
  });
});

describe('an amount has the same unit in every notation', () => {
  test.each([
    ['20000m', '20 CPU'],
    ['20', '20 CPU'],
    ['15800m', '15.8 CPU'],
    ['250m', '0.25 CPU'],
    ['5m', '0.005 CPU'],
  ])('%s of CPU', (cpu, text) => {
    expect(amountsText({ cpu })).toBe(text);
  });

  test.each([
    ['2048Mi', '2 GiB memory'],
    ['2Gi', '2 GiB memory'],
    ['384Mi', '384 MiB memory'],
    ['64Ki', '64 KiB memory'],
  ])('%s of memory', (memory, text) => {
    expect(amountsText({ memory })).toBe(text);
  });

  test('of several resources, and of what is used of a limit', () => {
    const amounts = { cpu: '100m', memory: '1Gi', 'ephemeral-storage': '10Gi', 'example/gpu': 2 };
    expect(amountsText(amounts)).toBe(
      '0.1 CPU, 1 GiB memory, 10 GiB ephemeral-storage, 2 example/gpu',
    );
    expect(amountsText({ cpu: 4, 'hugepages-2Mi': '0' })).toBe('4 CPU');
    expect([cpuText(1500), bytesText(3 * 2 ** 29)]).toEqual(['1.5 CPU', '1.5 GiB']);
    expect(quantityOf('requests.cpu', '500m', '3')).toBe('0.5 of 3 CPU');
    expect(quantityOf('limits.memory', '512Mi', '2Gi')).toBe('512 MiB of 2 GiB');
    expect(quantityOf('limits.memory', 0, '2Gi')).toBe('0 of 2 GiB');
    expect(quantityOf('pods', '6', '20')).toBe('6 of 20');
  });
});

test('a container that ended refers to its log, and one that waits does not', () => {
  const container = { name: 'c', image: '', imageID: '', ready: false, restartCount: 2 };
  const troubles = troublesOf({
    status: {
      containerStatuses: [
        {
          ...container,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    },
  } as never);
  expect(troubles.map(({ title, logOf }) => [title, logOf !== undefined])).toEqual([
    ['Container c: CrashLoopBackOff', false],
    ['Container c ended: Error, exit code 1, restarted 2 times', true],
  ]);
});

describe('the ReplicaSets of a Deployment', () => {
  const set = (image: string, revision?: number, creationTimestamp = '2026-01-01T00:00:00Z') =>
    replicaSetKind.row({
      metadata: {
        creationTimestamp,
        annotations:
          revision === undefined ? {} : { 'deployment.kubernetes.io/revision': String(revision) },
      },
      spec: { template: { spec: { containers: [{ name: 'c', image }] } } },
    } as never);

  test('show their images, and which one is new', () => {
    // A rollback gives an older ReplicaSet a new revision.
    const sets = [
      set('registry.example/shop/web:v1', 3, '2026-01-01T00:00:00Z'),
      set('registry.example/shop/web:v2', 2, '2026-01-02T00:00:00Z'),
    ];
    expect(sets.map((each) => versionOf(each, sets))).toEqual(['web:v1, new', 'web:v2, old']);
  });

  test('without a revision are compared by their age, and a single one is not called new', () => {
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
    const sets = [set('web:v1'), set(`x/web@${digest}`, undefined, '2026-01-02T00:00:00Z')];
    expect(sets.map((each) => versionOf(each, sets))).toEqual([
      'web:v1, old',
      'web@sha256:0123456789ab, new',
    ]);
    expect(versionOf(set('web:v1'), [set('web:v1')])).toBe('web:v1');
  });
});

const textsOf = (id: string, name: string, context?: string, ports = {}) =>
  copiesOf(kindOf(id), { namespace: id === 'nodes' ? '' : 'shop', name }, context, ports).map(
    ({ text }) => text,
  );

test('a Pod has its name, a shell in its container, and a forwarded port', () => {
  expect(textsOf('pods', 'web-0', 'prod', { port: 8080, container: 'main' })).toEqual([
    'web-0',
    ...[
      'get pod/web-0 -o yaml',
      'describe pod/web-0',
      'logs pod/web-0 --all-containers --follow',
      'exec -it pod/web-0 -c main -- sh',
      'debug -it pod/web-0 --image=busybox --target main',
      'port-forward pod/web-0 8080:8080',
    ].map((command) => `kubectl --context prod -n shop ${command}`),
  ]);
});

test('a workload is named with its group, and a Node has no namespace', () => {
  expect(textsOf('deployments', 'web')).toContain(
    'kubectl -n shop rollout status deployment.apps/web',
  );
  expect(textsOf('nodes', 'n1')).toContain(
    'kubectl drain n1 --ignore-daemonsets --delete-emptydir-data',
  );
});

test('a shell begins in the first container, also of a workload; a port is that of a Service or of this container', () => {
  const containers = [{ name: 'main', ports: [{ containerPort: 8080 }] }, { name: 'side' }];
  const ofSpec = (spec: object) => portsOf({ spec } as KubernetesObject);
  expect(ofSpec({ containers })).toEqual({ port: 8080, container: 'main' });
  expect(ofSpec({ template: { spec: { containers } } })).toEqual({ port: 8080, container: 'main' });
  expect(ofSpec({ ports: [{ port: 80 }] })).toEqual({ port: 80 });
  expect(portsOf(undefined)).toEqual({});
});

test('a context of any name is one word of the command', () => {
  expect(textsOf('services', 'web', "it's; rm")[1]).toMatch(/^kubectl --context 'it'\\''s; rm' -n/);
});

test('YAML and draft have their members in one order, and only the draft lacks the status', () => {
  const object = {
    status: { phase: 'Running' },
    spec: { nodeName: 'n1' },
    kind: 'Pod',
    metadata: { name: 'web-0', uid: 'u', resourceVersion: '7' },
    apiVersion: 'v1',
  } as unknown as Stored<KubernetesObject>;
  const members = (text: string) => text.match(/^\w+/gm);
  expect(members(yamlText(object))).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
  expect(members(draftText(object))).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
});

test('the beginning of a long name has exactly the width of its letters', () => {
  // Each letter and the ellipsis are 10 wide.
  const measure = (text: string) => text.length * 10;
  expect(shortenedTo('recommendations', 150, measure)).toBeUndefined();
  expect(shortenedTo('recommendations', 87, measure)).toBe(80);
});

test('on a phone a name has all the room beside its status', () => {
  const shown = phoneColumns(shownColumns(podKind, undefined), 368);
  const [name, status] = shown;
  expect((name?.width ?? 0) + (status?.width ?? 0)).toBe(368);
  expect(shown).toHaveLength(shownColumns(podKind, undefined).length);
});

test('the column by which the table is sorted stays beside the details', () => {
  const all = shownColumns(podKind, undefined, { isTrouble: true });
  const ids = (width: number, sorted?: string) =>
    fittingColumns(all, width, sorted).map(({ id }) => id);
  expect(ids(573)).not.toContain('restarts');
  expect(ids(573, 'restarts')).toContain('restarts');
});
