/** Tests that programs of the packed library decide by their own NODE_ENV whether cached objects are frozen, not the build of the library. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlers, writePage } from './bundlers.ts';
import { type Consumer, installConsumer, root, run } from './consumer.ts';

let consumer: Consumer;
beforeAll(async () => {
  consumer = await installConsumer();
});
afterAll(() => consumer?.[Symbol.asyncDispose]());

/** Prints whether objects and the rows of a view are frozen. */
const PROGRAM = `
import { changeSet } from 'rx-informer/testing';
import { createIndexer, toView } from 'rx-informer';
import { of } from 'rxjs';
export function main() {
  const indexer = createIndexer();
  const object = { metadata: { name: 'a', uid: 'a', labels: {} } };
  indexer.add(object);
  const view = toView(of(changeSet({ added: [object] })));
  view.subscribe(() => undefined);
  const rows = view.getSnapshot().rows;
  console.log(Object.isFrozen(indexer.getByKey('a').metadata.labels), Object.isFrozen(rows));
}
`;

function project(name: string): string {
  const folder = join(consumer.folder, name);
  mkdirSync(folder, { recursive: true });
  writePage(folder, [
    { name: 'frozen', runs: true, module: '', asFunction: PROGRAM, commonJs: '' },
  ]);
  return folder;
}

/** How often the expression stands in files. */
function count(folder: string, pattern: string): number {
  const texts = globSync(pattern, { cwd: folder }).map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  );
  return texts.join('').split('process.env.NODE_ENV').length - 1;
}

describe('NODE_ENV in the packed library', () => {
  it('S53: is read as often as in the sources, in the bundle for Node and in the modules', () => {
    const dist = join(consumer.folder, 'node_modules/rx-informer/dist');
    const inSources = count(root, 'lib/**/*.ts');
    expect(inSources).toBeGreaterThan(0);
    expect(count(dist, 'modules/**/*.js')).toBe(inSources);
    expect(count(dist, '{*,!(modules)/**/*}.js')).toBe(inSources);
  });

  it.each([
    ['unset', undefined, 'true true\n'],
    ['development', 'development', 'true true\n'],
    ['production', 'production', 'false false\n'],
  ])('S53: %s decides in Node', async (_, mode, expected) => {
    const folder = project('in-node');
    writeFileSync(join(folder, 'main.mts'), `${PROGRAM}\nmain();\n`);
    const env = mode === undefined ? {} : { NODE_ENV: mode };
    const { stdout, stderr } = await run(process.execPath, ['main.mts'], folder, env);
    expect([stdout, stderr]).toEqual([expected, '']);
  });

  // The scripts do not read the variable, so the bundler has decided.
  it.each([
    ['vite', 'false false\n'],
    ['webpack', 'false false\n'],
    // Without \`minify\` esbuild builds for development.
    ['esbuild', 'true true\n'],
  ])('S53: %s decides with its default settings', async (name, expected) => {
    const folder = project(`by-${name}`);
    const script = await (bundlers[name] as (typeof bundlers)[string])(consumer, folder);
    const text = readFileSync(script, 'utf8');
    expect(text).not.toContain('NODE_ENV');
    const { stdout, stderr } = await run(process.execPath, ['page.mjs', script], folder);
    expect([stdout, stderr]).toEqual([expected, '']);
  });
});
