/** Tests that the committed names of client-go's API and tests are equal to those in its source. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { CLIENT_GO_TESTS } from './client-go-tests.ts';
import { clientGoVersion, oracleSources } from './oracle-binary.ts';

const run = promisify(execFile);

/** The folder of client-go's source, in Go's module cache. */
async function sourceFolder(): Promise<string> {
  const list = ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/client-go'];
  const { stdout } = await run('go', list, { cwd: oracleSources });
  expect(stdout.trim()).toMatch(new RegExp(`client-go@${clientGoVersion()}$`));
  return stdout.trim();
}

it("lists client-go's current exported names", async () => {
  const folder = await sourceFolder();
  const { stdout } = await run(inject('oracle'), ['names', folder], { maxBuffer: 1e7 });
  const committed = fileURLToPath(new URL('./exported-names.txt', import.meta.url));
  expect(stdout).toBe(readFileSync(committed, 'utf8'));
});

it('names only tests that client-go has', async () => {
  const folder = await sourceFolder();
  const missing = Object.entries(CLIENT_GO_TESTS).flatMap(([file, tests]) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    return tests.filter((test) => !text.includes(`func ${test}(`));
  });
  expect(missing).toEqual([]);
});
