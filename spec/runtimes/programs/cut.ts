/** Reads logs whose responses the server cuts in different ways, and tells how each ends. */
import { createClient, createResourceClient } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { firstValueFrom, of } from 'rxjs';
import { catchError, toArray } from 'rxjs/operators';
import { settings, tell } from './settings.ts';

const { url: baseUrl } = settings();
const transport = createUndiciTransport({ baseUrl, tls: { rejectUnauthorized: false } });
const client = createClient({ baseUrl, transport });
const shop = createResourceClient(client, pods).namespace('shop');
const ends: Record<string, unknown> = {};
for (const how of ['complete', 'reset-0', 'reset-2', 'reset-8', 'lost']) {
  const lines = shop.log(how).pipe(
    catchError(({ reason }) => of(`error ${reason}`)),
    toArray(),
  );
  ends[how] = await firstValueFrom(lines);
}
tell(ends);
await client.close();
