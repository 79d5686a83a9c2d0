/**
 * The layout of a bucket: the stream, the subjects of objects and of `_meta`, and the headers. A bucket is a JetStream
 * stream with the layout of a NATS key-value bucket, so that the tools for these buckets can show it.
 */
import { checkedText } from '../checks/checked-option.ts';
import type { GroupVersionResource } from '../meta/resource.ts';

/** The last token of the subject of a `_meta` record. Names of objects are escaped, so that none of them is `_meta`. */
const META = '_meta';
/** The token in place of a namespace: for cluster-scoped objects, and for the record of a complete collection. */
export const NO_NAMESPACE = '_';

/** The headers of a message. `operation` is that of NATS key-value buckets, and `ttl` is read by the server. */
export const HEADERS = {
  operation: 'KV-Operation',
  ttl: 'Nats-TTL',
  uid: 'Kube-UID',
  version: 'Kube-Resource-Version',
  content: 'Kube-Content',
} as const;

/** The value of {@link HEADERS}`.operation` on the message of a deleted object. */
export const DELETE = 'DEL';

/** Returns the name of a bucket or a consumer. Throws a `TypeError` if it is not valid in a subject. */
export function checkedToken(name: string, what: string): string {
  return checkedText(name, what, /^[A-Za-z0-9_-]+$/, "text of letters, digits, '-' and '_'");
}

/** Returns the name of a content. Throws a `TypeError` if a header would change it. */
export function checkedContent(content: string | undefined, what: string): string | undefined {
  if (content === undefined) return content;
  return checkedText(content, what, /^\S(.*\S)?$/, 'one line without blanks at its ends');
}

/** The name of the stream of a bucket. */
export function streamOf(bucket: string): string {
  return `KV_${bucket}`;
}

/** All subjects of a bucket. */
export function bucketSubjects(bucket: string): string {
  return `$KV.${bucket}.>`;
}

/**
 * Escapes a name as one token of a subject. Letters, digits, `-` and `_` remain. Each other byte becomes `=` and two
 * hexadecimal digits, a dot for example `=2E`. A leading `_` becomes `=5F`, because `_` and `_meta` have meanings of
 * their own.
 */
export function escapeToken(name: string): string {
  let token = '';
  for (const byte of new TextEncoder().encode(name)) {
    const char = String.fromCharCode(byte);
    const isPlain = /[A-Za-z0-9-]/.test(char) || (char === '_' && token !== '');
    token += isPlain ? char : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return token;
}

/** The reverse of {@link escapeToken}. Returns `undefined` if the token is not one that `escapeToken` returns. */
export function unescapeToken(token: string): string | undefined {
  const bytes: number[] = [];
  for (let at = 0; at < token.length; at++) {
    if (token[at] !== '=') bytes.push(token.charCodeAt(at));
    else {
      bytes.push(Number.parseInt(token.slice(at + 1, at + 3), 16));
      at += 2;
    }
  }
  const name = new TextDecoder().decode(Uint8Array.from(bytes));
  return escapeToken(name) === token ? name : undefined;
}

/** The subjects of one collection start with this prefix and a dot. */
export function collectionPrefix(
  bucket: string,
  { group, plural }: Pick<GroupVersionResource, 'group' | 'plural'>,
): string {
  // An API group may be called `core`, too.
  const token = group === 'core' ? '=63ore' : escapeToken(group) || 'core';
  return `$KV.${bucket}.${token}.${escapeToken(plural)}`;
}

function namespaceToken(namespace: string): string {
  return namespace === '' ? NO_NAMESPACE : escapeToken(namespace);
}

/** The filter for the messages of one namespace; '' for the complete collection. */
export function scopeFilter(prefix: string, namespace: string): string {
  return namespace === '' ? `${prefix}.>` : `${prefix}.${namespaceToken(namespace)}.>`;
}

/** The subject of an object. */
export function objectSubject(prefix: string, namespace: string, name: string): string {
  return `${prefix}.${namespaceToken(namespace)}.${escapeToken(name)}`;
}

/** The subject of the `_meta` record of a namespace; '' for the complete collection. */
export function metaSubject(prefix: string, namespace: string): string {
  return `${prefix}.${namespaceToken(namespace)}.${META}`;
}

/** The meaning of a subject. */
export type SubjectMeaning =
  | { readonly kind: 'meta'; readonly namespace: string }
  | { readonly kind: 'object'; readonly namespace: string; readonly name: string };

/** Reads a subject of a collection. Returns `undefined` if the subject is not one of this layout. */
export function readSubject(prefix: string, subject: string): SubjectMeaning | undefined {
  if (!subject.startsWith(`${prefix}.`)) return undefined;
  const tokens = subject.slice(prefix.length + 1).split('.');
  const [first = '', last = ''] = tokens;
  if (tokens.length !== 2 || first === '') return undefined;
  const namespace = first === NO_NAMESPACE ? '' : unescapeToken(first);
  if (namespace === undefined) return undefined;
  if (last === META) return { kind: 'meta', namespace };
  const name = unescapeToken(last);
  return name === undefined || name === '' ? undefined : { kind: 'object', namespace, name };
}
