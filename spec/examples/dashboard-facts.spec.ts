/** Tests the details of an object in the dashboard: probes, amounts, troubles and the versions of a Deployment. */
import type { Container } from 'rx-informer/resources';
import { describe, expect, test } from 'vitest';
import { troublesOf } from '../../examples/dashboard/page/details/troubles.ts';
import { versionOf } from '../../examples/dashboard/page/details/versions.ts';
import {
  amountsText,
  bytesText,
  cpuText,
  quantityOf,
} from '../../examples/dashboard/page/kinds/amounts.ts';
import { probesOf } from '../../examples/dashboard/page/kinds/probes.ts';
import { replicaSetKind } from '../../examples/dashboard/page/kinds/workloads.ts';

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
