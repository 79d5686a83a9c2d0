/** Gives a run a folder for temporary files, and removes it at the end, because examples and killed processes leave files there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder = '';

/** The workers inherit the variable, which `tmpdir()` reads. */
export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-run-'));
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
