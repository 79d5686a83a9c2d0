/** Tests a view in Vue. */
import type { Pod } from 'rx-informer/resources';
import { describe } from 'vitest';
import { effectScope, watchEffect } from 'vue';
import { followsTheContract } from './view.contract.ts';
import { useView } from './vue.ts';

describe('Vue', () => {
  followsTheContract({
    mount: (view) => {
      let rows: readonly Pod[] = [];
      let drawn = 0;
      const scope = effectScope();
      scope.run(() => {
        const snapshot = useView(view);
        watchEffect(() => {
          rows = snapshot.value.rows;
          drawn += 1;
        });
      });
      return { rows: () => rows, drawn: () => drawn, unmount: () => scope.stop() };
    },
  });
});
