/** Tests the sample controller on the fake API server: as a process, with objects of others in its way, and with exactly the access that it declares. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type AccessRole,
  createResourceClient,
  type KubernetesObject,
  rolesFor,
} from 'rx-informer';
import { deployments, eventsV1Events } from 'rx-informer/resources';
import { type FakeApiServer, permittedBy } from 'rx-informer/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { access } from '../../examples/sample-controller/access.ts';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { openDemoCluster, USER } from '../../examples/sample-controller/demo.ts';
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

/** A Foo whose Deployment belongs to another owner: each attempt to reconcile it repeats an Event. */
async function obstructed({ objects }: FakeApiServer): Promise<void> {
  const place = { namespace: 'default', name: 'taken' };
  const spec = { selector: {}, template: { spec: { containers: [] } } };
  objects.create(deployments, { metadata: place, spec });
  objects.create(foos, { metadata: place, spec: { deploymentName: 'taken', replicas: 1 } });
  await eventually(() =>
    expect(objects.list(eventsV1Events).some(({ series }) => series)).toBe(true),
  );
  objects.delete(foos, place);
  objects.delete(deployments, place);
}

/** Runs the scenario of the demo to its end, or to the first refusal, and returns the refusal. */
async function play(roles: readonly AccessRole[], watchList: boolean): Promise<string | undefined> {
  const permits = permittedBy(roles, { user: USER });
  let refuse = (_what: string) => {};
  const refused = new Promise<string>((resolve) => {
    refuse = resolve;
  });
  const cluster = openDemoCluster({
    watchList,
    allows(asked) {
      const isPermitted = permits(asked);
      const { verb, resource, subresource } = asked;
      if (!isPermitted) refuse(`${verb} ${[resource, subresource].filter(Boolean).join('/')}`);
      return isPermitted;
    },
  });
  const { faults } = cluster.server;
  const ended = new AbortController();
  const scenario = async () => {
    await installFoo(cluster.client, ended.signal);
    const sample = startSampleController(cluster.client, { identity: 'me', log: () => {} });
    try {
      // Other writers are faster once, so that the finalizer and an edit read the object again.
      for (const resource of [foos, deployments]) {
        faults.failNext(
          ({ method, path, resource: of }) =>
            method === 'PATCH' && of?.split('.')[0] === resource.plural && !/status$/.test(path),
          { status: 409, reason: 'Conflict' },
        );
      }
      const played = obstructed(cluster.server).then(() => cluster.play(() => {}));
      played.catch(() => {}); // after a refusal it does not end well
      await Promise.race([played, refused]);
    } finally {
      await sample.stop();
    }
    return undefined;
  };
  try {
    return await Promise.race([refused, scenario().then(() => Promise.race([refused, undefined]))]);
  } finally {
    ended.abort();
    await cluster.close();
  }
}

/** Each role without one verb of one resource. */
function* without(roles: readonly AccessRole[]) {
  for (const [at, role] of roles.entries()) {
    for (const [of, rule] of role.rules.entries()) {
      for (const resource of rule.resources) {
        for (const verb of rule.verbs) {
          const resources = rule.resources.filter((each) => each !== resource);
          const verbs = rule.verbs.filter((each) => each !== verb);
          const parts = [
            { ...rule, resources },
            { ...rule, resources: [resource], verbs },
          ];
          const rules = role.rules.toSpliced(of, 1, ...parts);
          yield { verb, resource, roles: roles.with(at, { ...role, rules }) };
        }
      }
    }
  }
}

const roles = rolesFor(access);

for (const watchList of [true, false]) {
  const server = watchList ? 'streams lists' : 'does not stream lists';
  test(`N40: the sample controller needs no more than the printed roles, with a server that ${server}`, async () => {
    expect(await play(roles, watchList)).toBeUndefined();
  });
}

const all = [...without(roles)];

test('N40: the roles have a verb for everything that the sample controller does', () => {
  expect(all.length).toBeGreaterThan(15);
});

test.each(all)(
  'N40: without $verb of $resource the sample controller does not work',
  async ({ verb, resource, roles: fewer }) => {
    // An informer needs `list` only where lists are not streamed.
    expect(await play(fewer, verb !== 'list')).toBe(`${verb} ${resource}`);
  },
);
