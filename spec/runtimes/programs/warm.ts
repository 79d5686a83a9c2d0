/** Starts from the files of an earlier run, while the server cannot be reached. */
import { createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig, fileSnapshots } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { PATIENCE, settings, tell } from './settings.ts';

const { file, control, folder } = settings();
const persist = fileSnapshots({
  folder: `${folder}/snapshots`,
  identity: 'me',
  kinds: [pods],
  env: 'left-out',
});
const client = await clientFromKubeConfig({ file });
const start = () => {
  const informer = createSharedInformer(createListWatch(client, pods), { persist });
  informer.start();
  return informer;
};
const first = start();
await first.whenSynced(PATIENCE);
await first.stop();
await (await fetch(`${control}/stop`)).text();
const second = start();
await firstValueFrom(second.snapshot$.pipe(filter(({ size }) => size > 0)));
tell({ keys: second.indexer.listKeys(), live: second.status.live });
await second.stop();
await persist.close();
await client.close();
