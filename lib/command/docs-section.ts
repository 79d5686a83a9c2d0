/** Finds the section of a page that belongs to a code. */

/** The anchor of a heading, as repository pages and the links of the docs make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-');
}

/** The section under the first heading for which `is` holds, until the next heading of the same or a higher level. */
function section(page: string, is: (heading: string) => boolean): string | undefined {
  const found: string[] = [];
  let level = 0;
  let isFence = false;
  for (const line of page.split('\n')) {
    if (line.startsWith('```')) isFence = !isFence;
    const [, marks = '', heading = ''] = (isFence ? null : /^(#+) (.*)$/.exec(line)) ?? [];
    if (marks !== '' && level > 0 && marks.length <= level) break;
    if (level === 0 && marks !== '' && is(heading)) level = marks.length;
    if (level > 0) found.push(line);
  }
  return level === 0 ? undefined : found.join('\n').trimEnd();
}

/**
 * The text that explains a code: the section whose heading begins with the code; or the row of a table that begins with
 * it, and the section of the page to which the row links. `undefined` if the page has neither.
 */
export function sectionOf(page: string, code: string): string | undefined {
  const own = section(page, (heading) => heading.startsWith(`${code}:`));
  if (own !== undefined) return own;
  const row = page.split('\n').find((line) => line.startsWith(`| ${code} |`));
  if (row === undefined) return undefined;
  const cells = row.split('|').map((cell) => cell.trim());
  const [, , name = '', meaning = ''] = cells;
  const [, anchor] = /\]\(#([^)]+)\)/.exec(row) ?? [];
  const linked = anchor && section(page, (heading) => anchorOf(heading) === anchor);
  const first = `${code}: ${name.replaceAll('`', '')}. ${meaning}`;
  return linked ? `${first}\n\n${linked}` : first;
}
