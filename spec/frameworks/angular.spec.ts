/** Tests a view in Angular. */
import '@angular/compiler';
import {
  createEnvironmentInjector,
  DOCUMENT,
  type EnvironmentInjector,
  ErrorHandler,
  effect,
  ɵINJECTOR_SCOPE as INJECTOR_SCOPE,
  platformCore,
  provideZonelessChangeDetection,
  runInInjectionContext,
  type Signal,
  signal,
} from '@angular/core';
import type { View } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { describe } from 'vitest';
import { rowsOf, rowsOfView } from './angular.ts';
import { followsTheContract, type Mounted } from './view.contract.ts';

/** The injector of an application without a DOM; `bootstrapApplication` makes the same with a renderer. */
const application = createEnvironmentInjector(
  [
    { provide: INJECTOR_SCOPE, useValue: 'root' },
    // rxResource looks for state that a server has put into the page.
    { provide: DOCUMENT, useValue: { getElementById: () => null } },
    ErrorHandler,
    provideZonelessChangeDetection(),
  ],
  platformCore().injector as EnvironmentInjector,
);

function mounting(rowsIn: (view: View<Pod>) => Signal<readonly Pod[]>) {
  return (view: View<Pod>): Mounted => {
    const own = createEnvironmentInjector([], application);
    let rows: readonly Pod[] = [];
    let drawn = 0;
    runInInjectionContext(own, () => {
      const read = rowsIn(view);
      rows = read();
      effect(() => {
        rows = read();
        drawn += 1;
      });
    });
    return { rows: () => rows, drawn: () => drawn, unmount: () => own.destroy() };
  };
}

describe('Angular with toSignal', () => followsTheContract({ mount: mounting(rowsOf) }));
describe('Angular with rxResource', () =>
  followsTheContract({
    mount: mounting((view) => rowsOfView(signal(view)).value),
    isSynchronous: false,
  }));
