/** What the configurations of suites have in common: where the sources are, how a run is reported, and when a test hangs. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { longestFirst } from './file-orders.ts';
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

/** What all parts of a suite have in common. */
interface Common extends TestOptions {
  /** The ends of the paths of the files that take longest, the longest first. */
  readonly longest?: readonly string[];
}

/** The configuration of a suite in parts, which run one after another. */
export function suiteOfParts(
  { longest = [], ...common }: Common,
  ...parts: readonly (TestOptions & { readonly name: string })[]
): ViteUserConfig {
  const sequence = { sequencer: longestFirst(longest) };
  const projects = parts.map((part, groupOrder) => ({
    ...shared,
    test: { ...limits, ...common, ...part, sequence: { groupOrder } },
  }));
  return defineConfig({ ...shared, test: { reporters, sequence, projects: projects as never } });
}
