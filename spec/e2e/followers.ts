/** Informers that read a server through a proxy, in Node and in Chromium, with one interface. */
import type { BrowserContext } from 'playwright-core';
import {
  createClient,
  createFetchTransport,
  createListWatch,
  createSharedInformer,
  type TransportRequest,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { configMaps } from 'rx-informer/resources';
import { tap } from 'rxjs/operators';
import type { InformerPage } from '../browser/informer-page.ts';
import { testOnlyCa } from '../node/test-only-certificates.ts';
import { HANG_MS } from '../support/patience.ts';

declare const page: InformerPage;

/** An informer of all ConfigMaps. */
export interface Follower {
  readonly name: string;
  synced(timeoutMs?: number): Promise<unknown>;
  /** The version of each object in the store, by name. */
  versions(): Promise<Readonly<Record<string, string>>>;
  /** The message of a buffering proxy in the status. */
  heldBack(): Promise<string | undefined>;
  /** The number of requests so far. */
  sent(): number;
  stop(): Promise<void>;
}

/** Creates a follower in this process. */
export function nodeFollower(kind: 'undici' | 'fetch', baseUrl: string): Follower {
  const transport =
    kind === 'undici'
      ? createUndiciTransport({ baseUrl, tls: { ca: testOnlyCa } })
      : createFetchTransport({ baseUrl });
  let sent = 0;
  const send = (request: TransportRequest) =>
    transport.send(request).pipe(tap({ subscribe: () => sent++ }));
  const counted = { send, close: () => transport.close() };
  const client = createClient({ baseUrl, transport: counted });
  const informer = createSharedInformer(createListWatch(client, configMaps));
  informer.start();
  return {
    name: kind,
    synced: (timeoutMs = HANG_MS) => informer.whenSynced({ timeoutMs }),
    versions: async () =>
      Object.fromEntries(
        informer.indexer
          .list()
          .map(({ metadata }) => [metadata?.name, metadata?.resourceVersion] as const),
      ),
    heldBack: async () => informer.status.heldBack?.message,
    sent: () => sent,
    async stop() {
      await informer.stop();
      await client.close();
    },
  };
}

/** Creates a follower in a page of the proxy's origin. `script` is the result of `informerScript()`. */
export async function pageFollower(
  context: BrowserContext,
  script: string,
  origin: string,
): Promise<Follower> {
  const tab = await context.newPage();
  let sent = 0;
  tab.on('request', (request) => {
    if (request.url().includes('/configmaps')) sent++;
  });
  await tab.goto(`${origin}/healthz`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate(() => {
    page.connect('');
    page.start('configMaps');
  });
  return {
    name: 'Chromium',
    synced: () => tab.evaluate(() => page.synced('configMaps')),
    versions: () => tab.evaluate(() => page.versions('configMaps')),
    heldBack: () => tab.evaluate(() => page.heldBack('configMaps')),
    sent: () => sent,
    stop: () => tab.close(),
  };
}
