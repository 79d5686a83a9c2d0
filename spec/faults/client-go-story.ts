/**
 * What client-go's handlers hear, told to the judge. By design it knows objects by name: one that was deleted and recreated
 * unseen is one update to it, which is the end of one UID and the start of another here, and counted. So is an object that
 * a relist tells again as it was.
 */
import type { Story, Thing } from './judge.ts';

/** One call of a handler. */
export interface Told {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly uid?: string;
  readonly version?: string;
  readonly previousUid?: string;
  readonly previousVersion?: string;
}

export interface Retelling {
  hear(told: Told): void;
  /** Updates from one UID to another. */
  readonly replaced: number;
  /** Updates to the version that was there. */
  readonly repeated: number;
}

/** `known` is the state of the truth that has this UID and version, or one that the server never had. */
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
  /** What the consumer has, if it is what is meant. */
  const had = (meant: Thing) => {
    const { uid, resourceVersion } = meant.metadata;
    const has = story.has.get(uid);
    return has?.metadata.resourceVersion === resourceVersion ? has : meant;
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
