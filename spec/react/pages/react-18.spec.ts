/** The model test of the hooks with React 18, which npm installs beside React 19. */
import { existsSync } from 'node:fs';
import { describe, it, vi } from 'vitest';
import type { Question } from './questions.ts';

vi.mock('react', async () => {
  // @ts-expect-error: without types, so that those of React 19 apply
  const react = await import('../react-18/node_modules/react/index.js');
  // Vitest throws if an export is read that the mock does not have.
  return { use: undefined, ...react };
});
// @ts-expect-error: without types, too
vi.mock('react-dom/client', () => import('../react-18/node_modules/react-dom/client.js'));

const OPTIONS = { strict: false, lingerMs: 0, latencyMs: 0, env: 0 } as const;
const QUESTION: Question = {
  ...{ of: 0, off: false, namespace: 'a', label: '', name: undefined, where: false },
  ...{ columns: 'all', as: undefined, order: 'none', limit: undefined, offset: undefined },
};
const slow = { do: 'disturb', cluster: 0, how: 'slow' } as const;
const suspending = { do: 'mount', slot: 1, kind: 'suspenseQuery', question: QUESTION } as const;
const other = { ...QUESTION, namespace: 'b' };
const beside = { do: 'mount', slot: 0, kind: 'list', question: other } as const;
const again = { do: 'ask', slot: 0, question: other, fields: [], transition: false } as const;

const LIVES = Number(process.env['PAGE_LIVES'] ?? 100);
const isInstalled = existsSync(new URL('../react-18/node_modules', import.meta.url));

describe('the life of a page', () => {
  it.runIf(isInstalled)(
    'V1: an urgent update after a transition that suspends is shown with the answer by React 18',
    async () => {
      const { checkLife } = await import('./lives.ts');
      await checkLife(OPTIONS, [
        { act: slow, passMs: 0 },
        { act: slow, passMs: undefined },
        { act: suspending, passMs: 0 },
        { act: { do: 'env', env: 3, transition: false }, passMs: 0 },
        { act: beside, passMs: 350 },
        { act: { do: 'env', env: 0, transition: true }, passMs: 0 },
        { act: again, passMs: undefined },
      ]);
    },
  );

  it.runIf(isInstalled)(
    'V1: is the same with React 18',
    async () => {
      const { checkLives } = await import('./lives.ts');
      await checkLives(LIVES);
    },
    3_600_000,
  );
});
