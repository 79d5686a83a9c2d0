// Checks that the lockfiles satisfy the manifests beside them, overrides included. `npm ci` resolves again what does not
// fit, and therefore fails as soon as the registry has a newer version of such a package.

import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

const { stdout } = await run('git', ['ls-files', 'package-lock.json', '*/package-lock.json']);

test.each(stdout.trim().split('\n').map(dirname))(
  'the lockfile of the folder %s fits its package.json',
  async (folder) => {
    const listing = run('npm', ['ls', '--all', '--package-lock-only'], { cwd: folder });
    const problems = await listing.then(
      () => '',
      (error: { stderr: string }) => error.stderr,
    );
    // The packages of the suites take their peers from the folder above.
    expect(problems.split('\n').filter((line) => line.includes(' invalid: '))).toEqual([]);
  },
);
