/**
 * Runs a mutation campaign: deliberate faults in each stage, selected by a seed, and the specs that should detect
 * them.
 *
 *     npm run test:mutation -- --seed 1 --per-stage 30 --stages delta,store
 *     npm run test:mutation -- --deletes
 *     npm run test:mutation -- planted
 *
 * It fails if less than nine tenths of a stage's mutants are noticed by a test or explained in `explained.json`. The
 * second form deletes single statements, such as the end of a subscription or the reset of a flag. The third plants the
 * faults of `planted-faults.json` instead. `docs/internals/reliability.md` has the results.
 *
 * StrykerJS's instrumenter places the mutants. It is installed into `.cache/mutation` and not listed in package.json,
 * because nothing else needs it. The results are kept in `.cache/mutation/results.jsonl`.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CACHE } from './cache.ts';
import { runCampaign } from './campaign.ts';
import { runPlanted } from './planted.ts';

/** Folders without mutants: what is generated. */
const NO_STAGES = ['resources'];
const stages = readdirSync('lib', { withFileTypes: true })
  .filter((each) => each.isDirectory() && !NO_STAGES.includes(each.name))
  .map(({ name }) => name);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    'per-stage': { type: 'string', default: '30' },
    stages: { type: 'string', default: stages.join(',') },
    seconds: { type: 'string', default: '30' },
    deletes: { type: 'boolean', default: false },
  },
});

const [form, ...folders] = positionals;
mkdirSync(CACHE, { recursive: true });
const isPassed =
  form === 'planted'
    ? await runPlanted(folders)
    : await runCampaign({
        stages: values.stages.split(','),
        perStage: Number(values['per-stage']),
        seed: Number(values.seed),
        seconds: Number(values.seconds),
        deletes: values.deletes,
      });
if (!isPassed) process.exitCode = 1;
