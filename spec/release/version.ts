/** Versions of releases: their tag in the registry, and how large the step to the next one must be. */
import type { Verdict } from '../api/compare/judge.ts';

const VERSION = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$/;

function numbersOf(version: string): { numbers: readonly number[]; isPrerelease: boolean } {
  const match = VERSION.exec(version);
  if (match === null)
    throw new TypeError(`${version} is not a version. Write one such as 1.2.0 or 2.0.0-rc.1.`);
  return { numbers: match.slice(1, 4).map(Number), isPrerelease: match[4] !== undefined };
}

/** The tag under which a version is published, so that `npm install` takes no prerelease. */
export function distTag(version: string): 'latest' | 'next' {
  return numbersOf(version).isPrerelease ? 'next' : 'latest';
}

/**
 * Says why the step between two versions is too small for the change of the API, or `undefined`. Before 1.0.0 a break
 * needs a minor version. Between two prereleases of one version any change is allowed.
 */
export function tooSmallStep(
  previous: string,
  next: string,
  verdicts: readonly Verdict[],
): string | undefined {
  const [from, to] = [numbersOf(previous), numbersOf(next)];
  const changed = to.numbers.findIndex((number, at) => number !== from.numbers[at]);
  if (changed === -1 && from.isPrerelease) return undefined;
  if (changed === -1 || (to.numbers[changed] ?? 0) < (from.numbers[changed] ?? 0))
    return `${next} does not follow ${previous}`;
  const has = (change: Verdict['change']) => verdicts.some((each) => each.change === change);
  const first = from.numbers[0] === 0 ? 1 : 0;
  if (has('breaking') && changed > first)
    return `${next} follows ${previous} and breaks consumers, which needs a new ${['major', 'minor'][first]} version`;
  if ((has('added') || has('compatible')) && first === 0 && changed > 1)
    return `${next} follows ${previous} and changes the API, which needs a new minor version`;
  return undefined;
}
