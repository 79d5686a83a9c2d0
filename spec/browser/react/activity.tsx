/** Scenarios of a part of the page that is hidden by `<Activity>`. React 18 has none. */
import * as React from 'react';
import { useList } from 'rx-informer/react';
import { pods } from 'rx-informer/resources';
import { createRig, until } from './rig.tsx';

/** Hides a list, changes the cluster, and shows the list again. */
export async function hiddenActivity(options: { isStrict: boolean; lingerMs: number }) {
  const rig = createRig();
  const add = (name: string) =>
    rig.server.objects.create(pods, { metadata: { namespace: 'shop', name } });
  add('one');
  const shown: string[] = [];
  function Names() {
    const { rows, synced } = useList(pods, { orderBy: { path: 'metadata.name' } });
    const names = rows.map(({ metadata }) => metadata.name).join();
    React.useEffect(() => void shown.push(names));
    return <p>{`${names} ${synced}`}</p>;
  }
  const show = (mode: 'visible' | 'hidden') =>
    rig.show(
      <React.Activity mode={mode}>
        <Names />
      </React.Activity>,
      options,
    );
  show('visible');
  await until(() => rig.text() === 'one true', rig.text);
  show('hidden');
  await until(() => rig.server.openWatches.length === 0);
  const hidden = rig.text();
  add('two');
  show('visible');
  await until(() => rig.text() === 'one,two true', rig.text);
  const open = rig.server.openWatches.length;
  rig.unmount();
  await until(() => rig.server.openWatches.length === 0);
  return { hidden, open, shown: shown.filter((text, at) => text !== shown[at - 1]) };
}
