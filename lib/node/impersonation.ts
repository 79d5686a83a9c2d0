/// <reference types="node" />
/** Who is acted as: `as`, `as-uid`, `as-groups` and `as-user-extra`. client-go: transport/round_trippers.go. */

/** What a user of a kubeconfig says of it. */
export interface ImpersonationFields {
  readonly as?: unknown;
  readonly 'as-uid'?: unknown;
  readonly 'as-groups'?: unknown;
  readonly 'as-user-extra'?: unknown;
}

/** Headers by name in lower case; those of several values are sent as a line each. */
export type RepeatedHeaders = Readonly<Record<string, readonly string[]>>;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && !/[\p{Cc}]/u.test(value);
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

/** Header values are bytes, and a server reads these as UTF-8. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/** What may not stand in a header's name is escaped as in a URL. */
function nameOf(key: string): string {
  const escaped = [...Buffer.from(key, 'utf8')].map((byte) => {
    const char = String.fromCharCode(byte);
    return /[!#$&'*+\-.^_`|~\w]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  });
  return `impersonate-extra-${escaped.join('')}`.toLowerCase();
}

/** The headers. Throws a `TypeError` on what kubectl refuses, with the field's name. */
export function impersonation(user: string, fields: ImpersonationFields): RepeatedHeaders {
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${user}' ${what}`);
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = fields;
  if (as && !isText(as)) throw refuse('has an as that is not text');
  if (uid && !isText(uid)) throw refuse('has an as-uid that is not text');
  if (groups && !isTexts(groups)) throw refuse('has as-groups that are not a list of texts');
  const isExtra = typeof extra === 'object' && Object.values(extra ?? {}).every(isTexts);
  if (extra && !isExtra) throw refuse('has an as-user-extra that is not a map of lists of texts');
  const more = Object.entries((extra ?? {}) as Record<string, readonly string[]>);
  const all: [string, readonly string[]][] = [
    ['impersonate-user', isText(as) && as ? [as] : []],
    ['impersonate-uid', isText(uid) && uid ? [uid] : []],
    ['impersonate-group', isTexts(groups) ? groups : []],
    ...more.map(([key, values]): [string, readonly string[]] => [nameOf(key), values]),
  ];
  const said = all.filter(([, values]) => values.length > 0);
  if (said.length > 0 && !as) {
    throw refuse(
      'has as-groups, as-uid or as-user-extra without as, which names the user to impersonate',
    );
  }
  return Object.fromEntries(said.map(([name, values]) => [name, values.map(bytesOf)]));
}
