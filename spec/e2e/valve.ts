/** A demand that a test opens and closes. */

import type { Demand } from 'rx-informer';
import { BehaviorSubject } from 'rxjs';
import { filter, take } from 'rxjs/operators';

/** A demand that is opened and closed by calls. */
export interface Valve {
  readonly demand: Demand;
  open(): void;
  close(): void;
}

/** Creates an open valve. */
export function createValve(): Valve {
  const isOpen = new BehaviorSubject(true);
  return {
    demand: () => (isOpen.value ? null : isOpen.pipe(filter(Boolean), take(1))),
    open: () => isOpen.next(true),
    close: () => isOpen.next(false),
  };
}
