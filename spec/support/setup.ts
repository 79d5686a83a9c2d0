/** Runs before each spec file: resets what the files before it may have changed, and waits longer than Vitest does. */
import { config } from 'rxjs';
import { vi } from 'vitest';

/** How long `vi.waitFor` waits by default, in milliseconds. A second is too short on a machine with other work. */
const PATIENCE_MS = 20_000;

// Files may share their modules.
config.onUnhandledError = null;

const { waitFor } = vi;
if (waitFor.name !== 'waitLonger') {
  vi.waitFor = function waitLonger(callback, options = PATIENCE_MS) {
    const limits = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(callback, { timeout: PATIENCE_MS, ...limits });
  };
}
