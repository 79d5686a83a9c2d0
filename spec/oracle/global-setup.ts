/** Builds client-go once, so that no test's timeout includes the build. */
import type { TestProject } from 'vitest/node';
import { ensureOracle } from './oracle-binary.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly oracle: string;
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('oracle', await ensureOracle());
}
