/** Says that code which `import()` loads could not be loaded. */
import { shownError } from '../meta/shown-text.ts';

/** `code` names what the code does. */
export function missingCode(code: string, error: unknown): string {
  return `the code of the ${code} could not be loaded: ${shownError(error)}. After a deployment, reload the page (docs/guide/browsers.md)`;
}
