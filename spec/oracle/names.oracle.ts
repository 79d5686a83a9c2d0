/** The committed list of client-go's exported names is that of its source. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { clientGoVersion, oracleSources } from './oracle-binary.ts';

const run = promisify(execFile);

it("lists client-go's exported names as they are", async () => {
  const list = ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/client-go'];
  const { stdout: folder } = await run('go', list, { cwd: oracleSources });
  expect(folder.trim()).toMatch(new RegExp(`client-go@${clientGoVersion()}$`));
  const { stdout } = await run(inject('oracle'), ['names', folder.trim()], { maxBuffer: 1e7 });
  const committed = readFileSync(
    fileURLToPath(new URL('./exported-names.txt', import.meta.url)),
    'utf8',
  );
  expect(stdout).toBe(committed);
});
