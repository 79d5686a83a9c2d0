/** JSON Merge Patch, RFC 7386: objects merge, `null` removes, all else replaces. */

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
