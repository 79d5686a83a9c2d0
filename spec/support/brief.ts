/**
 * Formats a change set as one line: `relist* -web@3? +db@5 ~api@1>2`. `*` means synced, `!` reset, `?` that the last
 * state is unknown.
 */
import type { ChangeSet } from 'rx-informer';
import type { Pod } from './scripted-list-watch.ts';

export function brief(set: ChangeSet<Pod>): string {
  const version = (object: Pod | undefined) => object?.metadata.resourceVersion ?? '';
  const words = set.changes.map(({ key, previous, object, last, finalStateUnknown }) => {
    const name = key.replace(/^shop\//, '');
    if (object === undefined) return `-${name}@${version(last)}${finalStateUnknown ? '?' : ''}`;
    if (previous === undefined) return `+${name}@${version(object)}`;
    return `~${name}@${version(previous)}>${version(object)}`;
  });
  const marks = `${set.synced ? '*' : ''}${set.reset ? '!' : ''}`;
  return [`${set.cause}${marks}`, ...words].join(' ');
}
