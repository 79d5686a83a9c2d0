/** Tests the causes of troubles in the dashboard: the cause comes first in the column "Why", and the objects in its words are found. */
import { describe, expect, test } from 'vitest';
import { causeOf } from '../../examples/dashboard/page/kinds/cause.ts';
import { kindNamed } from '../../examples/dashboard/page/kinds/index.ts';
import { type Kind, rowOf } from '../../examples/dashboard/page/kinds/kind.ts';
import { namedIn } from '../../examples/dashboard/page/kinds/named.ts';
import { claimsOf } from '../../examples/dashboard/page/kinds/pod-status.ts';
import { causesOf } from '../../examples/dashboard/page/panels/causes.ts';

const found = (message: string, whole?: string) =>
  namedIn(message, 'shop', whole).flatMap(({ text, of }) =>
    of === undefined ? [] : [`${text} ${of.kind} ${of.namespace}/${of.name}`],
  );

const webhook =
  'Post "https://injector.platform.svc:443/inject?timeout=10s": no endpoints available for service "injector"';

test.each([
  [
    'no endpoints available for service "injector"',
    webhook,
    ['"injector" Service platform/injector'],
  ],
  ['service "web" not found', undefined, ['"web" Service shop/web']],
  [
    'persistentvolumeclaim "data-0" not found',
    undefined,
    ['"data-0" PersistentVolumeClaim shop/data-0'],
  ],
  ['exceeded quota: compute, requested: pods=1', undefined, ['compute ResourceQuota shop/compute']],
  ['missing request for cpu in container c of Pod web-0', undefined, ['web-0 Pod shop/web-0']],
  ['the last Job report-1 failed', undefined, ['report-1 Job shop/report-1']],
  ['ReplicaSet "web-1" has timed out progressing.', undefined, ['"web-1" ReplicaSet shop/web-1']],
  ['The node was low on resource: memory', undefined, []],
  ['storageclass.storage.k8s.io "fast" not found', undefined, []],
])('%s', (message, whole, wanted) => {
  expect(found(message, whole)).toEqual(wanted);
  const parts = namedIn(message, 'shop', whole);
  expect(parts.map(({ text }) => text).join('')).toBe(message);
});

/** An object in trouble. */
function troubled(kind: string, name: string, why: string, ownerUid = '') {
  const metadata = { name, namespace: 'shop', uid: `${kind} ${name}` };
  const row = { ...rowOf({ metadata }, { status: 'Failed', tone: 'bad', why }, {}), ownerUid };
  return { kind: kindNamed(kind) as Kind, row };
}

const claim = troubled('PersistentVolumeClaim', 'data', 'storageclass "fast" not found');
const namesClaim = 'the Pod mounts PersistentVolumeClaim "data"';

test.each([
  [
    'a claim and what waits for it are one entry',
    [troubled('Deployment', 'db', namesClaim), claim],
    ['data: db'],
  ],
  [
    'a quota and what it refuses are one entry',
    [
      troubled('ResourceQuota', 'compute', 'requests.cpu 3 of 3'),
      troubled('Deployment', 'api', 'exceeded quota: compute, requested: cpu=1'),
    ],
    ['compute: api'],
  ],
  [
    'a claim in another state is blamed for nothing',
    [troubled('Deployment', 'db', namesClaim)],
    ['db: '],
  ],
  [
    'what an object owns is not blamed for it',
    [
      troubled('CronJob', 'report', 'the last Job report-1 failed'),
      troubled('Job', 'report-1', 'deadline', 'CronJob report'),
    ],
    ['report: '],
  ],
  [
    'an effect explains nothing',
    [
      troubled('Job', 'load', namesClaim),
      troubled('CronJob', 'nightly', 'the last Job load failed'),
      claim,
    ],
    ['nightly: ', 'data: load'],
  ],
  [
    'a claim whose reason names the claim itself has what waits for it below it',
    [
      troubled('PersistentVolumeClaim', 'data', 'PersistentVolumeClaim "data" is not bound'),
      troubled('Deployment', 'db', namesClaim),
    ],
    ['data: db'],
  ],
  [
    'two that name each other both stay',
    [troubled('Job', 'a', 'the last Job b failed'), troubled('Job', 'b', 'the last Job a failed')],
    ['a: ', 'b: '],
  ],
])('%s', (_, all, wanted) => {
  const told = causesOf(all).map(
    ({ row, effects }) => `${row.name}: ${effects.map((each) => each.row.name).join(', ')}`,
  );
  expect(told).toEqual(wanted);
});

test('a Pod waits for the claims that it mounts, and those of its ephemeral volumes', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'scratch', ephemeral: {} },
    { name: 'config', configMap: { name: 'config' } },
  ];
  const pod = { metadata: { name: 'db-0' }, spec: { containers: [], volumes } };
  expect(claimsOf(pod as never)).toEqual(['data', 'db-0-scratch']);
});

const image = 'registry.example/shop/web:v2';
const unpack = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;
const notFound = `rpc error: code = NotFound desc = ${unpack}${image}: not found`;
const denied =
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';
const quota =
  'exceeded quota: compute, requested: requests.cpu=500m, used: requests.cpu=3, limited: requests.cpu=3';
const preemption =
  'no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.';

describe('the cause of a trouble', () => {
  test.each([
    ['of a refused pod is the quota', `pods "web-1-x" is forbidden: ${quota}`, quota],
    [
      'of a refused pod is the security standard',
      'pods "web-1-x" is forbidden: violates PodSecurity "restricted:latest": privileged',
      'violates PodSecurity "restricted:latest": privileged',
    ],
    ['of a failed pull is the error of the registry', notFound, 'not found: web:v2'],
    [
      'of a back-off is the error of the last pull',
      `Back-off pulling image "${image}": ErrImagePull: ${notFound}`,
      'not found: web:v2',
    ],
    [
      'of a denied pull is the denial',
      `Failed to pull image "${image}": rpc error: code = Unknown desc = ${unpack}${denied}`,
      `${denied}: web:v2`,
    ],
    [
      'of a back-off without an error is the back-off',
      `Back-off pulling image "${image}"`,
      `Back-off pulling image "${image}"`,
    ],
    [
      'of an unschedulable pod is what the nodes lack',
      `0/5 nodes are available: 1 node(s) had untolerated taint {gpu: }, 4 Insufficient cpu. ${preemption}`,
      '1 node(s) had untolerated taint {gpu: }, 4 Insufficient cpu',
    ],
    [
      'of an unschedulable pod does not need a preemption',
      '0/3 nodes are available: 3 Insufficient memory.',
      '3 Insufficient memory',
    ],
    [
      'of an unschedulable pod keeps what the Pod requests',
      `0/5 nodes are available: 4 Insufficient cpu. ${preemption} — the Pod requests 20 CPU, 2 GiB memory`,
      '4 Insufficient cpu — the Pod requests 20 CPU, 2 GiB memory',
    ],
    [
      'of a workload comes before the number of its pods',
      `3 of 3 Pods: Pending — 0/5 nodes are available: 5 Insufficient cpu. ${preemption}`,
      '5 Insufficient cpu (3 of 3 Pods: Pending)',
    ],
    [
      'of a workload with one pod comes before the number, too',
      `1 of 1 Pod: ImagePullBackOff — Back-off pulling image "${image}": ErrImagePull: ${notFound}`,
      `not found: web:v2 (1 of 1 Pod: ImagePullBackOff)`,
    ],
    [
      'that is known in no other words stays as it is',
      'restarted 6 times, last exit code 1',
      'restarted 6 times, last exit code 1',
    ],
    ['is empty for a healthy object', '', ''],
  ])('%s', (_, why, cause) => {
    expect(causeOf(why)).toBe(cause);
  });
});
