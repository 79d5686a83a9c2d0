/** The sample controller on a real kube-apiserver, as a user who has only the roles that `rx-informer rbac` prints. */
import {
  type AccessRole,
  and,
  createResourceClient,
  deleted,
  exists,
  type KubeClient,
  untilCondition,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import {
  clusterRoleBindings,
  clusterRoles,
  deployments,
  eventsV1Events,
  leases,
  roleBindings,
  roles,
} from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { standInForDeployments } from '../../examples/sample-controller/deployment-stand-in.ts';
import { type Foo, foos } from '../../examples/sample-controller/foo.ts';
import { startSampleController } from '../../examples/sample-controller/sample-controller.ts';
import { runCommand } from '../../lib/command/command.ts';
import { eventually, HANG_MS } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';

const NAME = 'sample-controller';
const LIMITED = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'limited' };

/** The roles that the command prints. */
async function printed(): Promise<AccessRole[]> {
  let out = '';
  const code = await runCommand(['rbac', 'examples/sample-controller/access.ts'], {
    input: (async function* () {})(),
    out: (text) => {
      out += text;
    },
    error: (text) => expect.fail(text),
  });
  expect(code).toBe(0);
  const documents = parseAllDocuments(out);
  return Array.isArray(documents) ? documents.map((document) => document.toJS()) : [];
}

describe.skipIf(noControl)('the sample controller with the printed roles', () => {
  let server: ApiServerProcess;
  let admin: KubeClient;
  let limited: KubeClient;

  beforeAll(async () => {
    server = await startApiServer();
    const { kubeconfig: file } = server;
    admin = await clientFromKubeConfig({ file, qps: 0 });
    limited = await clientFromKubeConfig({ file, qps: 0, context: 'limited' });
    for (const { kind, metadata, ...role } of await printed()) {
      const roleRef = { apiGroup: LIMITED.apiGroup, kind, name: NAME };
      const binding = { metadata, roleRef, subjects: [LIMITED] };
      if (kind === 'ClusterRole') {
        await createResourceClient(admin, clusterRoles).create({ ...role, kind, metadata });
        await createResourceClient(admin, clusterRoleBindings).create(binding);
      } else {
        await createResourceClient(admin, roles).create({ ...role, kind, metadata });
        await createResourceClient(admin, roleBindings).create(binding);
      }
    }
  });
  afterAll(async () => {
    await limited?.close();
    await admin?.close();
    await server?.stop();
  });

  it('N40: runs, from the definition of its resource to the removal of everything that it made', async () => {
    const place = { namespace: 'default', name: 'web' };
    // The authorizer learns of new bindings by a watch.
    await eventually(() => installFoo(limited));
    const stopStandIn = standInForDeployments(admin);
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const sample = startSampleController(limited, { identity: 'me', retryPeriodMs: 100, log });
    const until = (condition: (foo: Foo | undefined) => boolean) =>
      untilCondition(admin, foos, place, condition, { timeoutMs: HANG_MS });
    const available = (replicas: number) =>
      and<Foo | undefined>(exists, (foo) => foo?.status?.availableReplicas === replicas);

    // A Deployment of another owner is in the way, so that an Event is repeated.
    const foreign = createResourceClient(admin, deployments);
    const matchLabels = { app: 'web' };
    const template = {
      metadata: { labels: matchLabels },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    };
    await foreign.create({ metadata: place, spec: { selector: { matchLabels }, template } });
    const calls = createResourceClient(admin, foos).namespace(place.namespace);
    await calls.create({ metadata: place, spec: { deploymentName: 'web', replicas: 2 } });
    // Without the events of the API server itself, which come at any time.
    const events = createResourceClient(admin, eventsV1Events);
    const reported = () => events.list({ fieldSelector: `reportingController=${NAME}` });
    await eventually(async () => {
      const { items } = await reported();
      expect(items.map(({ reason, series }) => [reason, (series?.count ?? 0) > 1])).toEqual([
        ['ErrResourceExists', true],
      ]);
    });
    await foreign.delete(place);
    await until(available(2));
    await calls.edit('web', (draft) => {
      draft.spec.replicas = 3;
    });
    await until(available(3));
    await calls.delete('web');
    await until(deleted());
    await sample.stop();
    await stopStandIn();

    expect(lines.filter((line) => /forbidden|dropped|gaveUp/.test(line))).toEqual([]);
    expect((await createResourceClient(admin, deployments).list()).items).toEqual([]);
    const reasons = (await reported()).items.map(({ reason }) => reason);
    expect(reasons.sort()).toEqual(['Created', 'ErrResourceExists', 'Removed', 'Scaled']);
    const lease = await createResourceClient(admin, leases).get(`default/${NAME}`);
    expect(lease.spec?.holderIdentity).toBe('');
  });

  it('N40: may do nothing else', async () => {
    const other = createResourceClient(limited, leases).namespace('default');
    await expect(other.get('another')).rejects.toMatchObject({ code: 403 });
    const calls = createResourceClient(limited, deployments).namespace('default');
    await expect(calls.deleteCollection()).rejects.toMatchObject({ code: 403 });
  });
});
