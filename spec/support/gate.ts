/** What the gate, `.ci/run`, leaves to the night, which runs it whole. `docs/internals/reliability.md` has the reasons. */

/** Whether the gate runs this. */
export const isGate: boolean = process.env['GATE'] !== undefined;

/** The files that the gate does not run. Parts of other files ask {@link isGate}. */
export const LEFT_TO_NIGHT: readonly string[] = [
  'spec/browser/dashboard-axe.browser.ts',
  'spec/browser/dashboard-details.browser.ts',
  'spec/browser/dashboard-hold.browser.ts',
  'spec/browser/dashboard-kinds.browser.ts',
  'spec/browser/dashboard-page.browser.ts',
  'spec/browser/dashboard-tabs.browser.ts',
  'spec/conformance/fake-over-http.spec.ts',
  'spec/e2e/audit-bytes.e2e.ts',
  'spec/e2e/audit.e2e.ts',
  'spec/e2e/clusters.e2e.ts',
  'spec/e2e/compressed-streams.e2e.ts',
  'spec/e2e/disasters-history.e2e.ts',
  'spec/e2e/user-rights.e2e.ts',
  'spec/release/lockfiles.spec.ts',
];

/** Those of this run: none, unless it is the gate. */
export const leftToNight: readonly string[] = isGate ? LEFT_TO_NIGHT : [];
