/** Sends a request that must fail, and tells how the informer and the call fail. */
import { ApiError, createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { firstValueFrom } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import { settings, tell } from './settings.ts';

const client = await clientFromKubeConfig({ file: settings().file });
const informer = createSharedInformer(createListWatch(client, pods));
const first = firstValueFrom(
  informer.status$.pipe(
    map(({ error }) => error),
    filter((error) => error !== undefined),
  ),
);
informer.start();
const { reason } = await first;
await informer.stop();
const error = await client.request({ path: '/version' }).catch((caught: unknown) => caught);
const isKnown = error instanceof ApiError;
tell({
  informer: reason,
  isKnown,
  ...(isKnown && { reason: error.reason, message: error.message }),
});
await client.close();
