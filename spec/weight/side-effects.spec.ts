/** Tests that a module from which nothing is used leaves nothing in an application's bundle. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { effectsOf, root } from './bundle.ts';

it('X20: no module leaves a statement in a bundle that imports nothing from it', async () => {
  const modules = globSync('dist/modules/**/*.js', { cwd: root }).sort();
  expect(modules.length).toBeGreaterThan(100);
  const command = 'dist/modules/command/rx-informer.js';
  expect(await effectsOf(modules.filter((file) => file !== command))).toBe('');
  expect(await effectsOf([command])).not.toBe('');
});
