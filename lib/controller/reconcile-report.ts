/** How a wrapper of a reconcile function reports its own errors to the controller that calls it. */
import { reportUnhandled } from '../rx/report-unhandled.ts';

/** The member of a request that reports an error to `onUnhandledError`. A symbol, so that it is no part of the request's type. */
export const REPORT: unique symbol = /* @__PURE__ */ Symbol('report');

type Report = (error: unknown, where: string, key?: string) => void;

/** Reports the errors of `where` in the reconcile of a key, as the controller does; as rxjs does without a controller. */
export function reporterOf(request: object, where: string, key: string): (error: unknown) => void {
  const { [REPORT]: report } = request as { readonly [REPORT]?: Report };
  return report === undefined ? reportUnhandled : (error) => report(error, where, key);
}
