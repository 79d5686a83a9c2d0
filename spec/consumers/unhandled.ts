/** What rxjs reports to nobody in particular, as it does with the errors of subscribers. */
import { config } from 'rxjs';

export interface Unhandled {
  /** All so far. rxjs reports in a task of its own, so it has to be waited for. */
  heard(): Promise<readonly unknown[]>;
  /** Once all of the test has been heard. */
  restore(): Promise<void>;
}

export function unhandled(): Unhandled {
  const before = config.onUnhandledError;
  const heard: unknown[] = [];
  config.onUnhandledError = (error) => heard.push(error);
  const reported = () => new Promise((resolve) => setTimeout(resolve, 5));
  return {
    async heard() {
      await reported();
      return heard;
    },
    async restore() {
      await reported();
      config.onUnhandledError = before;
    },
  };
}
