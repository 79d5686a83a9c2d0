/** Loses the server for a while, and tells what the informer has seen of it and what it has afterwards. */
import { createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { PATIENCE, settings, tell } from './settings.ts';

const { file, control } = settings();
const change = async (what: string) => {
  await (await fetch(`${control}/${what}`)).text();
};
const client = await clientFromKubeConfig({ file });
const informer = createSharedInformer(createListWatch(client, pods));
const log: string[] = [];
informer.added$.subscribe(({ metadata }) => log.push(`added ${metadata.name}`));
informer.deleted$.subscribe(({ key }) => log.push(`deleted ${key}`));
await informer.whenSynced(PATIENCE);
await firstValueFrom(informer.status$.pipe(filter(({ live }) => live)));

await change('stop');
const lost = await firstValueFrom(
  informer.status$.pipe(filter(({ phase }) => phase === 'backoff')),
);
await change('create/later');
await change('delete/first');
await change('heal');
await firstValueFrom(
  informer.snapshot$.pipe(
    filter((reader) => reader.size === 1 && reader.get('shop/later') !== undefined),
  ),
);
const back = await firstValueFrom(informer.status$.pipe(filter(({ live }) => live)));
tell({ lost: lost.error?.reason, live: back.live, log });
await informer.stop();
await client.close();
