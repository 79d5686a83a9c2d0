/**
 * What the reflector says happened, in the order in which it learned it.
 * client-go: tools/cache/delta_fifo.go (DeltaType) and the_real_fifo.go (ReplacedAll, Bookmark).
 */
import type { Refused } from '../decode/watch-event.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';

/**
 * One thing that happened to a key, or to a whole collection. A relist travels as `replacing` parts that end
 * in `replaced` (commit) or `replace-abort` (forget). `scope` is the namespace that it speaks of; absent: all.
 */
export type Delta<T> =
  | { readonly type: 'added' | 'updated' | 'sync'; readonly key: string; readonly object: T }
  | {
      readonly type: 'deleted';
      readonly key: string;
      /** The newest state known; absent where none is. */
      readonly object?: T;
      /** The deletion itself was missed, so `object` may be older than the end. */
      readonly finalStateUnknown: boolean;
      /** Of the end, where its own state was refused. */
      readonly resourceVersion?: ResourceVersion | '';
    }
  /** It exists, in a state that was refused: what is known of it stays. */
  | { readonly type: 'refused'; readonly key: string; readonly refused: Refused }
  /** What was refused is to be tried again, as far as it is known by then. */
  | { readonly type: 'retry' }
  /** A list under way: more of its objects, and keys that left it again while it streamed. */
  | {
      readonly type: 'replacing';
      readonly scope?: string;
      readonly objects: readonly T[];
      readonly removed?: readonly string[];
      /** They exist on the server, in a state that was refused: they are not missing. */
      readonly rejected?: readonly Refused[];
    }
  /** The list under way came to nothing. Told on where its parts went through. */
  | { readonly type: 'replace-abort'; readonly scope?: string }
  /** The list is whole: the parts since the last end, and these. */
  | {
      readonly type: 'replaced';
      readonly scope?: string;
      readonly objects: readonly T[];
      /** Its parts went through already, on an empty store: what is known of the scope belongs to the list. */
      readonly flowed?: true;
      readonly rejected?: readonly Refused[];
      readonly resourceVersion: ResourceVersion;
      /** Whether equal versions mean equal content: false when the list is older than what was seen. */
      readonly trustVersions: boolean;
    }
  | {
      readonly type: 'bookmark';
      readonly scope?: string;
      readonly resourceVersion: ResourceVersion;
    };
