/**
 * Runs before each spec on the packed library, in place of `spec/support/load-guards.ts`: sets NODE_ENV, and loads the code of
 * the guards, because no promise is resolved at a moment of virtual time.
 */
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Vitest sets it, and most users do not.
if (process.env['PACKED_NODE_ENV'] === 'unset') delete process.env['NODE_ENV'];

const { createClient, createListWatch, createSharedInformer } = await import('rx-informer');
const { pods } = await import('rx-informer/resources');
const { createFakeApiServer } = await import('rx-informer/testing');

// A client loads the guards for its first watch.
const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
const informer = createSharedInformer(createListWatch(client, pods));
informer.start();
await informer.whenSynced();
const dist = dirname(createRequire(import.meta.url).resolve('rx-informer'));
for (const chunk of globSync('*.js', { cwd: dist })) {
  await import(pathToFileURL(join(dist, chunk)).href);
}
await informer.stop();
await client.close();
