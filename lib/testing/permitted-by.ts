/** The authorizer of a test: permits what roles grant. */
import type { AccessRole } from '../controller/access.ts';
import type { AccessRule } from './http/access.ts';
import { grants } from './rbac.ts';

/**
 * Returns a rule for the option `allows` of `createFakeApiServer` that permits only what these roles grant. With the roles of
 * a program's declaration a test fails at the first call that is not declared: the server answers with a 403 whose message names
 * the verb and the resource.
 *
 * With `user` the roles are those of one user, and all others may do everything: a client is that user with
 * `headers: { 'impersonate-user': user }`. Otherwise the roles are those of every client; `server.objects` needs none. `allows: 'rbac'`
 * of the server decides by the roles and bindings that it has.
 *
 * @example
 * ```ts
 * import { createClient, createResourceClient, rolesFor } from 'rx-informer';
 * import { configMaps } from 'rx-informer/resources';
 * import { createFakeApiServer, permittedBy } from 'rx-informer/testing';
 *
 * const access = { name: 'notes', clients: [{ resource: configMaps, calls: ['get'] }] } as const;
 * const server = createFakeApiServer({ allows: permittedBy(rolesFor(access)) });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const refused = createResourceClient(client, configMaps).delete('shop/prices');
 * await refused.catch(({ status }) => status.message); // => 'configmaps "prices" is forbidden: User "tester" cannot delete resource "configmaps" in API group "" in the namespace "shop"'
 * ```
 */
export function permittedBy(
  roles: readonly AccessRole[],
  { user }: { readonly user?: string | undefined } = {},
): AccessRule {
  return (asked) =>
    (user !== undefined && asked.user !== user) ||
    roles.some(
      ({ kind, metadata, rules }) =>
        (kind === 'ClusterRole' || metadata.namespace === asked.namespace) &&
        rules.some((rule) => grants(rule, asked)),
    );
}
