/** Tests the sample controller on the fake API server: as a process, and with objects of others in its way. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createResourceClient, type KubernetesObject } from 'rx-informer';
import { deployments, eventsV1Events } from 'rx-informer/resources';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDemoCluster } from '../../examples/sample-controller/demo.ts';
import { foos } from '../../examples/sample-controller/foo.ts';
import { FINALIZER } from '../../examples/sample-controller/reconcile.ts';
import { startSampleController } from '../../examples/sample-controller/sample-controller.ts';
import { eventually } from '../support/patience.ts';

const main = fileURLToPath(new URL('../../examples/sample-controller/main.ts', import.meta.url));
const run = promisify(execFile);

test('the demo runs and ends', async () => {
  const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const { stdout, stderr } = await run(process.execPath, [...flags, main, '--embedded']);
  expect(stderr).toBe('');
  expect(stdout.split('\n').filter((line) => line.startsWith('--'))).toEqual([
    '-- three Foos were created, and each has its Deployment',
    '-- the Deployment of green was deleted by another client and created again',
    '-- blue was scaled to three replicas',
    '-- all Foos are deleted; Deployments left: 0',
  ]);
  expect(stdout).not.toMatch(/failed|gaveUp|dropped/);
});

test('without a cluster the program says what is missing and how to run the demo, without a stack trace', async () => {
  const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const folder = mkdtempSync(join(tmpdir(), 'sample-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  const texts = { [file]: /connection refused/, [`${file}-absent`]: /config-absent/ };
  for (const [kubeconfig, text] of Object.entries(texts)) {
    const failure = await run(process.execPath, [...flags, main, '--kubeconfig', kubeconfig]).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(failure).toMatchObject({ code: 1 });
    const lines = failure.stderr.trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(text);
    expect(lines[1]).toContain('--embedded');
  }
});

describe('on the fake API server', () => {
  function started() {
    const cluster = openDemoCluster();
    const { server, client, admin } = cluster;
    const lines: string[] = [];
    const sample = startSampleController(client, {
      identity: 'me',
      log: (line) => lines.push(line),
    });
    onTestFinished(async () => {
      await sample.stop();
      await cluster.close();
    });
    const foo = (name: string, deploymentName = name) =>
      createResourceClient(admin, foos).create({
        metadata: { name, namespace: 'default' },
        spec: { deploymentName, replicas: 1 },
      });
    const names = () => server.objects.list(deployments).map(({ metadata }) => metadata.name);
    return { cluster, server, lines, foo, names };
  }
  const soon = <R>(check: () => R) => eventually(check);

  test('a Foo has its finalizer before its Deployment, and its status after', async () => {
    const { server, foo } = started();
    await foo('web');
    await soon(() => {
      const { metadata, status } = server.objects.get(foos, { name: 'web' }) ?? {};
      expect(metadata?.finalizers).toEqual([FINALIZER]);
      expect(status).toEqual({ availableReplicas: 1 });
    });
    const writes = server.requests.filter(({ method }) => ['POST', 'PATCH'].includes(method));
    const order = writes.map(
      ({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`,
    );
    const at = (what: string) => order.indexOf(what);
    expect(at('PATCH foos/web')).toBeGreaterThan(-1);
    expect(at('PATCH foos/web')).toBeLessThan(at('POST default/deployments'));
    expect(order.filter((what) => what === 'POST default/deployments')).toHaveLength(1);
  });

  test('a Deployment of another owner is not changed; the conflict is reported and retried', async () => {
    const { server, lines, foo } = started();
    const foreign = { name: 'taken', namespace: 'default' };
    const spec = { replicas: 7, selector: {}, template: {} };
    server.objects.create(deployments, { metadata: foreign, spec } as KubernetesObject as never);
    await foo('web', 'taken');
    await soon(() =>
      expect(lines.filter((line) => line.includes('failed')).length).toBeGreaterThan(2),
    );
    expect(server.objects.get(deployments, foreign)?.spec?.replicas).toBe(7);
    await soon(() => {
      const [event] = server.objects.list(eventsV1Events);
      expect(event).toMatchObject({ type: 'Warning', reason: 'ErrResourceExists' });
    });
    server.objects.delete(deployments, foreign);
    await soon(() => {
      const owner = server.objects.get(deployments, foreign)?.metadata.ownerReferences?.[0];
      expect(owner?.name).toBe('web');
    });
  });

  test('a Foo that names another Deployment gets it, and its first Deployment is deleted', async () => {
    const { server, foo, names } = started();
    await foo('web', 'first');
    await soon(() => expect(names()).toEqual(['first']));
    server.objects.modify(foos, { name: 'web' }, (draft) => {
      draft.spec.deploymentName = 'second';
    });
    await soon(() => expect(names()).toEqual(['second']));
  });
});
