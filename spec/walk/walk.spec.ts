/** Tests how much runs for one watch event, because whoever looks for a fault reads what runs. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Walk } from './one-event.ts';

const script = fileURLToPath(new URL('one-event.ts', import.meta.url));

async function walkOf(limit: number): Promise<Walk> {
  const options = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)('node', [...options, script, String(limit)]);
  return JSON.parse(stdout) as Walk;
}

it('one event runs through few files and functions on its way to a view, however many rows the view has', async () => {
  const [few, many] = await Promise.all([walkOf(50), walkOf(500)]);
  expect(few.queryCalls).toBeGreaterThan(100);
  expect(few.files).toBeLessThanOrEqual(108);
  expect(few.functions).toBeLessThanOrEqual(364);
  expect(few.calls).toBeLessThanOrEqual(773);
  // To find a row among ten times as many takes a few more steps, in an order that depends on how the list arrived.
  expect(many.queryCalls).toBeLessThanOrEqual(1.5 * few.queryCalls);
});
