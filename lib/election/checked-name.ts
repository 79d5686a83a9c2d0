/** Validates the names of Leases and of their namespaces, so that an impossible one fails when it is given. */

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Throws a `TypeError` that names the option unless the value is a name of at most `most` characters. */
export function checkName(value: unknown, option: string, most: number): void {
  if (typeof value === 'string' && value.length <= most && NAME.test(value)) return;
  throw new TypeError(
    `${option} is ${JSON.stringify(value)}; it must be a name of at most ${most} lower-case letters, digits, '-' and '.'`,
  );
}
