/**
 * An informer of Secrets over a real server, in a process of its own that its parent stops and continues by signals.
 * It sends each status to the parent, and its state on request.
 */
import {
  addEventHandler,
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { secrets } from 'rx-informer/resources';

/** The requests of the parent. */
export type SleeperRequest = { readonly key: string; readonly version: string } | 'stop';

/** The messages of the sleeper. */
export type SleeperMessage =
  | {
      readonly type: 'status';
      readonly phase: string;
      readonly reason?: string;
      readonly code?: number;
      readonly stale: boolean;
    }
  | { readonly type: 'synced'; readonly size: number }
  | {
      readonly type: 'has';
      /** UID and version by key, in the store and according to a handler. */
      readonly store: Readonly<Record<string, string>>;
      readonly handled: Readonly<Record<string, string>>;
      /** The number of observed and of missed deletions. */
      readonly ends: { readonly seen: number; readonly missed: number };
      readonly relists: number;
      readonly wrong: readonly string[];
    };

const send = (message: SleeperMessage) => process.send?.(message);
const client = await clientFromKubeConfig({ file: process.argv[2] as string });
const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
const source = createListWatch(client, secrets);
// Short watches, so that the server ends one while the process is stopped.
const informer = createSharedInformer(source, { backoff, minWatchTimeoutMs: 2_000 });
const sign = ({ metadata }: { metadata?: { uid?: string; resourceVersion?: string } }) =>
  `${metadata?.uid}@${metadata?.resourceVersion}`;

const handled: Record<string, string> = {};
const ends = { seen: 0, missed: 0 };
const wrong: string[] = [];
informer.status$.subscribe(({ phase, error, staleSinceMs }) => {
  const failed = error === undefined ? {} : { reason: error.reason, code: error.code };
  send({ type: 'status', phase, ...failed, stale: staleSinceMs !== undefined });
});
addEventHandler(informer, {
  onAdd: (object, { key }) => {
    if (handled[key] !== undefined) wrong.push(`${key} added twice`);
    handled[key] = sign(object);
  },
  onUpdate: (previous, object, { key }) => {
    if (handled[key] !== sign(previous)) wrong.push(`${key} had another state`);
    handled[key] = sign(object);
  },
  onDelete: ({ key, finalStateUnknown }) => {
    if (handled[key] === undefined) wrong.push(`${key} deleted, but not known`);
    delete handled[key];
    ends[finalStateUnknown ? 'missed' : 'seen']++;
  },
});
process.on('message', async (request: SleeperRequest) => {
  if (request === 'stop') {
    await informer.stop();
    await client.close();
    process.disconnect();
    return;
  }
  await informer.whenObserved(request.key, request.version);
  const list = informer.indexer.list().map((one) => [informer.indexer.keyOf(one), sign(one)]);
  const { relists } = informer.status;
  send({ type: 'has', store: Object.fromEntries(list), handled, ends, relists, wrong });
});
informer.start();
await informer.whenSynced();
send({ type: 'synced', size: informer.indexer.size });
