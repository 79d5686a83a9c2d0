/** React hooks for the live data. Each hook renders its component only if its own part has changed. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { InformerStatus } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import type { PodListSnapshot } from '../pods/pod-list.ts';
import { informer, podList, podsByUid } from './live-pods.ts';

/** A part of the list. `select` must give equal parts the same identity. */
export function usePodList<P>(select: (snapshot: PodListSnapshot) => P): P {
  return useSyncExternalStore(podList.subscribe, () => select(podList.getSnapshot()));
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
  const [one] = useState(() => podsByUid.select(uid));
  return useSyncExternalStore(one.subscribe, one.getSnapshot);
}
