/**
 * Passes errors and warnings to the callbacks of an informer. A warning is a condition that no error and no stream
 * would report. An error that such a callback throws is reported like an rxjs error.
 */

import type { ApiError } from '../../meta/api-error.ts';
import { shownText } from '../../meta/shown-text.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';

/** A warning as a message, and its details. */
export interface InformerWarning {
  /**
   * - `slow-handler`: a callback took long while many changes were waiting. Given once until its queue is empty again.
   * - `resync-raised`: a handler that was added to a running informer has a shorter period than the check period.
   * - `blocked`: the server refuses the informer (`status.blocked`), `status$` has no listener, and no wait for the
   *   sync was rejected. Given once per run.
   * - `not-stored`: the option `persist` cannot read or write its store, so the informer starts with a list, or no longer
   *   writes. Given once per run and ListerWatcher.
   * - `not-started`: a handler was added to an idle informer, which was not started within 10 s.
   */
  readonly type: 'slow-handler' | 'resync-raised' | 'blocked' | 'not-stored' | 'not-started';
  /** The informer's name. */
  readonly informer: string;
  /** The handler's name, if the warning is about a handler. */
  readonly subscriber?: string;
  readonly message: string;
  /** The error with which the server refuses the informer. */
  readonly error?: ApiError | undefined;
  readonly key?: string;
  /** How long the callback took, in milliseconds. */
  readonly tookMs?: number;
  /** How many changes wait for the handler. */
  readonly pending?: number;
}

/** The default of `onWarning`: prints the message on the console. It may contain names that a server sent. */
function printWarning({ informer, message }: InformerWarning): void {
  console.warn(shownText(`${informer}: ${message}`));
}

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
   * Receives the errors that handlers, direct subscribers and the metrics provider throw.
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
