/** Tests that the dashboard loads the styles of exactly those components of Mantine that it has, in Mantine's order. */
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const page = new URL('../../examples/dashboard/page/', import.meta.url);
const styles = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles/global.css'));
const components = join(styles, '../esm/components');

const read = (path: string | URL) => readFile(path, 'utf8');

/** The class names of a component, which no other component has. */
const classesIn = (css: string) => [...new Set(css.match(/(?<=\.)m_[0-9a-f]+/g))];

/** The styles of components, and of those that their modules import. */
async function stylesOf(names: Iterable<string>): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const open = [...names].map((name) => join(components, name, `${name}.mjs`));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const code = await read(file).catch(() => '');
    for (const [, path = ''] of code.matchAll(/from "(\.[^"]+)"/g))
      open.push(join(file, '..', path));
  }
  const named = [...seen].flatMap((file) => /(\w+)\.module(?:\.css)?\.mjs$/.exec(file)?.[1] ?? []);
  return new Set(named);
}

test('every component of Mantine in the dashboard has its styles, and no other one', async () => {
  const list = await read(new URL('mantine.css', page));
  const listed = Array.from(list.matchAll(/styles\/([\w-]+)\.css/g), ([, name = '']) => name);
  const imported = new Set<string>();
  for (const entry of await readdir(page, { recursive: true })) {
    if (!/\.tsx?$/.test(entry)) continue;
    const code = await read(new URL(entry, page));
    for (const [, names = ''] of code.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g))
      for (const [name] of names.matchAll(/\b[A-Z]\w+/g)) imported.add(name);
  }
  const used = await stylesOf(imported);
  const all = await read(join(styles, '../styles.css'));
  const places = new Map<string, number>();
  for (const file of await readdir(styles)) {
    if (!file.endsWith('.css') || file.endsWith('.layer.css')) continue;
    const name = file.slice(0, -4);
    const [first] = classesIn(await read(join(styles, file)));
    if (first !== undefined) places.set(name, all.indexOf(first));
  }
  const own = listed.filter((name) => places.has(name));
  expect(own).toEqual(
    own.toSorted((one, other) => Number(places.get(one)) - Number(places.get(other))),
  );
  expect(own.toSorted()).toEqual([...used].filter((name) => places.has(name)).sort());
});
