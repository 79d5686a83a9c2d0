/** Mounts a component of Solid without a DOM. */
import { createEffect, createRoot } from 'solid-js';
import { useView } from './solid.ts';
import type { Mount } from './view.contract.ts';

export const mount: Mount = (view) => {
  let rows: ReturnType<ReturnType<Mount>['rows']> = [];
  let drawn = 0;
  const unmount = createRoot((dispose) => {
    const read = useView(view);
    createEffect(() => {
      rows = read().rows;
      drawn += 1;
    });
    return dispose;
  });
  return { rows: () => rows, drawn: () => drawn, unmount };
};
