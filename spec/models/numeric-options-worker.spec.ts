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

const ROWS: readonly NumericOption[] = [
  ...(['lingerMs', 'hiddenGraceMs', 'credentialsTimeoutMs'] as const).map((option) => ({
    option,
    takes: option === 'credentialsTimeoutMs' ? above(0) : atLeast(0),
    use: (value: never) =>
      serveQueries({ createFactory: () => undefined as never, [option]: value }),
  })),
  {
    option: 'lingerMs',
    takes: atLeast(0),
    use: (lingerMs) => connectWorker({ identity: 'ann', shared: worker, lingerMs }).close(),
  },
  {
    option: 'maxAgeMs',
    takes: above(0),
    use: (maxAgeMs) => {
      const paint = { kinds: [configMaps], configMaps: 'stored', maxAgeMs } as const;
      connectPaintedTab({ identity: 'ann', shared: worker, paint }, thisPage(), {}).close();
    },
  },
  {
    option: 'timeoutMs',
    takes: above(0),
    // The worker is gone, which is another error.
    use: (timeoutMs) =>
      editInWorker(cluster, pods, 'shop/a', () => {}, { timeoutMs }).catch((error: Error) => {
        if (error instanceof TypeError) throw error;
      }),
  },
  {
    option: 'drainMs',
    takes: atLeast(0),
    use: (drainMs) => createShardMember({ ...ring, drainMs }),
  },
  {
    option: 'maxStreams',
    takes: wholeOrInfinite(1),
    use: (maxStreams) => createClient({ ...fake, maxStreams }),
  },
  {
    option: 'hiddenGraceMs',
    takes: atLeast(0),
    use: (hiddenGraceMs) => createClient({ ...fake, hiddenGraceMs }),
  },
];

describe('a numeric option of a worker, of a page or of shards', () => {
  it.each(ROWS.map((row) => [row.option, row] as const))(
    'M13: %s is used as documented, or refused by name, over its complete range',
    (_option, row) => judgeRange(row),
  );
});
