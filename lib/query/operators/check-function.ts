/** Refuses a constant parameter that must be a function, at the call that got it. */
import { isObservable } from 'rxjs';

/** Throws a `TypeError` unless the parameter is a function or an Observable. `name` is as in `liveMap: project`. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value === 'function' || isObservable(value)) return;
  const shown = typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
  throw new TypeError(`${name} is ${shown}; it must be a function, or an Observable of functions`);
}
