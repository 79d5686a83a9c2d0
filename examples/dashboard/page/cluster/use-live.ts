/** React hooks for the live data. Each hook renders its component only if its own part has changed. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { InformerStatus, View, ViewSnapshot } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import type { BehaviorSubject } from 'rxjs';
import { informer, podQueries } from './live-pods.ts';

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

/** The number of all pods. */
export function usePodCount(): number {
  return useView(podQueries.totals, ({ rows }) => rows[0]?.pods ?? 0);
}

/** The informer's current status. */
export function useStatus(): InformerStatus | undefined {
  const [status, setStatus] = useState<InformerStatus>();
  useEffect(() => {
    const subscription = informer.status$.subscribe(setStatus);
    return () => subscription.unsubscribe();
  }, []);
  return status;
}

/** The current state of one pod; `undefined` once it is deleted. */
export function usePod(uid: string): Pod | undefined {
  const [one] = useState(() => podQueries.pods.select(uid));
  return useSyncExternalStore(one.subscribe, one.getSnapshot);
}
