/** Every numeric option of workers, of shards and of the streams of a page, over its complete range: it is used as documented, or refused. */
import { createClient, createShardMember } from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { connectWorker, editInWorker, serveQueries } from 'rx-informer/worker';
import { describe, it } from 'vitest';
import { connectPaintedTab } from '../../lib/worker/page/connect-painted-worker.ts';
import { thisPage } from '../../lib/worker/page/page-life.ts';
import {
  above,
  atLeast,
  judgeRange,
  type NumericOption,
  optionsOf,
  wholeOrInfinite,
} from './numeric-range.ts';

const server = createFakeApiServer();
const fake = { baseUrl: 'http://fake', fetch: server.fetch };
const client = createClient(fake);
const worker = () => {
  const { port1 } = new MessageChannel();
  port1.close();
  return { port: port1 as never, onerror: null };
};
const cluster = connectWorker({ identity: undefined, shared: worker });
cluster.close();
const ring = { client, namespace: 'shop', name: 'ring' };

const served = (options: object) =>
  serveQueries({ createFactory: () => undefined as never, ...options });
const connected = (options: object) =>
  connectWorker({ identity: 'ann', shared: worker, ...options }).close();
const painted = (options: object) => {
  const paint = { kinds: [configMaps], configMaps: 'stored', ...options } as const;
  connectPaintedTab({ identity: 'ann', shared: worker, paint }, thisPage(), {}).close();
};
// The worker is gone, which is another error.
const edited = (options: object) =>
  editInWorker(cluster, pods, 'shop/a', () => {}, options).catch((error: Error) => {
    if (error instanceof TypeError) throw error;
  });
const inPage = (options: object) => createClient({ ...fake, ...options });

const ROWS: readonly NumericOption[] = [
  ...optionsOf(['lingerMs', 'hiddenGraceMs'], atLeast(0), served),
  ...optionsOf(['credentialsTimeoutMs'], above(0), served),
  ...optionsOf(['lingerMs'], atLeast(0), connected),
  ...optionsOf(['maxAgeMs'], above(0), painted),
  ...optionsOf(['timeoutMs'], above(0), edited),
  ...optionsOf(['drainMs'], atLeast(0), (options: object) =>
    createShardMember({ ...ring, ...options }),
  ),
  ...optionsOf(['maxStreams'], wholeOrInfinite(1), inPage),
  ...optionsOf(['hiddenGraceMs'], atLeast(0), inPage),
];

describe('a numeric option of a worker, of a page or of shards', () => {
  it.each(ROWS.map((row) => [row.option, row] as const))(
    'M13: %s is used as documented, or refused by name, over its complete range',
    (_option, row) => judgeRange(row),
  );
});
