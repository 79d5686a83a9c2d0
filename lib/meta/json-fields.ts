/** Recognizes JSON objects among values of unknown shape. */

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object and not an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
