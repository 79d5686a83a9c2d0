/** A consumer that can be told to take nothing. */

import type { Demand } from 'rx-informer';
import { BehaviorSubject } from 'rxjs';
import { filter, take } from 'rxjs/operators';

/** A demand, opened and closed by hand. */
export interface Valve {
  readonly demand: Demand;
  open(): void;
  close(): void;
}

/** Open at first. */
export function createValve(): Valve {
  const isOpen = new BehaviorSubject(true);
  return {
    demand: () => (isOpen.value ? null : isOpen.pipe(filter(Boolean), take(1))),
    open: () => isOpen.next(true),
    close: () => isOpen.next(false),
  };
}
