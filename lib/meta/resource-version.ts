/**
 * Compares resourceVersions, which are decimal strings of any length: by length, then lexically. They are never
 * converted with `Number`, which rounds versions above 2^53. client-go: apimachinery/pkg/util/resourceversion.
 */

declare const brand: unique symbol;

/** A version as received from the server. Do not parse it; compare it with {@link compareResourceVersion}. */
export type ResourceVersion = string & { readonly [brand]?: true };

/** Whether a value is a version that can be compared: decimal, not zero, without leading zeros. */
export function isResourceVersion(value: unknown): value is ResourceVersion {
  return typeof value === 'string' && /^[1-9][0-9]*$/.test(value);
}

/**
 * Returns -1 if `a` is older than `b`, 0 if they are equal, 1 if `a` is newer, and `undefined` if one of them cannot
 * be compared ('', '0', leading zeros, other text).
 *
 * @example
 * ```ts
 * import { compareResourceVersion } from 'rx-informer';
 *
 * compareResourceVersion('9', '10'); // => -1
 * compareResourceVersion('9007199254740993', '9007199254740992'); // => 1
 * compareResourceVersion('', '10'); // => undefined
 * ```
 */
export function compareResourceVersion(a: string, b: string): -1 | 0 | 1 | undefined {
  if (!isResourceVersion(a) || !isResourceVersion(b)) return undefined;
  if (a === b) return 0;
  return isBefore(a, b) ? -1 : 1;
}

/** The order of versions, for values that need not be versions. */
function isBefore(a: string, b: string): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

/** Whether `a` is known to be older than `b`; false if they cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  // The texts are compared first, because every event is compared with what is known, and hardly any is older.
  return isBefore(a, b) && isResourceVersion(a) && isResourceVersion(b);
}
