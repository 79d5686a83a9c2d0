/** What the configurations of suites have in common: where the sources are, how a run is reported, and when a test hangs. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { TEST_HANG_MS } from './patience.ts';

type TestOptions = NonNullable<ViteUserConfig['test']>;

/** The path of a file of `spec`. */
export const specFile = (path: string): string =>
  fileURLToPath(new URL(`../${path}`, import.meta.url));

const shared = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions: ['rx-informer-source'] },
  ssr: { resolve: { conditions: ['rx-informer-source'] } },
};
const reporters = ['default', specFile('support/closing-line.ts')];
const limits = { testTimeout: TEST_HANG_MS, hookTimeout: TEST_HANG_MS };

/** The configuration of a suite. */
export function suiteOf(test: TestOptions): ViteUserConfig {
  return defineConfig({ ...shared, test: { reporters, ...limits, ...test } });
}

/** That of a suite in parts, which run one after another. */
export function suiteOfParts(
  common: TestOptions,
  ...parts: readonly (TestOptions & { readonly name: string })[]
): ViteUserConfig {
  const projects = parts.map((part, groupOrder) => ({
    ...shared,
    test: { ...limits, ...common, ...part, sequence: { groupOrder } },
  }));
  return defineConfig({ ...shared, test: { reporters, projects: projects as never } });
}
