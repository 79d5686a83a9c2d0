/** Tests the lines of kubectl that the dashboard offers to copy, the order of YAML, and shortened names. */
import type { KubernetesObject, Stored } from 'rx-informer';
import { expect, test } from 'vitest';
import { draftText, yamlText } from '../../examples/dashboard/page/details/draft.ts';
import { copiesOf, portsOf } from '../../examples/dashboard/page/details/kubectl.ts';
import { kindOf } from '../../examples/dashboard/page/kinds/index.ts';
import { podKind } from '../../examples/dashboard/page/kinds/pods.ts';
import { shortenedTo } from '../../examples/dashboard/page/table/shortened.ts';
import {
  fittingColumns,
  phoneColumns,
  shownColumns,
} from '../../examples/dashboard/page/table/shown-columns.ts';

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
