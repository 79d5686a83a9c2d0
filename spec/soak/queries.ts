/** The phase `queries`: a million events over queries that come and go. The heap must stay within 5 %. */
import { config } from 'rxjs';
import { ComingsAndGoings } from '../query/model/comings-and-goings.ts';
import { heapMb, mb, type PhaseResult, thousands } from './measure.ts';

/** How much the heap at the end may exceed that after the first tenth. */
const MOST_GROWTH = 1.05;
const PARTS = 10;

export async function queriesPhase(events: number, seed: number): Promise<PhaseResult> {
  // The functions that throw are reported, because no view shows what they refused.
  config.onUnhandledError = () => undefined;
  const startedMs = performance.now();
  const queries = new ComingsAndGoings(seed);
  const heaps: number[] = [];
  for (let part = 0; part < PARTS; part++) {
    queries.run(events / PARTS);
    heaps.push(await heapMb());
  }
  queries.end();
  const wrong: string[] = [];
  const [early = 0] = heaps;
  const late = heaps.at(-1) ?? 0;
  if (late > early * MOST_GROWTH) wrong.push(`the heap grew from ${mb(early)} to ${mb(late)}`);
  if (queries.timers > 0) wrong.push(`${queries.timers} timers are left`);
  return {
    phase: 'queries that come and go',
    figures: [
      ['events, queries, sets', [events, queries.queries, queries.sets].map(thousands).join(', ')],
      ['heap after the first tenth and at the end', `${mb(early)}, ${mb(late)}`],
      ['most', mb(Math.max(...heaps))],
      ['duration', `${Math.round((performance.now() - startedMs) / 1000)} s`],
    ],
    wrong,
  };
}
