/** Runs random scenarios until there have been enough events. */
import * as fc from '../../support/fast-check.ts';
import { runScenario } from './run.ts';
import { scenario } from './scenario.ts';
import { plainly } from './step.ts';
import { STEPS } from './steps.ts';

const SCENARIOS_A_ROUND = 100;

/** What was run: the events, and how many pipelines had each operator. */
export interface Ran {
  readonly events: number;
  readonly pipelines: ReadonlyMap<string, number>;
}

function counted(seed: number, path: string | undefined, ran: Map<string, number>): number {
  let events = 0;
  const property = fc.property(scenario, (each) => {
    const run = runScenario(each);
    events += run.events;
    for (const name of new Set(run.names)) ran.set(name, (ran.get(name) ?? 0) + 1);
  });
  const numRuns = SCENARIOS_A_ROUND;
  const out = fc.check(property, { numRuns, seed, ...(path === undefined ? {} : { path }) });
  if (!out.failed) return events;
  throw new Error(
    [
      `seed ${seed} went wrong; replay: QUERY_SEED=${seed} QUERY_PATH=${out.counterexamplePath} npm run test:queries`,
      String((out.errorInstance as Error | undefined)?.stack),
      JSON.stringify(out.counterexample?.[0]),
    ].join('\n'),
  );
}

/** Runs scenarios of consecutive seeds. Throws the first that goes wrong, with its seed. */
export function runScenarios(leastEvents: number, firstSeed: number): Ran {
  const pipelines = new Map(STEPS.map((make) => [make(0, plainly({} as never)).name, 0]));
  let events = 0;
  for (let seed = firstSeed; events < leastEvents; seed++) {
    events += counted(seed, undefined, pipelines);
  }
  return { events, pipelines };
}

/** Runs the scenarios of one seed again, or the one with this path. */
export function replay(seed: number, path: string | undefined): void {
  counted(seed, path, new Map());
}
