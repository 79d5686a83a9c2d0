/**
 * A reporter that prints the last line of a run in a form for people and scripts: `N passed, N failed`. The line before it
 * says which command compares types.
 */
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]) {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const module of modules) {
      // A file that could not be loaded has no tests, but counts as failed.
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
    }
    failed += unhandled.length;
    // At run time `expectTypeOf` compares nothing.
    const hasTypes = modules.some(({ moduleId }) => moduleId.includes('/spec/types/'));
    const types = hasTypes ? 'The types of spec/types are compared by `npm run check`.\n' : '';
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    // Printed at exit, because the default reporter prints its summary in this same event.
    process.once('exit', () =>
      process.stdout.write(`\n${types}${passed} passed, ${failed} failed${tail}\n`),
    );
  }
}
