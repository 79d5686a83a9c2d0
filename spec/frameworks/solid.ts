/** A view in a component of Solid, as docs/guide/frameworks.md shows it. */
import type { View, ViewSnapshot } from 'rx-informer';
import { type Accessor, from } from 'solid-js';

export function useView<T>(view: View<T>): Accessor<ViewSnapshot<T>> {
  return from<ViewSnapshot<T>>((set) => {
    const leave = view.subscribe(() => set(() => view.getSnapshot()));
    set(() => view.getSnapshot());
    return leave;
  }, view.getSnapshot());
}
