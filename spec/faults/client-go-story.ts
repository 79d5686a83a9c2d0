/**
 * Passes the calls of client-go's handlers to the judge. client-go identifies objects by name: an object that was
 * deleted and recreated unnoticed is one update. It is passed on as the deletion of one UID and the addition of
 * another, and counted. An update to the same state after a relist is counted, too.
 */
import type { Story, Thing } from './judge.ts';

/** One call of a handler. */
export interface HandlerCall {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly uid?: string;
  readonly version?: string;
  readonly previousUid?: string;
  readonly previousVersion?: string;
}

export interface Retelling {
  hear(call: HandlerCall): void;
  /** The number of updates from one UID to another. */
  readonly replaced: number;
  /** The number of updates to the same version. */
  readonly repeated: number;
}

/**
 * Creates the translation for one story. `known` returns the recorded state with a UID and version, or a placeholder
 * if the server never had it.
 */
export function retell(
  story: Story,
  known: (metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  }) => Thing,
): Retelling {
  const counts = { replaced: 0, repeated: 0 };
  const thing = (key: string, uid = '', resourceVersion = '0') => {
    const [namespace = '', name = ''] = key.split('/');
    return known({ namespace, name, uid, resourceVersion });
  };
  /** The object of the consumer, if it has the given version. */
  const had = (given: Thing) => {
    const { uid, resourceVersion } = given.metadata;
    const has = story.has.get(uid);
    return has?.metadata.resourceVersion === resourceVersion ? has : given;
  };
  return {
    get replaced() {
      return counts.replaced;
    },
    get repeated() {
      return counts.repeated;
    },
    hear({ type, key, uid, version, previousUid, previousVersion }) {
      const object = thing(key, uid, version);
      if (type === 'add') return story.add(object);
      if (type === 'delete') {
        const { uid: ended } = object.metadata;
        return story.delete(ended, story.has.get(ended) ?? object, object);
      }
      const before = had(thing(key, previousUid, previousVersion));
      if (previousUid !== uid) {
        counts.replaced++;
        story.delete(before.metadata.uid, before, before);
        return story.add(object);
      }
      if (previousVersion === version) counts.repeated++;
      return story.update(before, object);
    },
  };
}
