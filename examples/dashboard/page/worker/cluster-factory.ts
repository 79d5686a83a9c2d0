/** The informers of the worker, which list and watch over `fetch`. */
import {
  audit,
  createClient,
  createInformerFactory,
  createListWatch,
  createMetadataListWatch,
  createPollingListWatch,
  createTableListWatch,
  type InformerFactory,
  indexedDbSnapshots,
} from 'rx-informer';
import type { WorkerSession } from 'rx-informer/worker';
import { settingsOf } from '../../shared/settings.ts';
import type { Kind } from '../kinds/kind.ts';
import { storedKinds } from '../kinds/stored.ts';
import { eventsByObject } from './detail-queries.ts';
import { natsListWatch } from './nats.ts';
import { readUsageOver } from './usage.ts';

/** How long an informer runs on after the last tab has left its page, so that coming back costs no list. */
const LINGER_MS = 30_000;

/** The period of the audit, in milliseconds: an event that was lost without an error is found within this time. */
const AUDIT_PERIOD_MS = 600_000;

/** How often the kinds that no table shows are read, in milliseconds. A watch of each would take the few connections of the browser. */
const POLL_MS = 30_000;

/** The factory of the present session, and that of what is read again and again. */
let factory: InformerFactory | undefined;
let polling: InformerFactory | undefined;

/** The store of the objects, if the settings allow one. */
export function storeOf({ identity }: { readonly identity: string }) {
  const { storedFor } = settingsOf(identity);
  // The details show the environment of containers.
  const options = { identity, kinds: storedKinds, env: 'stored' } as const;
  return storedFor === '' ? undefined : indexedDbSnapshots(options);
}

export function factoryOf(session: WorkerSession): InformerFactory {
  const { cluster, namespace, nats, bucket, base } = settingsOf(session.identity);
  const { fetch, demand, persist } = session;
  // The embedded cluster sends a bookmark every two seconds, a real one every minute.
  const timeouts = cluster === 'embedded' ? { idleTimeoutMs: 6000, requestTimeoutMs: 6000 } : {};
  const client = createClient({ baseUrl: `${globalThis.location.origin}${base}`, fetch });
  readUsageOver(client, namespace, demand);
  const within = namespace === '' ? {} : { namespaces: [namespace] };
  polling = createInformerFactory(client, {
    ...{ ...within, demand, lingerMs: LINGER_MS },
    projections: { metadata: createMetadataListWatch },
    listWatch: (resource, { as, namespace: one, fieldSelector }) => {
      if (as !== 'object') return undefined;
      const part = { fieldSelector, ...(one && { namespace: one }) };
      const intervalMs = POLL_MS;
      return createPollingListWatch(createListWatch(client, resource, part), { intervalMs });
    },
  });
  const { stop } = polling;
  session.signal.addEventListener('abort', () => void stop());
  factory = createInformerFactory(client, {
    ...timeouts,
    listWatch: nats === '' ? undefined : natsListWatch(nats, bucket),
    projections: { metadata: createMetadataListWatch, table: createTableListWatch },
    lingerMs: LINGER_MS,
    audit: audit({ periodMs: AUDIT_PERIOD_MS }),
    persist,
    demand,
    ...within,
    // The details of an object read its events through an index.
    resources: [eventsByObject],
  });
  return factory;
}

/** The factory of what is read again and again; `undefined` where one server has informers of all kinds. */
export const pollingFactory = () => polling;

/** The factory of the present session. */
export function presentFactory(): InformerFactory {
  if (factory === undefined) throw new Error('the worker has no session');
  return factory;
}

/** Sends the request of a kind immediately instead of waiting. The status shows the outcome. */
export function retryNow({ resource, as, isTable }: Kind): void {
  if (factory === undefined) return;
  const scope = isTable ? 'table' : as;
  const { informer, release } =
    scope === undefined
      ? factory.acquire(resource)
      : factory.acquire(resource, { as: scope } as never);
  if (!informer.status.live) informer.refresh().catch(() => undefined);
  release();
}
