/** The runner of the nightly checks, with steps that take no time. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { figuresOf, type Result, tailOf, worseThan } from './results.ts';
import { type Night, runNight } from './run.ts';
import { NIGHT, type Step } from './steps.ts';

/** Prints its count, notes that it ran, and fails while the file `broken` exists. */
const SCRIPT = `
  const { appendFileSync, existsSync } = require('node:fs');
  appendFileSync('ran', process.env.STEP + ' ');
  console.log(process.argv.slice(1).join(' ') + ' seeds=' + process.env.SEEDS);
  console.log('3 passed, 0 failed');
  if (existsSync('broken')) { console.error('Error: seed 7; replay: SEED=7'); process.exit(3); }
`;

let folder: string;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightly-'));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const step = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  command: [
    process.execPath,
    '-e',
    `process.chdir(${JSON.stringify(folder)}); process.env.STEP = '${name}';${SCRIPT}`,
  ],
  counts: { SEEDS: '100' },
  figures: /seeds=\d+/,
  repeat: `repeat ${name}`,
  ...more,
});
const run = (steps: readonly Step[], options: Partial<Night> = {}) =>
  runNight({
    folder,
    steps,
    commit: 'aaaa1111bbbb',
    env: process.env,
    say: (line) => said.push(line),
    ...options,
  });
const ran = () => readFileSync(join(folder, 'ran'), 'utf8').trim();
const page = () => readFileSync(join(folder, 'results.md'), 'utf8');
const rowOf = (name: string) =>
  page()
    .split('\n')
    .find((line) => line.startsWith(`| ${name} |`)) ?? '';

describe('a night', () => {
  it('runs all steps and shows their counts, seconds and figures', async () => {
    expect(await run([step('a'), step('b')])).toBe(true);
    expect(ran()).toBe('a b');
    expect(rowOf('a')).toMatch(
      /^\| a \| SEEDS=100 \| ok<br> ?seeds=100<br>3 passed, 0 failed \| \d+ \| aaaa1111, \d{4}-\d\d-\d\dT\d\d:\d\dZ \| repeat a \|$/,
    );
    expect(page()).toContain('2 of 2 steps ran');
    expect(page()).toContain('- not run: none');
  });

  it('continues after a failure, and repeats only what did not end ok', async () => {
    const steps = [step('a'), step('b')];
    writeFileSync(join(folder, 'broken'), '');
    expect(await run(steps, { only: ['b'] })).toBe(false);
    expect(rowOf('a')).toContain('not run');
    expect(rowOf('b')).toContain('**FAIL**');
    expect(page()).toContain('- failed: b\n');
    expect(page()).toContain('Error: seed 7; replay: SEED=7');

    rmSync(join(folder, 'broken'));
    expect(await run(steps)).toBe(true);
    expect(ran()).toBe('b a b');
    expect(page()).not.toContain('FAIL');
    expect(await run(steps)).toBe(true);
    expect(ran()).toBe('b a b');
    expect(said.slice(-2)).toEqual(['a: ended ok before', 'b: ended ok before']);
  });

  it.each<[string, Partial<Night>]>([
    ['--fresh', { fresh: true }],
    ['another commit', { commit: 'cccc' }],
    ['other counts', { env: { ...process.env, SEEDS: '5' } }],
  ])('repeats a step with %s', async (_, options) => {
    await run([step('a')]);
    await run([step('a')], options);
    expect(ran()).toBe('a a');
  });

  it('refuses an unknown step before it runs one', async () => {
    const wrong = run([step('a'), step('b')], { only: ['a', 'c'] });
    await expect(wrong).rejects.toThrow('There is no step c. The steps are: a, b.');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('a log', () => {
  it('gives the figures of its step and the last count of tests', () => {
    const log = 'share 1 of 2: 5 seeds\nnoise\n1 passed, 1 failed\n4 passed, 0 failed\n';
    expect(figuresOf(step('a', { figures: /^share .*/ }), log)).toEqual([
      'share 1 of 2: 5 seeds',
      '4 passed, 0 failed',
    ]);
    expect(figuresOf(step('a', { figures: /^share .*/ }), 'nothing')).toEqual([]);
  });

  it('gives the lines that name a failure, and its end', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
    expect(tailOf(['FAIL x', ...lines].join('\n'))).toEqual(['FAIL x', '…', ...lines.slice(-15)]);
  });
});

it('the steps of a night have unique names and scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const names = NIGHT.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { command } of NIGHT) expect(Object.keys(scripts)).toContain(command[2]);
});

describe('what is worse than in the last run', () => {
  const before: Result = {
    ...{ commit: 'bbbb2222cccc', counts: {}, ok: true, seconds: 1, ended: '', tail: [] },
    figures: ['sync: CPU 1.00 × the floor', 'hot: events a second 0.90 × the floor', '9 passed'],
  };
  const now = (...figures: string[]) => worseThan(before, { ok: true, figures });

  it('is a ratio that grew, and a rate that fell, by more than a tenth', () => {
    const slower = now('sync: CPU 1.20 × the floor', 'hot: events a second 0.70 × the floor');
    expect(slower).toEqual([
      'sync: CPU 1.20 × the floor; at bbbb2222 1 ×',
      'hot: events a second 0.70 × the floor; at bbbb2222 0.9 ×',
    ]);
    expect(now('sync: CPU 1.05 × the floor', 'hot: events a second 1.90 × the floor')).toEqual([]);
    expect(now('another: CPU 9.00 × the floor', '3 passed')).toEqual([]);
  });

  it('is a step that failed, on the page and in the output', async () => {
    await run([step('a')]);
    writeFileSync(join(folder, 'broken'), '');
    await run([step('a')], { commit: 'cccc3333dddd' });
    expect(page()).toContain('- **a is worse**: it failed; at aaaa1111 it ended ok');
    expect(said).toContain('a is worse: it failed; at aaaa1111 it ended ok');
  });
});
