/** Reads the section of a release from CHANGELOG.md, and checks that it agrees with the change of the API. */
import type { Verdict } from '../api/compare/judge.ts';

/** The heading of the lines that break consumers. */
const BREAKING = 'Breaking';

/** The section of a version, or that of what is not released. */
export interface Section {
  /** The version or `Unreleased`. */
  readonly title: string;
  readonly text: string;
}

/** Returns the section of the version, else the section `Unreleased`, else `undefined`. */
export function sectionOf(changelog: string, version: string): Section | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  for (const title of [version, 'Unreleased']) {
    const text = sections.find((each) => /^\[?([^\s\]]+)/.exec(each)?.[1] === title);
    if (text !== undefined) return { title, text };
  }
  return undefined;
}

/** The breaking names that no line under the heading `Breaking` has in backticks. */
export function unnamedBreaks({ text }: Section, verdicts: readonly Verdict[]): Verdict[] {
  const parts = text.split(/^### /m).filter((part) => part.startsWith(`${BREAKING}\n`));
  const codes = [...parts.join('').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  const named = new Set(codes.flatMap((code) => code.match(/[\w$]+/g) ?? []));
  return verdicts.filter(
    ({ change, name, through }) =>
      change === 'breaking' && ![name, ...through].some((each) => named.has(each)),
  );
}

/** The names that docs/reference/versions.md lists as experimental. */
export function experimentalNames(page: string): Set<string> {
  const part = page.split('\n## What is not promised\n')[1]?.split('\n## ')[0] ?? '';
  return new Set([...part.matchAll(/^\| `([\w$]+)` \|/gm)].map(([, name = '']) => name));
}
