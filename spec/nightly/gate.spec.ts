/** What the gate leaves to the night is on the page that says why. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LEFT_TO_NIGHT } from '../support/gate.ts';
import { NIGHT } from './steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string) => readFileSync(`${root}${file}`, 'utf8');

it('whatever the gate leaves to the night stands in the table of reliability.md, and nothing else does', () => {
  const rows = textOf('docs/internals/reliability.md').matchAll(/^\| `(spec\/[^`]*)`/gm);
  const partly = globSync('spec/**/*.{spec,e2e,browser,nats,packed,oracle}.{ts,tsx}', {
    cwd: root,
  }).filter((file) => /\bisGate\b/.test(textOf(file)) && file !== 'spec/nightly/gate.spec.ts');
  expect(partly.length).toBeGreaterThan(3);
  const expected = [...new Set([...LEFT_TO_NIGHT, ...partly])];
  expect([...rows].map(([, file]) => file).sort()).toEqual(expected.sort());
  expect(LEFT_TO_NIGHT.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});

it('the night runs every suite of which the gate leaves something out', () => {
  const steps = NIGHT.map(({ command }) => command.join(' '));
  for (const suite of ['slow', 'browser', 'e2e', 'nats', 'conformance']) {
    expect(steps).toContain(`npm run test:${suite}`);
  }
});
