/** What JSON calls an object: told apart wherever a value of unknown shape comes from outside. */

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
