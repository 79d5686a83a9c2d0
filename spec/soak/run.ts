/**
 * Runs informers and live queries for a long time, in five phases, each in its own process, and prints what they held. Exits with 1
 * if memory or handles grew in a phase, or if a result was wrong.
 *
 *   npm run test:soak -- [--short] [--only virtual,full-speed,cycles,queries,dashboard] [--seed 1] [--virtual-minutes 60] [--minutes 10]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import '../support/load-guards.ts';
import { cyclesPhase } from './cycles.ts';
import { dashboardPhase } from './dashboard.ts';
import { fullSpeedPhase } from './full-speed.ts';
import type { PhaseResult } from './measure.ts';
import { warnings } from './measure.ts';
import { queriesPhase } from './queries.ts';
import { virtualPhase } from './virtual.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: 'virtual,full-speed,cycles,queries,dashboard' },
    seed: { type: 'string', default: '1' },
    'virtual-minutes': { type: 'string' },
    minutes: { type: 'string' },
    /** Set in the child process: the phase to run. */
    phase: { type: 'string' },
  },
});
const { short } = values;
const seed = Number(values.seed);

function here(phase: string): Promise<PhaseResult> {
  switch (phase) {
    case 'virtual':
      return virtualPhase(Number(values['virtual-minutes'] ?? (short ? 6 : 60)), seed);
    case 'full-speed':
      return fullSpeedPhase(Number(values.minutes ?? (short ? 1 : 10)), seed);
    case 'cycles':
      return short ? cyclesPhase(2_000, 200) : cyclesPhase(10_000, 1_000);
    case 'queries':
      return queriesPhase(1_000_000, seed);
    case 'dashboard':
      return dashboardPhase(Number(values.minutes ?? (short ? 6 : 60)));
    default:
      throw new TypeError(
        `unknown phase ${phase}; the phases are virtual, full-speed, cycles, queries, dashboard`,
      );
  }
}

if (values.phase === undefined) {
  let failed = false;
  for (const phase of values.only.split(',')) {
    const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const args = [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
    const child = spawn(process.execPath, [...args, '--phase', phase], { stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) failed = true;
  }
  process.exitCode = failed ? 1 : 0;
} else {
  const heard = warnings();
  const { phase, figures, wrong } = await here(values.phase);
  const all = [...wrong, ...heard];
  const rows = [...figures, ['warnings of the process', String(heard.length)]];
  const lines = rows.map(([what, howMuch]) => `| ${what} | ${howMuch} |`);
  console.log(`\n| ${phase} | |\n|---|---|\n${lines.join('\n')}`);
  for (const each of new Set(all)) console.log(`WRONG: ${each}`);
  // A leaked handle would keep the process alive.
  process.exit(all.length > 0 ? 1 : 0);
}
