/** Tests which objects the dashboard finds in the words of a cause. */
import { expect, test } from 'vitest';
import { namedIn } from '../../examples/dashboard/page/kinds/named.ts';

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
