/**
 * Model test of the hooks: components that mount, ask for something else, leave, return and edit, under StrictMode, in
 * transitions and under Suspense, while informers fail, are forbidden, stop and are removed.
 */
import { describe, it } from 'vitest';
import { checkLife, checkLives } from './lives.ts';
import type { Question } from './questions.ts';

const LIVES = Number(process.env['PAGE_LIVES'] ?? 200);

const OPTIONS = { strict: false, lingerMs: 0, latencyMs: 0, env: 0 } as const;
const QUESTION: Question = {
  ...{ of: 0, off: false, namespace: 'a', label: '', name: undefined, where: false },
  ...{ columns: 'all', as: undefined, order: 'none', limit: undefined, offset: undefined },
};
const suspending = { do: 'mount', slot: 1, kind: 'suspenseQuery', question: QUESTION } as const;

describe('the life of a page', () => {
  it('V14: a component that suspends renders no other component in its render', async () => {
    const status = { do: 'mount', slot: 0, kind: 'status', question: QUESTION } as const;
    const steps = [
      { act: status, passMs: 60 },
      { act: suspending, passMs: undefined },
    ];
    await checkLife(OPTIONS, steps);
  });

  it('V14: a component that suspends appears after an answer that is slower than the linger', async () => {
    const slow = { do: 'disturb', cluster: 0, how: 'slow' } as const;
    const steps = [
      { act: slow, passMs: 0 },
      { act: suspending, passMs: undefined },
    ];
    await checkLife(OPTIONS, steps);
  });

  it('V19: several components that suspend are not rendered without a pause while they wait', async () => {
    const slow = { do: 'disturb', cluster: 0, how: 'slow' } as const;
    const mounted = [0, 1, 2, 3].map((slot) => ({ ...suspending, slot }));
    const steps = [slow, ...mounted].map((act) => ({ act, passMs: 0 }));
    await checkLife(OPTIONS, [...steps, { act: { do: 'heal' } as const, passMs: undefined }]);
  });

  it.each([1, 2, 3])(
    'V9: a transition to other informers ends if a component suspends (%d)',
    async (env) => {
      const steps = [
        { act: suspending, passMs: undefined },
        { act: { do: 'env', env, transition: true } as const, passMs: undefined },
      ];
      await checkLife(OPTIONS, steps);
    },
  );

  it('V10: a component beside one that suspends in a transition requests after the commit', async () => {
    const slow = { do: 'disturb', cluster: 0, how: 'slow' } as const;
    const beside = { ...suspending, slot: 0, kind: 'list' } as const;
    const steps = [
      { act: slow, passMs: 0 },
      { act: slow, passMs: undefined },
      { act: suspending, passMs: 0 },
      { act: { ...beside, question: { ...QUESTION, namespace: 'b' } }, passMs: undefined },
      { act: { do: 'env', env: 0, transition: true } as const, passMs: undefined },
    ];
    await checkLife({ ...OPTIONS, env: 1 }, steps);
  });

  it('V2, V3, V4, V6, V7, V9, V10, V12, V13, V14, V5, V17, V8: every component shows what a recomputation gives, and nothing is left', async () => {
    await checkLives(LIVES);
  }, 3_600_000);
});
