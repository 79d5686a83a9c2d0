/** JSON Merge Patch, RFC 7386: objects merge, `null` removes, all else replaces. */
import { type Fields, isFields } from '../../meta/json-fields.ts';

/** The own property of that name: a patch must not reach what objects inherit. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** What `target` is after `patch`; neither is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(own(merged, name), value);
  }
  return merged;
}
