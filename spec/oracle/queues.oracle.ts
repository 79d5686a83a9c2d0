/** Runs work queues and rate limiters of client-go and ours through the same scripts. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { replayOf, seedsOf } from '../support/campaign.ts';
import { ClientGo } from './client-go.ts';
import { type OurQueueView, playOurs } from './our-queue.ts';
import {
  limiterScriptOf,
  type QueueScript,
  type QueueView,
  queueScriptOf,
} from './queue-script.ts';

interface Theirs {
  readonly seed: number;
  readonly views: readonly QueueView[];
}

let clientGo: ClientGo<Theirs>;
beforeAll(() => {
  clientGo = new ClientGo(inject('oracle'), 'queues');
});
afterAll(() => clientGo.close());

function playTheirs(script: QueueScript): Promise<Theirs> {
  const answer = clientGo.answer(script.seed);
  clientGo.send(script);
  return answer;
}

/** The part of the views that must be equal, with the operation, so that a difference is readable. */
function comparable({ ops }: QueueScript, views: readonly QueueView[]): unknown[] {
  return views.map(({ got, ended, len, shuttingDown, requeues }, index) => {
    return { index, op: ops[index], got, ended, len, shuttingDown, requeues };
  });
}

/**
 * Checks the drains. client-go's drain waits for workers only, ours also for queued keys. Ours therefore returns no
 * earlier than client-go's, and returns when no key is queued or held, or when shutDown was called.
 */
function drainErrors(
  { ops }: QueueScript,
  theirs: readonly QueueView[],
  ours: readonly OurQueueView[],
): string[] {
  let asked = 0;
  let forced = false;
  let expected = 0;
  return ours.flatMap(({ drained, len, held }, index) => {
    const op = ops[index]?.op;
    if (op === 'shutDownWithDrain') asked++;
    if (op === 'shutDown' && asked > 0) forced = true;
    if ((len === 0 && held === 0) || forced) expected = asked;
    const late = theirs[index]?.drained ?? 0;
    const wrong: string[] = [];
    if (drained !== expected) wrong.push(`op ${index}: ${drained} drained, not ${expected}`);
    if (drained > late) wrong.push(`op ${index}: ${drained} drained before client-go's ${late}`);
    return wrong;
  });
}

function hint(seed: number): string {
  return replayOf('ORACLE', seed, 'npm run test:oracle');
}

describe('a work queue beside client-go', () => {
  it.each(seedsOf('ORACLE', 400))('O3: seed %i', async (seed) => {
    const script = queueScriptOf(seed);
    const [theirs, ours] = await Promise.all([playTheirs(script), playOurs(script)]);
    expect(comparable(script, ours), hint(seed)).toEqual(comparable(script, theirs.views));
    expect(drainErrors(script, theirs.views, ours), hint(seed)).toEqual([]);
  });
});

describe('a rate limiter beside client-go', () => {
  it.each(seedsOf('ORACLE', 200))('K11: seed %i', async (seed) => {
    const script = limiterScriptOf(seed);
    const [theirs, ours] = await Promise.all([playTheirs(script), playOurs(script)]);
    const requeues = (views: readonly QueueView[]) => views.map(({ requeues }) => requeues);
    expect(requeues(ours), hint(seed)).toEqual(requeues(theirs.views));
    // Go counts in nanoseconds. Our bucket counts in whole milliseconds and returns no wait that is too short.
    const slackMs = /bucket|default"/.test(JSON.stringify(script.limiter)) ? 1 : 0;
    ours.forEach(({ whenMs }, index) => {
      const what = `${hint(seed)}, op ${index} of ${JSON.stringify(script.limiter)}`;
      const moreMs = whenMs - (theirs.views[index]?.whenMs ?? Number.NaN);
      expect(moreMs, what).toBeGreaterThan(-0.01);
      expect(moreMs, what).toBeLessThan(slackMs + 0.01);
    });
  });
});
