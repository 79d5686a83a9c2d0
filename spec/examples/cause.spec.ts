/** Tests that the cause of a trouble comes first in the column "Why" of the dashboard. */
import { describe, expect, test } from 'vitest';
import { causeOf } from '../../examples/dashboard/page/kinds/cause.ts';

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
