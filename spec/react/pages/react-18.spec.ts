/** The model test of the hooks with React 18, which npm installs beside React 19. */
import { existsSync } from 'node:fs';
import { describe, it, vi } from 'vitest';

vi.mock('react', async () => {
  // @ts-expect-error: without types, so that those of React 19 apply
  const react = await import('../react-18/node_modules/react/index.js');
  // Vitest throws if an export is read that the mock does not have.
  return { use: undefined, ...react };
});
// @ts-expect-error: without types, too
vi.mock('react-dom/client', () => import('../react-18/node_modules/react-dom/client.js'));

const LIVES = Number(process.env['PAGE_LIVES'] ?? 100);
const isInstalled = existsSync(new URL('../react-18/node_modules', import.meta.url));

describe('the life of a page', () => {
  it.runIf(isInstalled)(
    'V1: is the same with React 18',
    async () => {
      const { checkLives } = await import('./lives.ts');
      await checkLives(LIVES);
    },
    3_600_000,
  );
});
