/** Tests that a module from which nothing is used leaves nothing in an application's bundle. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { effectsOf, root } from './bundle.ts';

it('X20: no module leaves a statement in a bundle that imports nothing from it', async () => {
  const modules = globSync('dist/modules/**/*.js', { cwd: root }).sort();
  expect(modules.length).toBeGreaterThan(100);
  expect(await effectsOf(modules)).toBe('');
  expect(await effectsOf(['dist/command/rx-informer.js'])).not.toBe('');
});
