/** Bundlers of programs for Node. Each makes one CommonJS file, as an extension of VS Code or a small image needs it. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { type Consumer, everyBundler, mustRun, root } from './consumer.ts';

/** Bundles a script into the file `to`. The module `vscode` stays outside, because the editor has it. */
export type NodeBundle = (consumer: Consumer, script: string, to: string) => Promise<void>;

/** Runs a program that reads its settings from `process.argv[2]`. */
async function byProgram(
  { nodes }: Consumer,
  folder: string,
  text: string,
  settings: object,
): Promise<void> {
  writeFileSync(join(folder, 'bundle.mjs'), text);
  await mustRun(nodes['24'], ['bundle.mjs', JSON.stringify(settings)], folder);
}

/** The programs for webpack and Rspack, which take the same settings. */
const packProgram = (imports: string): string => `
${imports}
// One file, although the library has an import().
const plugins = [new bundler.optimize.LimitChunkCountPlugin({ maxChunks: 1 })];
bundler({ ...JSON.parse(process.argv[2]), plugins }, (error, stats) => {
  if (error || stats.hasErrors()) { console.error(error ?? stats.toString('errors-only')); process.exitCode = 1; }
});
`;

const packSettings = (script: string, to: string): object => ({
  mode: 'production',
  target: 'node',
  entry: script,
  externals: { vscode: 'commonjs vscode' },
  output: { path: join(to, '..'), filename: 'bundle.cjs', library: { type: 'commonjs2' } },
  optimization: { minimize: false },
});

const ROLLUP = `
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
const { input, file } = JSON.parse(process.argv[2]);
const plugins = [nodeResolve({ exportConditions: ['node'], preferBuiltins: true }), commonjs(), json()];
const bundle = await rollup({ input, plugins, external: ['vscode'], onLog: () => {} });
await bundle.write({ file, format: 'cjs', inlineDynamicImports: true });
`;

/** The folder of the bundlers that only the nightly form tests. */
const nightly = ({ folder }: Consumer): string => join(folder, 'bundlers');

/** Installs the bundlers that only the nightly form tests, with their own lockfile. */
export async function installNightly(consumer: Consumer): Promise<void> {
  if (!everyBundler) return;
  cpSync(join(root, '.suites/bundlers'), nightly(consumer), { recursive: true });
  await mustRun('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], nightly(consumer));
}

/** Bundlers whose packages the suite has in any case. */
const always: Readonly<Record<string, NodeBundle>> = {
  async esbuild(_, script, to) {
    const { warnings } = await esbuild({
      ...{ entryPoints: [script], outfile: to, external: ['vscode'] },
      ...{ bundle: true, format: 'cjs', platform: 'node', logLevel: 'silent' },
    });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
  },
  async webpack(consumer, script, to) {
    const program = packProgram("import bundler from 'webpack';");
    await byProgram(consumer, consumer.folder, program, packSettings(script, to));
  },
};

const others: Readonly<Record<string, NodeBundle>> = {
  async rspack(consumer, script, to) {
    const program = packProgram("import { rspack as bundler } from '@rspack/core';");
    await byProgram(consumer, nightly(consumer), program, packSettings(script, to));
  },
  async rollup(consumer, input, file) {
    await byProgram(consumer, nightly(consumer), ROLLUP, { input, file });
  },
  async bun(consumer, script, to) {
    const bun = join(nightly(consumer), 'node_modules/.bin/bun');
    const args = ['build', script, '--target=node', '--format=cjs', '--external=vscode'];
    await mustRun(bun, [...args, `--outfile=${to}`], consumer.folder);
  },
};

/** The bundlers that are tested. */
export const nodeBundlers: Readonly<Record<string, NodeBundle>> = {
  ...always,
  ...(everyBundler && others),
};
