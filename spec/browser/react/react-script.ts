/** Bundles `scenarios.ts` for a page, with one of the versions of React, with or without the React Compiler. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
// @ts-expect-error The package has no types.
import { transformAsync } from '@babel/core';
import { build, type Plugin, transform } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const reactCompiler = createRequire(import.meta.url).resolve('babel-plugin-react-compiler');

const VERSIONS = {
  '18.3': { packages: here('../../react/react-18/node_modules'), isCompiled: false },
  '19': { packages: here('../../../node_modules'), isCompiled: false },
  '19 and its compiler': { packages: here('../../../node_modules'), isCompiled: true },
} as const;

export type ReactVersion = keyof typeof VERSIONS;

/** Compiles the components of the scenarios, as the build of an application does. The hooks stay as they are shipped. */
const compiler: Plugin = {
  name: 'react-compiler',
  setup({ onLoad }) {
    onLoad({ filter: /spec\/browser\/react\/.*\.tsx$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        loader: 'tsx',
        jsx: 'preserve',
        target: 'esnext',
      });
      const compiled = await transformAsync(code, {
        filename: path,
        configFile: false,
        babelrc: false,
        parserOpts: { plugins: ['jsx'] },
        plugins: [[reactCompiler, { target: '19' }]],
      });
      return { contents: compiled?.code ?? '', loader: 'jsx' };
    });
  },
};

export async function reactScript(version: ReactVersion): Promise<string> {
  const { packages, isCompiled } = VERSIONS[version];
  const built = await build({
    entryPoints: [here('scenarios.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    conditions: ['rx-informer-source'],
    alias: { react: `${packages}/react`, 'react-dom': `${packages}/react-dom` },
    // StrictMode mounts twice in development only.
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'warning',
    plugins: isCompiled ? [compiler] : [],
  });
  const text = built.outputFiles[0]?.text ?? '';
  // Each compiled component asks for its memory at first.
  const compiled = text.match(/import_compiler_runtime\d*\.c\)\(/g)?.length ?? 0;
  if (isCompiled ? compiled < 12 : compiled > 0)
    throw new Error(`${compiled} components were compiled`);
  return text;
}
