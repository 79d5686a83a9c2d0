/** The one JSON text of a value. */

/** JSON with the fields of each object sorted. Functions and `undefined` are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    const fields = Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}
