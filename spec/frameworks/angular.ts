/** A view in a component of Angular, as docs/guide/frameworks.md shows it. */
import type { ResourceRef, Signal } from '@angular/core';
import { rxResource, toSignal } from '@angular/core/rxjs-interop';
import type { Stored, View } from 'rx-informer';

export function rowsOf<T>(view: View<T>): Signal<readonly Stored<T>[]> {
  return toSignal(view.items$, { requireSync: true });
}

export function rowsOfView<T>(view: () => View<T> | undefined): ResourceRef<readonly Stored<T>[]> {
  return rxResource({
    params: view,
    stream: ({ params }) => params.items$,
    defaultValue: [],
  });
}
