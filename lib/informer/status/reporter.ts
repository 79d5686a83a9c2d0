/**
 * Passes errors and warnings to the callbacks of an informer. An error that such a callback throws is reported like an
 * rxjs error.
 */
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { InformerOptions, UnhandledErrorContext } from '../options.ts';
import { type InformerWarning, printWarning } from './warnings.ts';

/** The reporter of one informer. */
export interface Reporter {
  report(error: unknown, context: Omit<UnhandledErrorContext, 'informer'>): void;
  warn(warning: Omit<InformerWarning, 'informer'>): void;
}

/** Creates the reporter of the informer with this name from its options. */
export function createReporter<T>(informer: string, options: InformerOptions<T>): Reporter {
  const { onUnhandledError, onWarning = printWarning } = options;
  return {
    report(error, context) {
      if (onUnhandledError === undefined) return reportUnhandled(error);
      try {
        onUnhandledError(error, { informer, ...context });
      } catch (thrown) {
        reportUnhandled(thrown);
      }
    },
    warn(warning) {
      try {
        onWarning({ informer, ...warning });
      } catch (thrown) {
        reportUnhandled(thrown);
      }
    },
  };
}
