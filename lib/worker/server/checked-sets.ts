/** Checks what the stream of a named query emits: change sets, and not many rows with complete objects. */
import type { Change } from '../../delta/net-change.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { MOST_OBJECTS } from '../carried-query.ts';

function isObject(value: unknown): boolean {
  return (
    isFields(value) && isFields(value['metadata']) && typeof value['metadata']['uid'] === 'string'
  );
}

/** Whether a row is a complete object, or has one in a field, as a row of a join has, or in a list. */
function hasObject(row: unknown): boolean {
  if (!isFields(row)) return false;
  const first = (value: unknown) => (Array.isArray(value) ? value[0] : value);
  return isObject(row) || Object.values(row).some((value) => isObject(first(value)));
}

/** By how much a set changes the number of rows. */
function growth(changes: readonly Change<unknown>[]): number {
  let grown = 0;
  for (const { previous, object } of changes) {
    if (object === undefined) grown--;
    else if (previous === undefined) grown++;
  }
  return grown;
}

/**
 * The check of one run. It throws a `TypeError` on what is no change set, and on more than {@link MOST_OBJECTS} rows with complete
 * objects, because copies of those are costly.
 */
export function checkedSets(where: string): (set: AnyChangeSet<unknown>) => void {
  let size = 0;
  return (set) => {
    const changes: unknown = (set as Partial<AnyChangeSet<unknown>> | undefined)?.changes;
    if (!Array.isArray(changes)) {
      throw new TypeError(
        `${where}: its stream emits ${Array.isArray(set) ? 'an array' : typeof set === 'object' ? 'an object' : JSON.stringify(set)} that is no change set; use live operators, such as liveMap, to change rows`,
      );
    }
    size = growth(changes) + (set.reset ? 0 : size);
    if (size <= MOST_OBJECTS) return;
    const row = set.changes.find(({ object }) => object !== undefined)?.object;
    if (!hasObject(row)) return;
    throw new TypeError(
      `${where}: its stream has ${size} rows with complete objects, and at most ${MOST_OBJECTS} are sent to a tab; select columns in the query or by liveMap, or end the stream by liveWindow`,
    );
  };
}
