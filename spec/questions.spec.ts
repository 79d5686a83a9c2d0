/** Tests that the twenty questions which users ask most have their answer where the guide says, whatever is cut or moved. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = 'docs/guide/README.md';
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** The beginning of a question in the guide, and a name that its answer must contain. */
const QUESTIONS: readonly (readonly [question: string, name: string])[] = [
  ['page through rows', 'liveWindow'],
  ['filter by label', 'labelSelector'],
  ['watch one object', 'fieldSelector'],
  ['watch many namespaces', 'namespaces'],
  ['join two kinds', 'liveJoin'],
  ['group, count and add up', 'liveGroupBy'],
  ['know that the data are live', '`live`'],
  ['react to a 403', 'blocked'],
  ['reduce memory', 'metadata'],
  ['get metrics', 'metered'],
  ['read my own writes', 'whenObserved'],
  ['change an object that others change, too', 'edit('],
  ['use handlers as in client-go', 'addEventHandler'],
  ['serve a slow consumer', 'conflateByKey'],
  ['write a controller', 'createController'],
  ['run two replicas', 'createLeaderElector'],
  ['start without listing everything again', 'persist'],
  ['test a 410, or a 403', 'faults'],
  ['use it in React', 'useList'],
  ['share one watch between all tabs', 'connectWorker'],
];

/** The text from a heading to the next one of its level or above; the whole page without an anchor. */
function sectionOf(page: string, anchor: string | undefined): string | undefined {
  if (anchor === undefined) return page;
  let level = 0;
  let isCode = false;
  const lines = page.split('\n').filter((line) => {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? null : /^(#+) (.*)$/.exec(line);
    if (heading === null) return level > 0;
    const [, marks = '', title = ''] = heading;
    const slug = title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
    if (slug === anchor) level = marks.length;
    else if (level > 0 && marks.length <= level) level = 0;
    return level > 0;
  });
  return lines.length === 0 ? undefined : lines.join('\n');
}

it.each(QUESTIONS)('the guide answers how to %s, and the answer names %s', (question, name) => {
  const row = textOf(GUIDE)
    .split('\n')
    .find((line) => line.startsWith(`| ${question}`));
  expect(row, 'the question in the guide').toBeDefined();
  const links = [...(row as string).matchAll(/\]\(([^)#\s]+)(?:#([^)\s]+))?\)/g)];
  const answers = links.map(([, path = '', anchor]) =>
    sectionOf(textOf(normalize(join(dirname(GUIDE), path))), anchor),
  );
  expect(answers.length).toBeGreaterThan(0);
  expect(answers, 'the sections of the links').not.toContain(undefined);
  expect(answers.some((answer) => answer?.includes(name) === true)).toBe(true);
});
