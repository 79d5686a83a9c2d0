/** Tests that a module from which nothing is used leaves nothing in an application's bundle. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { effectsOf, root } from './bundle.ts';

it('X20: no module leaves a statement in a bundle that imports nothing from it', async () => {
  // The templates are programs of users.
  const modules = globSync('lib/**/*.ts', { cwd: root })
    .filter((file) => !file.startsWith('lib/command/templates/'))
    .sort();
  const command = 'lib/command/rx-informer.ts';
  expect(await effectsOf(modules.filter((file) => file !== command))).toBe('');
  expect(await effectsOf([command])).not.toBe('');
});
