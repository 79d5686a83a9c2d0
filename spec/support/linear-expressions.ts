/**
 * Fails if a regular expression of the library can take more than linear time. Its text may be that of a server or of a user, and
 * some thousand characters would block the process.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkSync, type Parameters } from 'recheck';
import { parseSync } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders whose expressions read only files of this package, or what the user of the command wrote. */
const OWN_TEXTS = /^lib\/(?:command|resources\/generated)\//;

interface Expression {
  readonly pattern: string;
  readonly flags: string;
}

function expressionsIn(node: unknown, found: Expression[] = []): Expression[] {
  if (typeof node !== 'object' || node === null) return found;
  const { regex } = node as { readonly regex?: Expression };
  if (regex !== undefined) found.push(regex);
  for (const child of Object.values(node)) expressionsIn(child, found);
  return found;
}

const all = globSync('lib/**/*.ts', { cwd: root })
  .filter((file) => !OWN_TEXTS.test(file))
  .flatMap((file) => {
    const { program } = parseSync(file, readFileSync(`${root}${file}`, 'utf8'));
    return expressionsIn(program).map((expression) => ({ file, ...expression }));
  });

/** What is checked must be what was meant: the first one is the expression that once read tokens. */
const known = { file: 'a known one', pattern: '\\beyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*', flags: 'g' };

/** Its limits count steps and no time, and its random attacks are always the same. */
const STEPS: Parameters = {
  ...{ checker: 'auto', randomSeed: 0, timeout: null },
  ...{ incubationTimeout: null, attackTimeout: null, attackLimit: 30_000_000 },
};

const slow = [known, ...all].filter(({ pattern, flags }) => {
  const { status } = checkSync(pattern, flags, STEPS);
  return status !== 'safe';
});
for (const { file, pattern, flags } of slow.slice(1)) {
  console.error(`${file}: /${pattern}/${flags} can take more than linear time`);
}
if (slow[0] !== known) console.error('the check does not find a known expression any more');
console.log(`${all.length} regular expressions of lib were checked`);
process.exitCode = slow.length === 1 && slow[0] === known && all.length > 100 ? 0 : 1;
