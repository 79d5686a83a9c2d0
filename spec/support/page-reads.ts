/** Finds where a test reads a page once: on a slow machine the page may not show yet what the test asked it for. */
import { globSync, readFileSync } from 'node:fs';
import { stripComments } from './imports.ts';

/** What a page shows now. */
const READ =
  /\b(?:await .*\.(?:textContent|allTextContents|innerText|getAttribute|inputValue|boundingBox|isDisabled|isEnabled|isVisible|isHidden|isChecked|count)|expect\(.*\burl)\(/;
/** That something is not there has no moment at which it can be waited for. */
const ABSENT = /\.count\(\)\)\.toBe\(0\)|\)\.not\./;
/** A function, which is called elsewhere. */
const FUNCTION = /=>[^{]*$/;

/** The text without what is read until it is as expected. */
function outsideOfWaits(text: string): string {
  let rest = '';
  let at = 0;
  for (const { 0: name, index } of text.matchAll(/\beventually\(/g)) {
    if (index < at) continue;
    rest += text.slice(at, index);
    at = index + name.length;
    for (let depth = 1; depth > 0 && at < text.length; at++) {
      depth += { '(': 1, ')': -1 }[text[at] ?? ''] ?? 0;
    }
  }
  return rest + text.slice(at);
}

/** The reads of a text that are not repeated, each from its beginning to the name of what is read. */
export function readsOnceIn(text: string): string[] {
  return outsideOfWaits(stripComments(text))
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' '))
    .filter((statement) => !ABSENT.test(statement))
    .flatMap((statement) => {
      const read = READ.exec(statement);
      if (read === null || FUNCTION.test(statement.slice(0, read.index))) return [];
      const end = statement.slice(0, read.index + read[0].length - 1);
      return [end.slice(Math.max(0, end.lastIndexOf('expect('), end.lastIndexOf('const ')))];
    });
}

/** The reads of the browser suite that are not repeated: `file: read`. */
export function readsOnceOfPages(root: string): readonly string[] {
  return globSync('spec/browser/*.browser.ts', { cwd: root })
    .flatMap((file) =>
      readsOnceIn(readFileSync(`${root}${file}`, 'utf8')).map((read) => `${file}: ${read}`),
    )
    .sort();
}
