/** Counts what the library has stored in a browser. */
import type { Page } from 'playwright-core';

/** How many objects and windows are stored. The windows are in a bucket. */
export async function countsIn(tab: Page): Promise<readonly number[]> {
  return await tab.evaluate(async () => {
    const { storageBuckets } = navigator as unknown as {
      storageBuckets: { open(name: string): Promise<{ indexedDB: IDBFactory }> };
    };
    const bucket = await storageBuckets.open('rx-informer');
    const count = async (factory: IDBFactory, database: string, store: string) => {
      const names = (await factory.databases()).map(({ name }) => name);
      // Opening it would create it without stores.
      if (!names.includes(database)) return 0;
      return await new Promise<number>((resolve) => {
        const opening = factory.open(database);
        opening.onsuccess = () => {
          const counting = opening.result.transaction(store).objectStore(store).count();
          counting.onsuccess = () => {
            opening.result.close();
            resolve(counting.result);
          };
        };
      });
    };
    return [
      await count(indexedDB, 'rx-informer', 'objects'),
      await count(bucket.indexedDB, 'rx-informer/windows', 'windows'),
    ];
  });
}
