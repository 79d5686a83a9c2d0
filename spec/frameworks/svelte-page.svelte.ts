/** Mounts components of Svelte without a DOM: one that reads a LiveView, and one that reads `items$` as a store. */
import { fromStore } from 'svelte/store';
import { LiveView } from './svelte.svelte.ts';
import type { Mount } from './view.contract.ts';

type Rows = ReturnType<ReturnType<Mount>['rows']>;

function drawing(read: () => Rows) {
  let rows: Rows = [];
  let drawn = 0;
  const unmount = $effect.root(() => {
    $effect.pre(() => {
      rows = read();
      drawn += 1;
    });
  });
  return { rows: () => rows, drawn: () => drawn, unmount };
}

export const mount: Mount = (view) => {
  const live = new LiveView(view);
  return drawing(() => live.current.rows);
};

export const mountStore: Mount = (view) => {
  const store = fromStore({
    subscribe: (run) => {
      const subscription = view.items$.subscribe(run);
      return () => subscription.unsubscribe();
    },
  });
  return drawing(() => store.current as Rows);
};
