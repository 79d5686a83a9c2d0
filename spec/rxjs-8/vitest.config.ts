/** The configuration of the offline suite with RxJS 8, a pre-release, which needs the packages of `.suites`. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import offline from '../vitest.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { resolve } = createRequire(`${root}.suites/package.json`);
/** RxJS 8 in place of the RxJS of the project. */
const alias = [
  { find: /^rxjs$/, replacement: resolve('rxjs-8') },
  { find: /^rxjs\/operators$/, replacement: resolve('rxjs-8/operators') },
  { find: /^rxjs\/testing$/, replacement: resolve('rxjs-8/testing') },
];
const projects = offline.test?.projects as readonly TestProjectInlineConfiguration[];

export default defineConfig({
  ...offline,
  test: {
    ...offline.test,
    projects: projects.map((project) => ({ ...project, resolve: { ...project.resolve, alias } })),
    // The errors of the known failures arrive outside of their tests.
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
