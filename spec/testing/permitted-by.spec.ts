/** `permittedBy`, the authorizer of tests. */
import { createClient, createResourceClient, rolesFor } from 'rx-informer';
import { configMaps, deployments } from 'rx-informer/resources';
import { createFakeApiServer, permittedBy } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const access = {
  name: 'notes',
  namespace: 'shop',
  clients: [
    { resource: configMaps, calls: ['get'] },
    { resource: deployments, calls: ['updateStatus'] },
  ],
  leaderElection: { namespace: 'system', name: 'notes' },
} as const;
const roles = rolesFor(access);
const lease = (namespace: string, name: string) =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;

describe('permittedBy', () => {
  it('A92: permits what the roles grant, in their namespaces and for their names', async () => {
    const { fetch, objects } = createFakeApiServer({ allows: permittedBy(roles) });
    const statusOf = async (path: string) => (await fetch(`http://fake${path}`)).status;
    objects.create(configMaps, { metadata: { namespace: 'shop', name: 'prices' } });
    expect(await statusOf('/api/v1/namespaces/shop/configmaps/prices')).toBe(200);
    expect(await statusOf('/api/v1/namespaces/system/configmaps/prices')).toBe(403);
    expect(await statusOf('/api/v1/namespaces/shop/configmaps')).toBe(403);
    expect(await statusOf(lease('system', 'notes'))).toBe(404);
    expect(await statusOf(lease('system', 'other'))).toBe(403);
    expect(await statusOf(lease('shop', 'notes'))).toBe(403);
  });

  it('A92: a refusal names the user, the verb, the subresource and the object, and a review has the same answer', async () => {
    const server = createFakeApiServer({ allows: permittedBy(roles, { user: 'notes' }) });
    const to = { baseUrl: 'http://fake', fetch: server.fetch };
    const admin = createClient(to);
    const client = createClient({ ...to, headers: { 'impersonate-user': 'notes' } });
    const metadata = { namespace: 'shop', name: 'web' };
    const spec = { selector: {}, template: { spec: { containers: [] } } };
    const web = await createResourceClient(admin, deployments).create({ metadata, spec });
    const calls = createResourceClient(client, deployments);
    await calls.updateStatus({ ...web, status: { replicas: 1 } });
    const refused = {
      update: calls.update(web),
      'patch status': calls.patchStatus(web, { merge: {} }),
    };
    await expect(refused.update).rejects.toThrow(
      'deployments.apps "web" is forbidden: User "notes" cannot update resource "deployments" in API group "apps" in the namespace "shop"',
    );
    await expect(refused['patch status']).rejects.toThrow(
      'deployments.apps "web" is forbidden: User "notes" cannot patch resource "deployments/status" in API group "apps" in the namespace "shop"',
    );
    const allowed = async (subresource: string, user: typeof client) => {
      const asked = { verb: 'update', group: 'apps', resource: 'deployments', namespace: 'shop' };
      const body = { spec: { resourceAttributes: { ...asked, subresource } } };
      const answer = await user.request<{ status: { allowed: boolean } }>({
        ...{ method: 'POST', path: REVIEWS, body },
      });
      return answer.status.allowed;
    };
    expect(await allowed('status', client)).toBe(true);
    expect(await allowed('', client)).toBe(false);
    expect(await allowed('', admin)).toBe(true);
  });
});
