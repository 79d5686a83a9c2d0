/** Tests the structure of the sources: folders are stages, and imports point upstream only. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clocksIn, clocksOfTheGate } from './support/clocks.ts';
import * as fc from './support/fast-check.ts';
import { importsOf, stripComments } from './support/imports.ts';
import { readsOnceIn, readsOnceOfPages } from './support/page-reads.ts';
import { SLOW } from './support/slow-specs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The rows of stages in the order of the data flow; folders of one row do not import each other.
 */
const ROWS: readonly (readonly string[])[] = [
  ['checks'],
  ['meta', 'rx'],
  ['transport', 'work-queue', 'metrics'],
  ['decode'],
  ['list-watch'],
  ['reflector', 'object-log'],
  ['delta'],
  ['store'],
  ['audit'],
  ['informer'],
  ['query', 'client', 'election', 'persist'],
  ['factory', 'shards'],
  ['controller', 'wire', 'diagnose'],
  ['worker'],
  ['server'],
];
/** The edges may import rows; no row imports an edge, and no edge imports another. */
const EDGES = ['resources', 'testing', 'node', 'react', 'nats'];
/** The rows that are entries of the package by themselves. */
const OWN_ENTRIES = ['wire', 'worker', 'server', 'diagnose'];
/** The command line may import rows and edges, and nothing imports it. */
const COMMAND = 'command';

interface Import {
  readonly file: string;
  readonly folder: string;
  readonly target: string;
}

/** The files of projects that `rx-informer init` makes. They import the library as its users do. */
const TEMPLATES = 'lib/command/templates/';
const files = globSync('lib/**/*.ts', { cwd: root })
  .filter((file) => !file.startsWith(TEMPLATES))
  .sort();
const sources = new Map(files.map((file) => [file, readFileSync(`${root}${file}`, 'utf8')]));
const own = files.filter((file) => !file.startsWith('lib/resources/generated/'));

function folderOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function imports(): Import[] {
  return files.flatMap((file) =>
    importsOf(sources.get(file) ?? '').map((target) => ({ file, folder: folderOf(file), target })),
  );
}

/** The imported folder: for `../delta/pending.ts` in lib/store it is `delta`. */
function importedFolder({ file, target }: Import): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const path = new URL(target, `file:///${file}`).pathname.slice(1);
  return folderOf(path);
}

function rowOf(folder: string): number {
  return ROWS.findIndex((row) => row.includes(folder));
}

/** The clocks that the gate reads although no verdict depends on them. At most twenty. */
const CLOCKS: Readonly<Record<string, string>> = {
  'spec/browser/tabs.browser.ts: setTimeout':
    'the script of a worker loads slowly, and the browser loads no other one meanwhile',
  'spec/mutation/run-specs.ts: setTimeout': 'ends a mutant that hangs, at night',
  'spec/nats/catch-up.spec.ts: setTimeout': 'the timers are replaced',
  'spec/nats/faults/run-faults.ts: timeout: ':
    'an option of the NATS client, which only tries again sooner',
  'spec/nats/user-servers.ts: performance.now': 'the night prints how long users wait',
  'spec/nats/user-servers.ts: setInterval': 'objects change while servers are killed',
  'spec/nats/user-servers.ts: setTimeout': 'one server reads NATS late',
  'spec/nightly/run.ts: new Date()': 'the page of a night says when a step has ended',
  'spec/nightly/run.ts: performance.now': 'the page of a night says how long a step took',
  'spec/nightly/steps.ts: Date.now': 'other lives every night',
  'spec/support/built-binary.ts: setInterval': 'says that a compiler still works',
  'spec/walk/one-event.ts: timer(2 * REST_MS)':
    'the timer of the guards ends before it, and on a busy machine as well',
};

/** What the tests of pages read once, because it is shown already and must not change. At most twenty. */
const READ_ONCE: Readonly<Record<string, string>> = {
  "spec/browser/dashboard-details.browser.ts: const name = (await row.locator('[data-column=name]').textContent":
    'no row changes its name',
  "spec/browser/dashboard-details.browser.ts: const name = await dialog.getByRole('heading', { level: 2 }).textContent":
    'the details of one object have one title',
  "spec/browser/dashboard-details.browser.ts: const namespace = (await row.locator('[data-column=namespace]').textContent":
    'no row changes its namespace',
  "spec/browser/dashboard-hold.browser.ts: const name = (await last.locator('[title]').first().getAttribute":
    'the cluster does not change',
  'spec/browser/dashboard-hold.browser.ts: const uid = await row.getAttribute':
    'the cluster does not change',
  "spec/browser/dashboard-keys.browser.ts: const name = await first.locator('[data-column=name]').textContent":
    'the cluster does not change',
  "spec/browser/dashboard-lasting.browser.ts: expect(await page.getByRole('grid', { name: 'Pods' }).getAttribute":
    'no request is answered',
  "spec/browser/dashboard-lasting.browser.ts: expect(await page.locator('[data-uid]').count":
    'the rows stay without a connection',
  'spec/browser/dashboard-page.browser.ts: const before = await running.textContent':
    'a page that is live shows its numbers',
  "spec/browser/dashboard-page.browser.ts: const lines = await log.locator('li').allTextContents":
    'a line that must not be there',
  "spec/browser/dashboard-page.browser.ts: const title = await dialog.getByRole('heading', { level: 2 }).textContent":
    'the details of one object have one title',
  'spec/browser/dashboard-page.browser.ts: const uid = await active.getAttribute':
    'the place of the row was waited for',
  "spec/browser/dashboard-page.browser.ts: expect(await page.getByTestId('shown').textContent":
    'the page is paused',
  "spec/browser/dashboard-tabs.browser.ts: expect(await page.getByRole('grid', { name: 'Pods' }).getAttribute":
    'no worker answers',
  "spec/browser/dashboard-tabs.browser.ts: expect(await tab.locator('[data-uid]').count":
    'the rows stay without a worker',
  'spec/browser/dashboard-troubles.browser.ts: expect(await links.allTextContents':
    'the link that has the keyboard is in the list',
  'spec/browser/dashboard-users.browser.ts: const texts = await rows(page).allTextContents':
    'a condition that is waited for',
  "spec/browser/react-docs.browser.ts: expect(await page.locator('tr').count":
    'the rows stay without a server',
  "spec/browser/security.browser.ts: const styles = await page.locator('style').allTextContents":
    'a style that must not be there',
};

describe('architecture', () => {
  it('finds all forms of import', () => {
    const text = `
      import a from './a.ts'; import './b.ts';
      export { c } from "./c.ts"; const d = await import('./d.ts');
      import {\n e,\n} from './e.ts'; type F = import('./f.ts').F; // import './no.ts'
    `;
    const expected = ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts'];
    expect(
      importsOf(text)
        .filter((path) => path !== './no.ts')
        .sort(),
    ).toEqual(expected);
  });

  it('knows every folder of lib', () => {
    const folders = new Set(files.filter((file) => file.split('/').length > 2).map(folderOf));
    const known = [...ROWS.flat(), ...EDGES, COMMAND];
    const unknown = [...folders].filter((folder) => !known.includes(folder));
    expect(unknown, 'add them to ROWS of this file and to the table in architecture.md').toEqual(
      [],
    );
  });

  it('has the rows of the table in docs/internals/architecture.md', () => {
    const text = readFileSync(`${root}docs/internals/architecture.md`, 'utf8');
    const rows: string[][] = [];
    for (const [, row, folder = ''] of text.matchAll(/^\| (\d+) \| `([\w-]+)` \|/gm)) {
      rows[Number(row) - 1] = [...(rows[Number(row) - 1] ?? []), folder];
    }
    expect(rows).toEqual(ROWS);
  });

  it('imports upstream only', () => {
    const wrong = imports().filter((each) => {
      const to = importedFolder(each);
      if (to === undefined || to === each.folder || each.file === 'lib/index.ts') return false;
      const from = rowOf(each.folder);
      const row = rowOf(to);
      if (each.folder === COMMAND) return row === -1 && !EDGES.includes(to);
      return from === -1 ? row === -1 : row === -1 || row >= from;
    });
    const shown = wrong.map(({ file, target }) => `${file} -> ${target}`);
    expect(shown, 'a folder imports only folders of smaller rows').toEqual([]);
  });

  it('imports files with their extension, and has no index files except those of the entries', () => {
    const relative = imports().filter(({ target }) => target.startsWith('.'));
    expect(relative.filter(({ target }) => !target.endsWith('.ts'))).toEqual([]);
    const indices = own.filter((file) => file.endsWith('/index.ts') && file !== 'lib/index.ts');
    expect(indices).toEqual(
      [...EDGES, ...OWN_ENTRIES].map((entry) => `lib/${entry}/index.ts`).sort(),
    );
  });

  it('imports each package only in its own folders', () => {
    const allowed: Record<string, (file: string) => boolean> = {
      rxjs: () => true,
      'rxjs/operators': () => true,
      'rxjs/testing': (file) => file.startsWith('lib/testing/'),
      immer: (file) => file === 'lib/client/edit.ts',
      undici: (file) => file.startsWith('lib/node/'),
      'undici/index.js': (file) => file.startsWith('lib/node/'),
      '@kubernetes/client-node': (file) => file.startsWith('lib/node/'),
      'json-schema-to-typescript': (file) => file === 'lib/node/crd-types.ts',
      react: (file) => file.startsWith('lib/react/'),
      yaml: (file) => file.startsWith('lib/command/'),
      '@nats-io/nats-core': (file) => /^lib\/(nats|command)\//.test(file),
      '@nats-io/transport-node': (file) => file === 'lib/command/nats-connection.ts',
      '@nats-io/jetstream': (file) => file.startsWith('lib/nats/'),
    };
    const wrong = imports().filter(({ file, target }) => {
      if (target.startsWith('.')) return false;
      // The server of users names types of what it takes at run time.
      const isOfNode = /^lib\/(node|testing|command)\/|^lib\/server\/shared\/positions\.ts$/;
      if (target.startsWith('node:')) return !isOfNode.test(file);
      return !(allowed[target]?.(file) ?? false);
    });
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  it('T41: loads undici by the name of its file, because Bun has a stub for the plain name', () => {
    const lines = own.flatMap((file) => stripComments(sources.get(file) ?? '').split('\n'));
    const plain = lines.filter((line) => /['"]undici['"]/.test(line));
    // Types, and the name in an error.
    const loads = /^(?!import type).*\b(?:from|import|import\(|require\()\s*['"]undici['"]/;
    expect(plain.filter((line) => loads.test(line) && !line.includes('typeof import'))).toEqual([]);
    expect(lines.filter((line) => line.includes("import('undici/index.js')"))).toHaveLength(1);
  });

  it('uses no Promise between the transport and the commit', () => {
    const stages = ['decode', 'list-watch', 'reflector', 'delta', 'store'];
    const wrong = own.filter((file) => {
      const code = stripComments(sources.get(file) ?? '');
      const isStage = stages.includes(folderOf(file)) || file.startsWith('lib/shards/reflect/');
      return isStage && /\basync\s|\bawait\s|\bPromise\b/.test(code);
    });
    expect(wrong).toEqual([]);
  });

  it('begins each file with a comment on its purpose', () => {
    const opening = /^(#!.*\n)?(\/\/\/ <reference [^>]*>\n)*('use client';\n)?\s*\/\*\*/;
    expect(own.filter((file) => !opening.test(sources.get(file) ?? ''))).toEqual([]);
  });

  it('has no file for miscellaneous code', () => {
    const odd = /(^|\/)(utils?|helpers?|common|misc|types|constants|errors)(\.ts|\/)/;
    expect(files.filter((file) => odd.test(file))).toEqual([]);
  });

  it('has the files that the documentation names', () => {
    const text = readFileSync(`${root}docs/internals/architecture.md`, 'utf8');
    const named = [...text.matchAll(/`((?:[a-z-]+\/)+[a-z-]+\.ts)`/g)].map(([, file]) => file);
    expect(named.length).toBeGreaterThan(40);
    const missing = named.filter(
      (file) => !file?.startsWith('spec/') && !sources.has(`lib/${file}`),
    );
    expect(missing).toEqual([]);
  });

  it('keeps folders small', () => {
    const counts = new Map<string, number>();
    for (const file of own) {
      const folder = file.slice(0, file.lastIndexOf('/'));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
  });

  it('keeps files short', () => {
    // The length of the index depends on the number of exports.
    const long = own.filter((file) => {
      const lines = (sources.get(file) ?? '').split('\n').length;
      return file !== 'lib/index.ts' && lines > 340;
    });
    expect(long).toEqual([]);
  });

  it('casts through unknown or never only where the types cannot say it, and no more often than today', () => {
    const count = (cast: RegExp) =>
      own.reduce(
        (sum, file) => sum + [...stripComments(sources.get(file) as string).matchAll(cast)].length,
        0,
      );
    expect(count(/\bas unknown as\b/g)).toBeLessThanOrEqual(12);
    expect(count(/\bas never\b/g)).toBeLessThanOrEqual(15);
  });

  it('registers hooks in spec files only, because several files share the modules beside them', () => {
    const helpers = globSync('spec/**/*.{ts,tsx}', { cwd: root }).filter(
      (file) => /\.tsx?$/.test(file) && !/\.[a-z]+\.tsx?$/.test(file),
    );
    const hook = /^(?:before|after)(?:Each|All)\(/m;
    const wrong = helpers.filter((file) => hook.test(readFileSync(`${root}${file}`, 'utf8')));
    expect(wrong).toEqual([]);
  });

  it('lets no clock, heap or processor decide a test of the gate', () => {
    expect(clocksOfTheGate(root)).toEqual(Object.keys(CLOCKS).sort());
    expect(Object.keys(CLOCKS).length).toBeLessThanOrEqual(20);
  });

  it('lets no moment decide a test of a page: what a page shows is read until it is as expected', () => {
    expect(readsOnceOfPages(root)).toEqual(Object.keys(READ_ONCE).sort());
    expect(Object.keys(READ_ONCE).length).toBeLessThanOrEqual(20);
  });

  it('lets no luck decide a test: the values of fast-check have the seed of the run', () => {
    expect(fc.readConfigureGlobal()).toMatchObject({ seed: expect.any(Number) });
    const specs = globSync('spec/**/*.{ts,tsx}', { cwd: root }).filter(
      (file) => !/node_modules|generated/.test(file),
    );
    const lucky = specs.filter((file) =>
      importsOf(readFileSync(`${root}${file}`, 'utf8')).includes('fast-check'),
    );
    expect(lucky).toEqual(['spec/support/fast-check.ts']);
  });

  it('plays seeds by one runner, so that each campaign names the seed that went wrong and repeats it', () => {
    const files = globSync('spec/**/*.{ts,tsx}', { cwd: root }).filter(
      (file) => !/node_modules|generated/.test(file),
    );
    const loop = /\bfor (?:await )?\((?:let|const) seed\b|\benv\['\w+_SEEDS?'\]/;
    const own = files.filter((file) => loop.test(readFileSync(`${root}${file}`, 'utf8')));
    expect(own.sort()).toEqual([
      'spec/decode/fuzz/run.ts', // Options of the command.
      'spec/query/model/property.ts', // As many seeds as there are events to play.
      'spec/react/pages/lives.ts', // The seed of fast-check, of the day.
      'spec/support/campaign.ts',
      'spec/support/fast-check.ts',
      'spec/vitest.config.ts',
    ]);
  });

  it('leaves only specs that exist to npm run test:slow', () => {
    expect(SLOW.length).toBeGreaterThan(50);
    expect(SLOW.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
  });

  it('finds what a test of a page reads once', () => {
    const once = [
      "const total = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));",
      "expect(await tile('good').textContent()).toBe('1Ready');",
      "test('title', async () => { const box = await status.boundingBox(); });",
      "await eventually(async () => (await row.count()) > (0)); expect(page.url()).toContain('tone');",
    ];
    const none = [
      "await eventually(async () => expect(await row.textContent()).toBe('(a)'));",
      "const first = async () => Number(await row.getAttribute('aria-rowindex'));",
      "await page.goto(page.url().replace('a', 'b'));",
      "expect(await page.getByRole('dialog').count()).toBe(0);",
      "// expect(await row.textContent()).toBe('a');",
      "await row.waitFor({ state: 'detached' });",
    ];
    expect(once.filter((text) => readsOnceIn(text).length !== 1)).toEqual([]);
    expect(none.filter((text) => readsOnceIn(text).length > 0)).toEqual([]);
  });

  it('finds the clocks of a text, and none in virtual time', () => {
    const clocks = [
      'await vi.waitFor(() => expect(x).toBe(1));',
      'await expect.poll(() => x).toBe(1);',
      'const ms = performance.now() - from;',
      'const { user } = process.threadCpuUsage();',
      'await new Promise((resolve) => setTimeout(resolve, 50));',
      'await informer.whenSynced({ timeoutMs: 5_000 });',
      'const slow = source.pipe(delay(100));',
      'await page.waitForTimeout(1_000);',
      "await run('node', { timeout: 30_000 });",
      'expect(process.memoryUsage().heapUsed).toBeLessThan(1);',
      "it('takes long', test, { timeout: 60_000 });",
      '  }, 60_000);',
    ];
    const none = [
      'await eventually(() => expect(x).toBe(1));',
      '// performance.now()',
      "await run('node', { timeout: HANG_MS });",
      "vi.useFakeTimers({ toFake: ['setTimeout'] });",
      'await informer.whenSynced({ timeoutMs: 60_000 });',
      '}, 900_000);',
      'const slow = source.pipe(delay(100, scheduler));',
    ];
    expect(clocks.filter((line) => clocksIn(line).length !== 1)).toEqual([]);
    expect(none.filter((line) => clocksIn(line).length > 0)).toEqual([]);
    const virtual = "import { VirtualTime } from '../rx/virtual-time.ts';";
    expect(clocksIn(`${virtual} source.pipe(delay(100)); x({ timeoutMs: 10 });`)).toEqual([]);
    expect(clocksIn(`${virtual} setTimeout(f, 10);`)).toHaveLength(1);
  });
});
