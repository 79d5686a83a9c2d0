/** The informers that queries read: those of a factory, or those of several clusters. */
import type { SharedInformers } from './shared-informers.ts';

/** The part of a factory's informers that queries use. */
export interface InformerPool
  extends Pick<
    SharedInformers,
    'lingerMs' | 'scheduler' | 'entriesOf' | 'scopeOf' | 'nameOf' | 'indicesOf' | 'acquire'
  > {
  /** Whether `indexer.byIndex` of its informers may be read. @defaultValue true */
  readonly hasIndices?: boolean;
}
