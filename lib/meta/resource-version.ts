/**
 * resourceVersions are decimal strings of any length. They are compared by length, then lexically, and
 * never pass through `Number`, which merges versions above 2^53.
 * client-go: apimachinery/pkg/util/resourceversion.
 */

declare const brand: unique symbol;

/** A version as the server gave it. Parse it nowhere else. */
export type ResourceVersion = string & { readonly [brand]?: true };

/** Whether a value is a version that can be compared: decimal, not zero, no leading zero. */
export function isResourceVersion(value: unknown): value is ResourceVersion {
  return typeof value === 'string' && /^[1-9][0-9]*$/.test(value);
}

/**
 * Negative when `a` is older than `b`, zero when equal, positive when newer; `undefined` when either is no
 * comparable version ('', '0', leading zeros, other text).
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
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}

/** Whether `a` is known to be older than `b`; false when they cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  return compareResourceVersion(a, b) === -1;
}
