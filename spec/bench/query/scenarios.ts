/** The scenarios by name. Each runs in a process of its own: `node … scenarios.ts <name> <effort as JSON>`. */
import { firstAnswer } from './first.ts';
import { groups } from './group.ts';
import { joins } from './join.ts';
import { manyQueries } from './many.ts';
import type { Effort, Scenario } from './outcome.ts';
import { sortedView, windowView } from './sorted.ts';

const scenarios: Readonly<Record<string, Scenario>> = {
  'sorted-10k': sortedView(10_000),
  'sorted-100k': sortedView(100_000),
  window: windowView(100_000),
  group: groups,
  join: joins,
  first: firstAnswer,
  many: manyQueries,
};

const [, , name = '', effort = ''] = process.argv;
const scenario = scenarios[name];
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
process.stdout.write(`${JSON.stringify(await scenario(JSON.parse(effort) as Effort))}\n`);
// Otherwise the timers of other libraries keep the process running.
process.exit();
