/** The contestant rx-informer of the benchmark of work queues. Prints the nanoseconds per key of one way as JSON. */
import { parseArgs } from 'node:util';
import { ways } from './ways.ts';

const { values } = parseArgs({ options: { way: { type: 'string' }, events: { type: 'string' } } });
const way = ways[values.way ?? ''];
if (way === undefined) throw new TypeError(`unknown way ${values.way}`);

async function perKey(count: number): Promise<number> {
  const keys = Array.from({ length: count }, (_, at) => `shop/web-${at}`);
  const started = process.hrtime.bigint();
  await way?.(keys);
  return Number(process.hrtime.bigint() - started) / count;
}

const count = Number(values.events);
await perKey(count / 10);
process.stdout.write(`${JSON.stringify({ nanosecondsPerKey: await perKey(count) })}\n`);
