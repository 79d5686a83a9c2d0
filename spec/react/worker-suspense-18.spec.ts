/** The tests of the hooks that suspend over a worker with React 18, which npm installs beside React 19. */
import { existsSync } from 'node:fs';
import { it, vi } from 'vitest';

vi.mock('react', async () => {
  // @ts-expect-error: without types, so that those of React 19 apply
  const react = await import('./react-18/node_modules/react/index.js');
  // Vitest throws if an export is read that the mock does not have.
  return { use: undefined, ...react };
});
// @ts-expect-error: without types, too
vi.mock('react-dom/client', () => import('./react-18/node_modules/react-dom/client.js'));
// @ts-expect-error: without types, too
vi.mock('react-dom/server', () => import('./react-18/node_modules/react-dom/server.js'));

const isInstalled = existsSync(new URL('react-18/node_modules', import.meta.url));
if (isInstalled) await import('./worker-suspense.spec.ts');
else it.skip('V1: the hooks suspend over a worker with React 18, too');
