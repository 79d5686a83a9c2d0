/** JSON Merge Patch, RFC 7386: objects are merged, `null` removes a field, other values replace. */
import { type Fields, isFields } from '../../meta/json-fields.ts';

/** An own property, because a patch must not reach inherited ones. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Returns `target` after `patch`, without changing either. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(own(merged, name), value);
  }
  return merged;
}
