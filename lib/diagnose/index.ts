/** `rx-informer/diagnose`: why informers do not work, reports for bugs, and lines that say what an informer does. */

export type { BugReport, Reported } from './bug-report.ts';
export { type CodeEntry, codeOf, codes, type FindingName } from './codes.ts';
export { type DebugSink, debug } from './debug.ts';
export { type DiagnoseOptions, type Diagnosis, diagnose } from './diagnose.ts';
export type { Finding, Severity } from './findings.ts';
export type {
  ConnectionFacts,
  Observations,
  SeenCredentials,
  SeenError,
  SeenInformer,
  SeenList,
  SeenReach,
  SeenRight,
  SeenWatch,
} from './observations.ts';
