/** What rxjs reports to nobody in particular, as it does with the errors of subscribers. */
import { config } from 'rxjs';

export function unhandled(): { readonly heard: unknown[]; restore(): void } {
  const before = config.onUnhandledError;
  const heard: unknown[] = [];
  config.onUnhandledError = (error) => heard.push(error);
  return {
    heard,
    restore: () => {
      config.onUnhandledError = before;
    },
  };
}
