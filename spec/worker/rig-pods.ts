/** What the specs of tabs have in common: a browser whose server has some Pods, and a query of their names. */
import { liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { BrowserRig } from './browser-rig.ts';

export const names = liveQuery({
  from: pods,
  select: { name: 'metadata.name', phase: 'status.phase' },
  orderBy: { path: 'metadata.name' },
});

export function podOf(name: string, phase = 'Running') {
  return { metadata: { namespace: 'shop', name }, status: { phase } };
}

export function rigWith(...pod: string[]): BrowserRig {
  const rig = new BrowserRig();
  for (const name of pod) rig.server.objects.create(pods, podOf(name));
  return rig;
}
