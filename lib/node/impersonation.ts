/// <reference types="node" />
/**
 * The headers of impersonation: `as`, `as-uid`, `as-groups` and `as-user-extra`. client-go:
 * transport/round_trippers.go.
 */

/** The fields of a kubeconfig user that request impersonation. */
export interface ImpersonationFields {
  readonly as?: unknown;
  readonly 'as-uid'?: unknown;
  readonly 'as-groups'?: unknown;
  readonly 'as-user-extra'?: unknown;
}

/** Headers by name, in lower case. Each value is sent in a header line of its own. */
export type RepeatedHeaders = Readonly<Record<string, readonly string[]>>;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && !/[\p{Cc}]/u.test(value);
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

/** Encodes text as the bytes of its UTF-8 form, because a server reads these headers as UTF-8. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/**
 * Returns the header name of an extra field. Characters that a header name cannot contain are escaped as in a URL.
 */
function nameOf(key: string): string {
  const escaped = [...Buffer.from(key, 'utf8')].map((byte) => {
    const char = String.fromCharCode(byte);
    return /[!#$&'*+\-.^_`|~\w]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  });
  return `impersonate-extra-${escaped.join('')}`.toLowerCase();
}

/** Returns the headers. Throws a `TypeError` with the field's name if kubectl would refuse the field. */
export function impersonation(user: string, fields: ImpersonationFields): RepeatedHeaders {
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${user}' ${what}`);
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = fields;
  if (as && !isText(as))
    throw refuse('has an invalid as: it must be a string without control characters');
  if (uid && !isText(uid))
    throw refuse('has an invalid as-uid: it must be a string without control characters');
  if (groups && !isTexts(groups))
    throw refuse(
      'has invalid as-groups: they must be a list of strings without control characters',
    );
  const isExtra = typeof extra === 'object' && Object.values(extra ?? {}).every(isTexts);
  if (extra && !isExtra)
    throw refuse(
      'has an invalid as-user-extra: it must be a map of lists of strings without control characters',
    );
  const more = Object.entries((extra ?? {}) as Record<string, readonly string[]>);
  const all: [string, readonly string[]][] = [
    ['impersonate-user', isText(as) && as ? [as] : []],
    ['impersonate-uid', isText(uid) && uid ? [uid] : []],
    ['impersonate-group', isTexts(groups) ? groups : []],
    ...more.map(([key, values]): [string, readonly string[]] => [nameOf(key), values]),
  ];
  const given = all.filter(([, values]) => values.length > 0);
  if (given.length > 0 && !as) {
    throw refuse(
      'has as-groups, as-uid or as-user-extra without as, which names the user to impersonate',
    );
  }
  return Object.fromEntries(given.map(([name, values]) => [name, values.map(bytesOf)]));
}
