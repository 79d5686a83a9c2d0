/** React hooks for the live data. Each hook renders its component only if its own part has changed. */
import { useCallback, useSyncExternalStore } from 'react';
import type { View, ViewSnapshot } from 'rx-informer';
import type { BehaviorSubject } from 'rxjs';
import { type PageState, page$ } from './page-state.ts';

/** A part of a view. `select` must give equal parts the same identity. */
export function useView<T, P>(view: View<T>, select: (snapshot: ViewSnapshot<T>) => P): P {
  return useSyncExternalStore(view.subscribe, () => select(view.getSnapshot()));
}

/** The current value, such as a parameter of the queries. */
export function useValue<T>(value$: BehaviorSubject<T>): T {
  const subscribe = useCallback(
    (listener: () => void) => {
      const subscription = value$.subscribe(listener);
      return () => subscription.unsubscribe();
    },
    [value$],
  );
  return useSyncExternalStore(subscribe, () => value$.value);
}

/** The state of the page in its URL. */
export function usePage(): PageState {
  return useValue(page$);
}
