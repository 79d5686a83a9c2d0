/**
 * Passes errors and warnings to the callbacks of an informer. An error that such a callback throws is reported like an
 * rxjs error.
 */
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { type InformerWarning, printWarning } from './warnings.ts';

/** Where an unhandled error was thrown. */
export interface UnhandledErrorContext {
  /** The informer's name. */
  readonly informer: string;
  /** The name of the handler that threw, or of the subscriber's function. */
  readonly subscriber: string;
  /** The key of the object for which the callback was called, or of the first object in its change set. */
  readonly key?: string;
}

/** The callbacks for errors and warnings. */
export interface ReporterOptions {
  /**
   * Receives the errors that handlers and direct subscribers throw.
   * @defaultValue reported like rxjs's own errors: asynchronously, as uncaught errors
   */
  readonly onUnhandledError?:
    | ((error: unknown, context: UnhandledErrorContext) => void)
    | undefined;
  /** Receives warnings. @defaultValue `console.warn` */
  readonly onWarning?: ((warning: InformerWarning) => void) | undefined;
}

/** The reporter of one informer. */
export interface Reporter {
  report(error: unknown, context: Omit<UnhandledErrorContext, 'informer'>): void;
  warn(warning: Omit<InformerWarning, 'informer'>): void;
}

/** Creates the reporter of the informer with this name from its options. */
export function createReporter(informer: string, options: ReporterOptions): Reporter {
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
