/**
 * Tests the packed library in projects of consumers: in Node 22, 24 and 26, as ESM and through `require()`, with bundlers
 * and with compilers.
 */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from '@jridgewell/sourcemap-codec';
import { build as esbuild } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isGate } from '../support/gate.ts';
import { bundlers, writePage } from './bundlers.ts';
import { type Consumer, installConsumer, projectWith, root, run } from './consumer.ts';
import { readmePrograms } from './programs.ts';

const programs = readmePrograms();
const running = programs.filter(({ runs }) => runs);
let consumer: Consumer;

function write(name: string, text: string): string {
  const path = join(consumer.folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs a script that must succeed and print nothing to stderr. Returns its output. */
async function printed(node: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(node, args, consumer.folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

interface Manifest {
  readonly main: string;
  readonly alias: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** The package.json of the installed library. */
function manifest(): Manifest {
  const path = join(consumer.folder, 'node_modules/rx-informer/package.json');
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** What the programs print without a bundler; set by the first bundler. */
let plain: Promise<string> | undefined;

async function printedWithoutBundler(): Promise<string> {
  let text = '';
  for (const { name, module } of running) {
    text += await printed(consumer.nodes['24'], write(`plain-${name}.mts`, module));
  }
  return text;
}

/** The bundle of a project that imports everything of the main entry. */
async function bundledCore(): Promise<string> {
  const { outputFiles } = await esbuild({
    stdin: { contents: "export * from 'rx-informer';", resolveDir: consumer.folder },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

beforeAll(async () => {
  consumer = await installConsumer();
});
afterAll(() => consumer?.[Symbol.asyncDispose]());

describe.concurrent('the packed library', () => {
  it('T41: the first example of the README prints something', async ({ expect }) => {
    const script = write('first.mts', running[0]?.module ?? '');
    expect(await printed(consumer.nodes['24'], script)).not.toBe('');
  });

  for (const major of isGate ? (['22', '26'] as const) : (['22', '24', '26'] as const)) {
    for (const { name, module, commonJs } of running) {
      it(`T41: ${name} runs in Node ${major}, as a module and by require()`, async ({ expect }) => {
        const node = consumer.nodes[major];
        // Node 22 prints a warning when it strips types.
        const quiet = '--disable-warning=ExperimentalWarning';
        const asModule = await printed(node, quiet, write(`${name}-${major}.mts`, module));
        const asCommonJs = await printed(node, write(`${name}-${major}.cjs`, commonJs));
        expect(asCommonJs).toBe(asModule);
      });
    }

    it(`T41: all entries load in Node ${major}, and import() and require() give one module`, async ({
      expect,
    }) => {
      const script = `
        const entries = ['rx-informer', 'rx-informer/resources', 'rx-informer/testing', 'rx-informer/node', 'rx-informer/diagnose'];
        Promise.all(entries.map(async (entry) => {
          if ((await import(entry)) !== require(entry)) throw new Error(entry);
          const { sep } = require('node:path');
          const file = require.resolve(entry);
          if (file.includes(sep + 'modules' + sep)) throw new Error(file);
        })).then(() => console.log('same'));`;
      const path = write(`entries-${major}.cjs`, script);
      expect(await printed(consumer.nodes[major], path)).toBe('same\n');
    });
  }

  it('T41: the command runs where no optional package is installed', async ({ expect }) => {
    // Node also looks in the folders above.
    const folder = mkdtempSync(join(tmpdir(), 'rx-informer-command-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['rx-informer', 'rxjs', 'immer', 'tslib']) {
      const path = `node_modules/${name}`;
      cpSync(join(consumer.folder, path), join(folder, path), { recursive: true });
    }
    const command = join(folder, 'node_modules/rx-informer/dist/command/rx-informer.js');
    expect(await printed(consumer.nodes['24'], command, '--help')).toContain('init');
    expect(await printed(consumer.nodes['24'], command, 'explain', 'RX1')).toContain('RX1');
  });

  it('T81: of client-node a kubeconfig loads the YAML parser alone', async ({ expect }) => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = new Set();
      registerHooks({ load: (url, context, next) => {
        const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*node_modules)/.exec(url) ?? [];
        loaded.add(name);
        return next(url, context);
      } });
      const { clientFromKubeConfig } = await import('rx-informer/node');
      const text = \`
        clusters: [{ name: dev, cluster: { server: "https://127.0.0.1:1" } }]
        contexts: [{ name: dev, context: { cluster: dev } }]
        current-context: dev\`;
      const { baseUrl } = await clientFromKubeConfig({ text });
      console.log(baseUrl, loaded.has('js-yaml'), loaded.has('undici'), loaded.has('@kubernetes/client-node'));`;
    const folder = projectWith(consumer, 'kubeconfig', ['@kubernetes', 'undici']);
    const program = write(join('kubeconfig', 'program.mjs'), script);
    expect(await run(consumer.nodes['24'], [program], folder)).toMatchObject({
      stdout: 'https://127.0.0.1:1 true true false\n',
    });
  });

  it('X21: the package is small, and its source maps point at files in it', async ({ expect }) => {
    expect(consumer.packedSize).toBeLessThanOrEqual(1_305_000);
    expect(consumer.unpackedSize).toBeLessThanOrEqual(6_000_000);
    const library = join(consumer.folder, 'node_modules/rx-informer');
    const maps = globSync('dist/**/*.map', { cwd: library });
    expect(maps.length).toBeGreaterThan(6);
    for (const map of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(library, map), 'utf8'));
      expect(sourcesContent).toBeUndefined();
      const files: string[] = sources.map((source: string) => join(library, map, '..', source));
      expect(files.filter((file) => !existsSync(file))).toEqual([]);
    }
    const trace = `
      require('rx-informer').createIndexer({ keyOf: () => { console.log(new Error().stack); return 'a'; } })
        .add({ metadata: { name: 'a' } });`;
    const args = ['--enable-source-maps', write('trace.cjs', trace)];
    expect(await printed(consumer.nodes['24'], ...args)).toContain(
      join('dist', 'modules', 'store', ''),
    );
  });

  it('X21: the source maps name the line of the module that stands in the bundle', ({ expect }) => {
    const dist = join(consumer.folder, 'node_modules/rx-informer/dist');
    const linesOf = (...path: string[]) => readFileSync(join(dist, ...path), 'utf8').split('\n');
    const thrown: (string | undefined)[] = [];
    for (const map of globSync('**/*.js.map', { cwd: dist })) {
      const { sources, mappings } = JSON.parse(linesOf(map).join('\n'));
      const modules: string[][] = sources.map((source: string) => linesOf(map, '..', source));
      const bundle = linesOf(map.slice(0, -'.map'.length));
      for (const [at, [first]] of decode(mappings).entries()) {
        // Names may differ, because the modules of a bundle share them.
        if (!bundle[at]?.startsWith('throw ')) continue;
        thrown.push(first?.length === 4 ? modules[first[1]]?.[first[2]] : undefined);
      }
    }
    expect(thrown.length).toBeGreaterThan(100);
    expect(thrown.filter((line) => !line?.trim().startsWith('throw '))).toEqual([]);
  });

  it('T41: all conditions of an entry name one module, in the order that resolvers need', ({
    expect,
  }) => {
    const { exports, alias, main } = manifest();
    const entries = Object.entries(exports).filter(([entry]) => !entry.endsWith('.json'));
    for (const [entry, conditions] of entries) {
      const module = conditions['rx-informer-source']?.slice('./lib/'.length, -'.ts'.length);
      expect(Object.entries(conditions).slice(1)).toEqual([
        ['types', `./dist/modules/${module}.d.ts`],
        ['node', `./dist/${module}.js`],
        ['default', `./dist/modules/${module}.js`],
      ]);
      // For tools that do not read `exports`.
      expect(entry === '.' ? main : alias[entry]).toBe(conditions['default']);
    }
  });

  it('npm installs no optional package with the library', ({ expect }) => {
    const peers = Object.keys(manifest().peerDependencies).filter((name) => name !== 'rxjs');
    expect(peers).toContain('react');
    const modules = join(consumer.folder, 'node_modules');
    expect(peers.filter((name) => existsSync(join(modules, name)))).toEqual([]);
  });

  it('has no script of which npm warns when the package is installed', ({ expect }) => {
    const { scripts } = manifest();
    const warned = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'];
    expect(Object.keys(scripts).filter((name) => warned.includes(name))).toEqual([]);
  });

  it("V1: the React entry begins with 'use client', and the core contains nothing of it", async ({
    expect,
  }) => {
    const dist = join(consumer.folder, 'node_modules/rx-informer/dist');
    const text = (name: string) => readFileSync(join(dist, name), 'utf8');
    const entries = ['react/index.js', 'react/worker.js'];
    for (const name of entries.flatMap((entry) => [entry, `modules/${entry}`])) {
      expect(text(name).startsWith("'use client'") || text(name).startsWith('"use client"')).toBe(
        true,
      );
    }
    const core = await bundledCore();
    expect(core).toContain('createSharedInformer');
    expect(core).not.toMatch(/InformerProvider|connectWorker|from "react"/);
  });

  it('T41: the NATS entry loads where the NATS client is installed, and the core contains nothing of it', async ({
    expect,
  }) => {
    // The other tests run without the client, so this project has a copy of the library.
    const folder = join(consumer.folder, 'with-nats');
    const modules = join(folder, 'node_modules');
    const library = join(consumer.folder, 'node_modules/rx-informer');
    cpSync(library, join(modules, 'rx-informer'), { recursive: true });
    symlinkSync(join(root, 'node_modules/@nats-io'), join(modules, '@nats-io'));
    const path = join(folder, 'entry.cjs');
    const script = `
      const required = require('rx-informer/nats');
      import('rx-informer/nats').then((imported) => {
        console.log(imported === required, Object.keys(imported).sort().join());
      });`;
    writeFileSync(path, script);
    const names = 'createNatsListWatch,natsReaderSubjects,publishToNats';
    for (const node of Object.values(consumer.nodes)) {
      expect(await printed(node, path)).toBe(`true ${names}\n`);
    }
    const core = await bundledCore();
    expect(core).not.toMatch(/@nats-io|createNatsListWatch/);
  });

  for (const [bundler, bundle] of Object.entries(bundlers)) {
    it(`T41: bundles with ${bundler}, and the script prints what the programs print`, async ({
      expect,
    }) => {
      const folder = join(consumer.folder, bundler.replace(/\W+/g, '-'));
      writePage(folder, running);
      const node = consumer.nodes['24'];
      const script = await bundle(consumer, folder);
      plain ??= printedWithoutBundler();
      expect(await printed(node, join(folder, 'page.mjs'), script)).toBe(await plain);
    });
  }

  const compilers = {
    '5.9': () => join(consumer.folder, 'node_modules/typescript-5.9/bin/tsc'),
    '7': () => join(root, 'node_modules/typescript/bin/tsc'),
  };
  const resolutions = [
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ];
  for (const [version, compiler] of Object.entries(compilers)) {
    it(`T40: all entries and the README compile with TypeScript ${version}, without DOM and skipLibCheck`, async ({
      expect,
    }) => {
      const entries = ['', '/resources', '/testing', '/node'];
      const all = entries.map((path, at) => `export * as e${at} from 'rx-informer${path}';\n`);
      for (const resolution of resolutions) {
        const folder = join(consumer.folder, `types-${version}-${resolution.moduleResolution}`);
        mkdirSync(folder);
        writeFileSync(join(folder, 'entries.mts'), all.join(''));
        for (const { name, module } of programs) writeFileSync(join(folder, `${name}.mts`), module);
        // A program that is compiled to CommonJS, which `nodenext` allows for ES modules.
        writeFileSync(join(folder, 'common.cts'), all.join(''));
        const compilerOptions = {
          ...resolution,
          target: 'es2023',
          lib: ['es2023'],
          types: ['node'],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
        };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
        const { stdout } = await run(consumer.nodes['24'], [compiler(), '-p', folder], folder);
        expect(stdout).toBe('');
      }
    });
  }

  it.skipIf(isGate)(
    'T40: all entries compile to CommonJS with TypeScript 5.9 and the resolution node10',
    async ({ expect }) => {
      const packages = ['@nats-io', 'react', '@types/react'];
      const folder = projectWith(consumer, 'types-node10', packages);
      const manifest = readFileSync(join(folder, 'node_modules/rx-informer/package.json'), 'utf8');
      const entries = Object.keys(JSON.parse(manifest).exports).filter(
        (it) => !it.endsWith('.json'),
      );
      expect(entries).toContain('./react/worker');
      const all = entries.map((it, at) => `export * as e${at} from 'rx-informer${it.slice(1)}';\n`);
      writeFileSync(join(folder, 'entries.ts'), all.join(''));
      const compilerOptions = {
        ...{ module: 'commonjs', moduleResolution: 'node10', target: 'es2023', lib: ['es2023'] },
        ...{ types: ['node'], strict: true, skipLibCheck: false, noEmit: true },
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      const args = [compilers['5.9'](), '-p', folder];
      const { stdout } = await run(consumer.nodes['24'], args, folder);
      expect(stdout).toBe('');
    },
  );

  it('T41: publint and attw report no problem', async ({ expect }) => {
    const tools = [
      [join(root, 'node_modules/publint/src/cli.js'), '--strict', consumer.tarball],
      [
        join(consumer.folder, 'node_modules/@arethetypeswrong/cli/dist/index.js'),
        ...[consumer.tarball, '--profile', 'esm-only'],
      ],
    ];
    for (const args of tools) {
      const { code, stdout } = await run(consumer.nodes['24'], args, consumer.folder);
      expect(code, stdout).toBe(0);
    }
  });
});
