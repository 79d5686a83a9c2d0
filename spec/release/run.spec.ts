/** Tests the dry run of a release with a fake `run`: what it refuses, and that it publishes nothing. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../lib/diagnose/version.ts';
import type { Verdict } from '../api/compare/judge.ts';
import { sectionOf, unnamedBreaks } from './changelog.ts';
import { dryRun, type Release } from './run.ts';
import { distTag, tooSmallStep } from './version.ts';

const verdict = (change: Verdict['change'], name = 'open', through: string[] = []): Verdict => ({
  ...{ entry: 'rx-informer', name, change, why: 'it differs', through },
});
const PACKED = [
  { filename: 'rx-informer-1.1.0.tgz', size: 9_600, unpackedSize: 20_400, entryCount: 3 },
];
const CHANGELOG = `# Changelog

## 1.1.0 - 2026-01-01

### Breaking

- \`close()\` returns a Promise. Migration: await it.

## 1.0.0

### Breaking

- \`open\` is new.
`;

function tryRun(more: Partial<Release> = {}, outputs: Readonly<Record<string, string>> = {}) {
  const ran: string[] = [];
  const said: string[] = [];
  const ready = dryRun({
    version: '1.1.0',
    changelog: CHANGELOG,
    experimental: new Set(['tried']),
    scripts: ['check', 'build'],
    run: (...command) => {
      const line = command.join(' ');
      ran.push(line);
      if (outputs[line] === 'fail') throw new Error('exit code 1');
      if (line.startsWith('npm pack')) return JSON.stringify(PACKED);
      return outputs[line] ?? (line.includes('--merged') ? 'v1.0.0\nv0.9.0\n' : '');
    },
    compare: () => [verdict('added')],
    say: (line) => said.push(line),
    ...more,
  });
  return { ready, ran, said, problems: said.filter((line) => line.startsWith('PROBLEM')) };
}

describe('the dry run of a release', () => {
  it('checks, builds and packs, and says what would be published, where, and with which size', () => {
    const { ready, ran, said } = tryRun();
    expect(ready).toBe(true);
    expect(ran.filter((line) => line.startsWith('npm'))).toEqual([
      'npm run check',
      'npm run build',
      'npm pack --json --ignore-scripts --pack-destination .cache/release',
    ]);
    expect(said).toContain('The API since 1.0.0: 0 breaking, 1 added, 0 compatible.');
    expect(said).toContain('rx-informer-1.1.0.tgz: 10 kB to download, 20 kB in 3 files.');
    expect(said.at(-1)).toContain('rx-informer 1.1.0 would be published under the tag latest.');
    expect(said.at(-1)).toContain('npm publish .cache/release/rx-informer-1.1.0.tgz --tag latest');
    expect(ran.join('\n')).not.toMatch(/publish|git tag v/);
  });

  it('builds the documentation if there is a script for it', () => {
    const scripts = ['check', 'build', 'docs'];
    expect(tryRun({ scripts }).ran).toContain('npm run docs');
    expect(tryRun({ scripts }, { 'npm run docs': 'fail' }).problems).toHaveLength(1);
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['uncommitted changes', { 'git status --porcelain': ' M lib/index.ts\n' }, 'uncommitted'],
    ['a version that was released', { 'git tag --list v1.1.0': 'v1.1.0\n' }, 'v1.1.0 exists'],
    ['a failed check', { 'npm run check': 'fail' }, 'npm run check failed: Error: exit code 1'],
    ['a failed build', { 'npm run build': 'fail' }, 'npm run build failed'],
    [
      'a package that publint refuses',
      {
        'node node_modules/publint/src/cli.js --strict .cache/release/rx-informer-1.1.0.tgz':
          'fail',
      },
      'npm pack failed',
    ],
  ])('refuses %s', (_, outputs, problem) => {
    const { ready, said, problems } = tryRun({}, outputs);
    expect(ready).toBe(false);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(said.join('\n')).not.toContain('npm publish');
  });

  it('refuses a break that the changelog does not name, or whose version is too small', () => {
    const compare = () => [verdict('breaking')];
    const { problems } = tryRun({ compare });
    expect(problems).toEqual([
      expect.stringContaining('1.1.0 follows 1.0.0 and breaks consumers'),
      expect.stringContaining('open of rx-informer breaks consumers, and the section 1.1.0'),
    ]);
    const changelog = CHANGELOG.replace('1.1.0', '2.0.0').replace('close()', 'open()');
    expect(tryRun({ compare, version: '2.0.0', changelog }).problems).toEqual([]);
  });

  it('lets an experimental name break in a minor version, if the changelog names it', () => {
    const compare = () => [verdict('breaking', 'tried')];
    expect(tryRun({ compare }).problems).toEqual([expect.stringContaining('tried of rx-informer')]);
    expect(tryRun({ compare, changelog: CHANGELOG.replace('close', 'tried') }).problems).toEqual(
      [],
    );
  });

  it('compares the first release with nothing, and reads the section Unreleased', () => {
    const compare = () => {
      throw new Error('not reached');
    };
    const none = { 'git tag --merged HEAD --sort=-version:refname --list v*': '' };
    const { ready, said } = tryRun({ compare, changelog: '## Unreleased\n\n- All.\n' }, none);
    expect(ready).toBe(true);
    expect(said.join('\n')).toMatch(/rename the section Unreleased[\s\S]*compared with nothing/);
    expect(tryRun({ compare, changelog: '# Changelog\n' }, none).problems).toHaveLength(1);
  });

  it.each([[[]], [['--publish']], [['--dry-run', '--force']]])(
    'is the only form of the command: %j is refused with what a person would run',
    (args) => {
      const script = join(import.meta.dirname, 'run.ts');
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/only knows --dry-run[\s\S]*\nnpm publish \S+\.tgz --tag \w+\n$/);
    },
  );
});

describe('a version', () => {
  it('is published under `next` if it is a prerelease', () => {
    expect(['1.0.0', '0.1.0', '1.0.0-rc.1'].map(distTag)).toEqual(['latest', 'latest', 'next']);
    expect(() => distTag('1.0')).toThrow('1.0 is not a version');
  });

  it.each<[string, string, Verdict['change'], boolean]>([
    ['1.0.0', '2.0.0', 'breaking', true],
    ['1.0.0', '1.1.0', 'breaking', false],
    ['0.1.0', '0.2.0', 'breaking', true],
    ['0.1.0', '0.1.1', 'breaking', false],
    ['0.1.0', '0.1.1', 'added', true],
    ['1.0.0', '1.1.0', 'added', true],
    ['1.0.0', '1.0.1', 'added', false],
    ['1.0.0', '1.0.1', 'compatible', false],
    ['1.0.0', '1.0.1', 'same', true],
    ['1.0.0-rc.1', '1.0.0-rc.2', 'breaking', true],
    ['1.0.0-rc.2', '1.0.0', 'breaking', true],
    ['0.1.0', '1.0.0-rc.1', 'breaking', true],
    ['1.1.0', '1.0.9', 'same', false],
    ['1.1.0', '1.1.0', 'same', false],
  ])('may be, from %s to %s with a change that is %s: %s', (from, to, change, allowed) => {
    expect(tooSmallStep(from, to, [verdict(change)]) === undefined).toBe(allowed);
  });
});

describe('the changelog', () => {
  const section = sectionOf(CHANGELOG, '1.1.0');

  it('names a break by itself, or by the declaration through which it breaks', () => {
    const breaks = [
      verdict('breaking', 'close'),
      verdict('breaking', 'Shelf', ['close']),
      verdict('breaking', 'open'),
      verdict('breaking', 'clos'),
      verdict('added', 'more'),
    ];
    const names = section && unnamedBreaks(section, breaks).map(({ name }) => name);
    expect(names).toEqual(['open', 'clos']);
  });

  it('says it under a heading `Breaking`, and in no other part', () => {
    const text = '1.1.0\n\n### Changed\n\n- `open`.\n';
    expect(unnamedBreaks({ title: '1.1.0', text }, [verdict('breaking')])).toHaveLength(1);
    const heading = text.replace('Changed', 'Breaking');
    expect(unnamedBreaks({ title: '1.1.0', text: heading }, [verdict('breaking')])).toEqual([]);
  });
});

it('C53: a report names the version of the package', () => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  expect(VERSION).toBe(JSON.parse(text).version);
});
