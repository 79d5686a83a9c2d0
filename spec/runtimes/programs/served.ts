/** The worker of `tab.ts`: answers its queries with the informers of this worker. */
import { readFileSync } from 'node:fs';
import { createClient, createInformerFactory } from 'rx-informer';
import { type ServedQueries, serveQueries } from 'rx-informer/worker';

const baseUrl = readFileSync(new URL('./server.txt', import.meta.url), 'utf8');

export const served: ServedQueries = serveQueries({
  createFactory: ({ fetch, demand }) =>
    createInformerFactory(createClient({ baseUrl, fetch }), { demand }),
});
