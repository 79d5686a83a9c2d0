/** What the controller may do in a cluster. After a change run `npm run roles`; the tests fail if something is missing. */
import type { DeclaredAccess } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { widgets } from './widgets.ts';

export const access: DeclaredAccess = {
  name: 'widget-controller',
  informers: [widgets, configMaps],
  clients: [
    { resource: widgets, calls: ['finalizer', 'patchStatus'] },
    { resource: configMaps, calls: ['get', 'create', 'edit', 'delete'] },
  ],
  leaderElection: { namespace: 'widget-controller', name: 'widget-controller' },
  events: true,
};
