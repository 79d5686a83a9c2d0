/** Whom an informer tells of errors and warnings; what those who are told throw goes where rxjs sends its own. */
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { InformerOptions, UnhandledErrorContext } from '../options.ts';
import { type InformerWarning, printWarning } from './warnings.ts';

/** One informer's. */
export interface Reporter {
  report(error: unknown, context: Omit<UnhandledErrorContext, 'informer'>): void;
  warn(warning: Omit<InformerWarning, 'informer'>): void;
}

/** Makes one of the options of the informer of this name. */
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
