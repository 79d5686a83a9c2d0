/** A view in a component of Vue, as docs/guide/frameworks.md shows it. */
import type { View, ViewSnapshot } from 'rx-informer';
import { onScopeDispose, type ShallowRef, shallowRef } from 'vue';

export function useView<T>(view: View<T>): Readonly<ShallowRef<ViewSnapshot<T>>> {
  const snapshot = shallowRef(view.getSnapshot());
  const read = () => {
    snapshot.value = view.getSnapshot();
  };
  onScopeDispose(view.subscribe(read));
  read();
  return snapshot;
}
