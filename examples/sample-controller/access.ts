/**
 * What the sample controller may do in a cluster. The roles that grant it:
 *
 *     npx rx-informer rbac examples/sample-controller/access.ts
 */
import type { DeclaredAccess } from 'rx-informer';
import { customResourceDefinitions, deployments } from 'rx-informer/resources';
import { foos } from './foo.ts';

export const access: DeclaredAccess = {
  name: 'sample-controller',
  // The definition of Foo is created if it is missing, then observed until the server serves Foos.
  informers: [customResourceDefinitions, foos, deployments],
  clients: [
    { resource: customResourceDefinitions, calls: ['create'] },
    { resource: foos, calls: ['finalizer', 'patchStatus'] },
    { resource: deployments, calls: ['create', 'edit', 'delete', 'list'] },
  ],
  leaderElection: { namespace: 'default', name: 'sample-controller' },
  events: true,
};
