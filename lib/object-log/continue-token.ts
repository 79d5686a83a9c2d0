/**
 * The `continue` token of a paged list.
 * client-go: apiserver/pkg/storage/continue.go.
 */
import { badRequest } from './failures.ts';

/** `version` is that of the first page, or -1 for the newest; `start` is the key at which the next page begins. */
export function writeToken(version: bigint, start: string): string {
  const text = `{"v":"meta.k8s.io/v1","rv":${version},"start":${JSON.stringify(`${start}\0`)}}`;
  // btoa takes no letters above U+00FF, which a name may contain.
  const latin = text.replace(
    /[\u0100-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return btoa(latin).replace(/=+$/, '').replace(/\+/g, '-').replace(/\//g, '_');
}

/** Reads a token. Throws a 400 if it cannot be read. */
export function readToken(token: string): { version: bigint; start: string } {
  try {
    const text = atob(token.replace(/-/g, '+').replace(/_/g, '/'));
    // JSON.parse would round versions above 2^53.
    const version = /"rv":(-?[0-9]+)/.exec(text)?.[1];
    const { v, start } = JSON.parse(text) as { v: unknown; start: unknown };
    if (v === 'meta.k8s.io/v1' && typeof start === 'string' && version !== undefined) {
      return { version: BigInt(version), start };
    }
  } catch {
    // Every unreadable token gets the same failure, below.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
