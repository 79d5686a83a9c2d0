/** The informers that queries read: those of a factory, or those of several clusters. */
import type { Observable } from 'rxjs';
import type { SharedInformers } from './shared-informers.ts';

/** The part of a factory's informers that queries use. */
export interface InformerPool
  extends Pick<
    SharedInformers,
    'lingerMs' | 'scheduler' | 'entriesOf' | 'scopeOf' | 'nameOf' | 'indicesOf' | 'acquire'
  > {
  /** Emits when an informer has been created. @defaultValue informers that are in use are never removed */
  readonly created$?: Observable<void>;
  /** Whether they are those of several clusters, whose names stand before ids and keys. @defaultValue false */
  readonly isOverClusters?: boolean;
}
