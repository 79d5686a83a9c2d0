/** React hooks for the state of the page. The hooks for live data are those of `rx-informer/react`. */
import { useCallback, useSyncExternalStore } from 'react';
import type { BehaviorSubject } from 'rxjs';
import { type PageState, page$ } from './page-state.ts';

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

export function usePage(): PageState {
  return useValue(page$);
}
