/**
 * Checks and packs a release, and says what would be published. It never publishes anything.
 *
 *   npm run release -- --dry-run
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compareTrees, type Verdict } from '../api/compare/judge.ts';
import { declarationsOf, ENTRIES, root } from '../api/trees.ts';
import { experimentalNames, sectionOf, unnamedBreaks } from './changelog.ts';
import { distTag, tooSmallStep } from './version.ts';

/** What a release is made of. */
export interface Release {
  readonly version: string;
  readonly changelog: string;
  /** The names that may break in a minor version. */
  readonly experimental: ReadonlySet<string>;
  /** The names of the scripts of package.json. */
  readonly scripts: readonly string[];
  /** Runs a program to its end. Returns its output, or throws if it fails. */
  run(program: string, ...args: string[]): string;
  /** How the API differs from that of a commit. */
  compare(tag: string): readonly Verdict[];
  say(line: string): void;
}

/** The folder of the packed file. */
const FOLDER = '.cache/release';

/** What a person runs to publish a version. */
function commandsOf(version: string): string {
  return [
    `git tag v${version}`,
    `npm publish ${FOLDER}/rx-informer-${version}.tgz --tag ${distTag(version)}`,
  ].join('\n');
}

/** The version of the last release in the history of HEAD. */
function previousVersion({ run }: Release): string | undefined {
  const tags = run('git', 'tag', '--merged', 'HEAD', '--sort=-version:refname', '--list', 'v*');
  return tags.split('\n')[0]?.replace(/^v/, '') || undefined;
}

/** Says why the changelog or the version does not agree with the API. */
function disagreements(release: Release, previous: string | undefined): string[] {
  const { version, changelog, say } = release;
  const section = sectionOf(changelog, version);
  if (section === undefined)
    return [`CHANGELOG.md has neither a section ${version} nor a section Unreleased`];
  if (section.title !== version)
    say(`Before the release, rename the section ${section.title} of CHANGELOG.md to ${version}.`);
  if (previous === undefined) {
    say('The API is compared with nothing, because no commit has the tag of a release (v…).');
    return [];
  }
  const verdicts = release.compare(`v${previous}`);
  const count = (change: Verdict['change']) =>
    verdicts.filter((each) => each.change === change).length;
  const counts = (['breaking', 'added', 'compatible'] as const).map((it) => `${count(it)} ${it}`);
  say(`The API since ${previous}: ${counts.join(', ')}.`);
  const promised = verdicts.filter(({ name }) => !release.experimental.has(name));
  const step = tooSmallStep(previous, version, promised);
  const unnamed = unnamedBreaks(section, verdicts).map(
    ({ entry, name, why }) =>
      `${name} of ${entry} breaks consumers, and the section ${section.title} of CHANGELOG.md does not name it under "### Breaking": ${why}`,
  );
  return [...(step === undefined ? [] : [step]), ...unnamed];
}

/** Runs the checks of a release and says what would be published. Returns whether it could be. */
export function dryRun(release: Release): boolean {
  const { version, scripts, run, say } = release;
  const problems: string[] = [];
  const attempt = (what: string, call: () => void) => {
    say(`${what} …`);
    try {
      call();
    } catch (error) {
      problems.push(`${what} failed: ${String(error).split('\n')[0]}`);
    }
  };
  const uncommitted = run('git', 'status', '--porcelain').trimEnd();
  if (uncommitted !== '') problems.push(`There are uncommitted changes:\n${uncommitted}`);
  if (run('git', 'tag', '--list', `v${version}`).trim() !== '')
    problems.push(`The tag v${version} exists. Raise the version in package.json.`);
  problems.push(...disagreements(release, previousVersion(release)));
  attempt('npm run check', () => run('npm', 'run', 'check'));
  if (scripts.includes('docs')) attempt('npm run docs', () => run('npm', 'run', 'docs'));
  attempt('npm run build', () => run('npm', 'run', 'build'));
  attempt('npm pack', () => {
    const packed = run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', FOLDER);
    for (const { filename, size, unpackedSize, entryCount } of packages(packed)) {
      const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
      say(
        `${filename}: ${kilobytes(size)} to download, ${kilobytes(unpackedSize)} in ${entryCount} files.`,
      );
      run('node', 'node_modules/publint/src/cli.js', '--strict', join(FOLDER, filename));
    }
  });
  for (const problem of problems) say(`PROBLEM: ${problem}`);
  if (problems.length > 0) return false;
  say(
    `rx-informer ${version} would be published under the tag ${distTag(version)}. Nothing was published. To publish it:\n${commandsOf(version)}`,
  );
  return true;
}

/** What npm says of packed files; sizes are in bytes. Some versions of npm return an object by name. */
function packages(
  output: string,
): { filename: string; size: number; unpackedSize: number; entryCount: number }[] {
  return Object.values(JSON.parse(output));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { version, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const args = process.argv.slice(2);
  if (args.length !== 1 || args[0] !== '--dry-run') {
    console.error(
      `This command publishes nothing, and only knows --dry-run. Run \`npm run release -- --dry-run\`. If it finds no problem, a person publishes ${version} by:\n${commandsOf(version)}`,
    );
    process.exitCode = 1;
  } else {
    mkdirSync(join(root, FOLDER), { recursive: true });
    const ready = dryRun({
      version,
      changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
      experimental: experimentalNames(
        readFileSync(join(root, 'docs/reference/versions.md'), 'utf8'),
      ),
      scripts: Object.keys(scripts),
      run: (program, ...arguments_) =>
        execFileSync(program, arguments_, {
          cwd: root,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'inherit'],
          maxBuffer: 1e9,
        }),
      compare: (tag) =>
        compareTrees({
          older: declarationsOf(tag),
          newer: declarationsOf('.'),
          entries: ENTRIES,
          scratch: join(root, '.cache/api-compared/probes'),
        }),
      say: console.log,
    });
    process.exitCode = ready ? 0 : 1;
  }
}
