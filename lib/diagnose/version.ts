/** The version of this library, for reports. */

/** The same as in package.json; `spec/diagnose/bug-report.spec.ts` compares them. */
export const VERSION = '1.0.0-rc.1';
