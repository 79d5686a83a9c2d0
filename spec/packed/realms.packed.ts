/** Imports the packed library where the globals of a platform are missing, as the test environment jsdom lacks some. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { installConsumer, mustRun, root, run } from './consumer.ts';

it('X20: every entry can be imported without any global of a platform', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-realm-'));
  try {
    const { tarball } = await installConsumer();
    await mustRun('tar', ['-xzf', tarball], folder);
    const quiet = '--disable-warning=ExperimentalWarning';
    const script = join(root, 'spec/packed/realm.ts');
    const args = [quiet, '--experimental-vm-modules', script, join(folder, 'package')];
    const { stdout, stderr } = await run(process.execPath, args, root);
    expect(stdout + stderr).toBe('all entries were imported\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
