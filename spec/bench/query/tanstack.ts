/** A collection of TanStack DB that is synchronized from the same changes as ours. */
import { type Collection, createCollection, type SyncConfig } from '@tanstack/db';
import type { Source, Thing, Update } from './pods.ts';

export const TANSTACK = 'TanStack DB';

/** The rows of a source, and how to write changes to them. */
export interface Synchronized<T extends Thing> {
  readonly collection: Collection<T, string>;
  write(changes: readonly Update<T>[]): void;
}

export function synchronized<T extends Thing>({ objects }: Source<T>): Synchronized<T> {
  let sync: Parameters<SyncConfig<T, string>['sync']>[0] | undefined;
  const collection = createCollection<T, string>({
    getKey: ({ metadata }) => metadata.uid,
    startSync: true,
    sync: {
      rowUpdateMode: 'full',
      sync: (given) => {
        sync = given;
        given.begin();
        for (const value of objects) given.write({ type: 'insert', value });
        given.commit();
        given.markReady();
      },
    },
  });
  return {
    collection: collection as unknown as Collection<T, string>,
    write: (changes) => {
      sync?.begin();
      for (const { object } of changes) sync?.write({ type: 'update', value: object });
      sync?.commit();
    },
  };
}
