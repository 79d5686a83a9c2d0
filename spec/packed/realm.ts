/**
 * Imports each entry of the library in a realm that has the globals of ECMAScript only, and prints those that failed.
 *
 *   node --experimental-vm-modules spec/packed/realm.ts FOLDER
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createContext,
  type Module,
  runInContext,
  SourceTextModule,
  SyntheticModule,
} from 'node:vm';

const [, , folder = '.'] = process.argv;
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Record<string, string>>;
};
/** Globals that every realm of V8 has, although other platforms lack them. */
const OF_V8 = ['console', 'Intl', 'WebAssembly'];
const PARTS = /\bimport\("(\.[^"]+)"\)/g;

/** Imports a file and everything that it loads later. Returns the addresses of the files and the names of the other modules. */
async function importAll(file: string): Promise<readonly string[]> {
  const context = createContext({});
  for (const name of OF_V8) runInContext(`delete globalThis.${name}`, context);
  const loaded = new Map<string, Module>();
  const parts: string[] = [];

  function load(url: string): Module {
    const text = readFileSync(new URL(url), 'utf8');
    for (const [, path = ''] of text.matchAll(PARTS)) parts.push(new URL(path, url).href);
    return new SourceTextModule(text, { context, identifier: url });
  }
  /** Other packages and the modules of Node are those of this realm, so only the library is judged. */
  async function foreign(name: string): Promise<Module> {
    const all: Record<string, unknown> = await import(name);
    const names = Object.keys(all);
    function fill(this: SyntheticModule): void {
      for (const each of names) this.setExport(each, all[each]);
    }
    return new SyntheticModule(names, fill, { context, identifier: name });
  }
  async function find(name: string, importer?: string): Promise<Module> {
    const own = name.startsWith('.') || name.startsWith('file:');
    const id = own ? new URL(name, importer).href : name;
    const module = loaded.get(id) ?? (own ? load(id) : await foreign(id));
    // Another import may have loaded the package meanwhile.
    const first = loaded.get(id) ?? module;
    loaded.set(id, first);
    return first;
  }
  async function evaluate(url: string): Promise<void> {
    const module = await find(url);
    if (module.status === 'unlinked')
      await module.link((name, { identifier }) => find(name, identifier));
    await module.evaluate();
  }
  await evaluate(pathToFileURL(file).href);
  for (const url of parts) await evaluate(url);
  return [...loaded.keys()];
}

let count = 0;
for (const [entry, conditions] of Object.entries(exports)) {
  if (typeof conditions === 'string') continue;
  for (const condition of ['node', 'default']) {
    try {
      const files = await importAll(join(folder, conditions[condition] ?? ''));
      count += files.filter((id) => id.startsWith('file:')).length;
    } catch (error) {
      console.log(`${entry} (${condition}): ${(error as Error).stack?.split('\n', 2).join('')}`);
    }
  }
}
console.log(count > 500 ? 'all entries were imported' : `only ${count} files were imported`);
