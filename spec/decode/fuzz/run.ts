/** Runs the fuzz test of the decoders: `npm run test:fuzz`, with `-- --long` a hundred times as many chains. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values } = parseArgs({
  options: { long: { type: 'boolean', default: false }, seed: { type: 'string' } },
});
if (values.long) process.env['FUZZ_SEEDS'] = '100000';
if (values.seed !== undefined) process.env['FUZZ_SEED'] = values.seed;

const config = fileURLToPath(new URL('vitest.config.ts', import.meta.url));
const vitest = await startVitest('test', [], { config, run: true, watch: false });
await vitest.close();
