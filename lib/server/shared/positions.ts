/// <reference types="node" />
/**
 * How far the rows of a page are: the versions of the informers, sealed, so that the page can carry them to the next server and
 * learns nothing of them. A version says how much is written, also of what the page may not read.
 */
import { check } from '../../checks/checked-option.ts';
import { isResourceVersion } from '../../meta/resource-version.ts';

/** The modules of Node that are used. They are not imported, because bundlers for pages read this entry, too. */
interface Modules {
  readonly 'node:buffer': typeof import('node:buffer');
  readonly 'node:crypto': typeof import('node:crypto');
}

function moduleOf<Name extends keyof Modules>(name: Name): Modules[Name] {
  const found: Modules[Name] | undefined = globalThis.process?.getBuiltinModule?.(name);
  if (found !== undefined) return found;
  throw new TypeError(`serveUsers: sharedSecret needs ${name}, as Node, Bun and Deno have it`);
}

/** The version of each kind, by a text that names the kind. */
export type Versions = ReadonlyMap<string, string>;

const LEAST_SECRET = 32;
const METHOD = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The beginning of the hash of a kind, then its version, so that the length says nothing. */
const NAME_BYTES = 4;
const ENTRY_BYTES = 12;
const MOST_VERSION = 0xffff_ffff_ffff_ffffn;

export class Positions {
  readonly #crypto: Modules['node:crypto'];
  readonly #Buffer: Modules['node:buffer']['Buffer'];
  readonly #key: import('node:crypto').KeyObject;
  readonly #names = new Map<string, string>();

  /** Throws a `TypeError` if the secret is none, and where there is no `node:crypto`. */
  constructor(secret: string) {
    const isLong = typeof secret === 'string' && secret.length >= LEAST_SECRET;
    // Not shown in the error.
    check(isLong, 'serveUsers: sharedSecret', typeof secret, 'a text of at least 32 characters');
    this.#crypto = moduleOf('node:crypto');
    this.#Buffer = moduleOf('node:buffer').Buffer;
    const hash = this.#crypto.createHash('sha256').update(secret).digest();
    // With the bytes in place of such a key a seal takes four times as long.
    this.#key = this.#crypto.createSecretKey(hash);
  }

  /** A text that only servers with the secret can read, another one each time. */
  seal(versions: Versions): string {
    const plain = this.#Buffer.alloc(versions.size * ENTRY_BYTES);
    let at = 0;
    for (const [kind, version] of versions) {
      const number = isResourceVersion(version) ? BigInt(version) : 0n;
      plain.write(this.#nameOf(kind), at, 'latin1');
      // One that has no order cannot be waited for.
      plain.writeBigUInt64BE(number <= MOST_VERSION ? number : 0n, at + NAME_BYTES);
      at += ENTRY_BYTES;
    }
    const nonce = this.#crypto.randomBytes(NONCE_BYTES);
    const cipher = this.#crypto.createCipheriv(METHOD, this.#key, nonce);
    const sealed = this.#Buffer.concat([cipher.update(plain), cipher.final()]);
    return this.#Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** The versions of these kinds in a text that a server has sealed. What else a page sends has none. */
  open(text: unknown, kinds: Iterable<string>): Versions {
    const versions = new Map<string, string>();
    if (typeof text !== 'string') return versions;
    const bytes = this.#Buffer.from(text, 'base64url');
    const start = NONCE_BYTES + TAG_BYTES;
    let opened: InstanceType<Modules['node:buffer']['Buffer']>;
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const cipher = this.#crypto.createDecipheriv(METHOD, this.#key, nonce, {
        authTagLength: TAG_BYTES,
      });
      cipher.setAuthTag(bytes.subarray(NONCE_BYTES, start));
      opened = this.#Buffer.concat([cipher.update(bytes.subarray(start)), cipher.final()]);
    } catch {
      return versions;
    }
    const found = new Map<string, bigint>();
    for (let at = 0; at + ENTRY_BYTES <= opened.length; at += ENTRY_BYTES) {
      const name = opened.toString('latin1', at, at + NAME_BYTES);
      found.set(name, opened.readBigUInt64BE(at + NAME_BYTES));
    }
    for (const kind of kinds) {
      const version = found.get(this.#nameOf(kind)) ?? 0n;
      if (version > 0n) versions.set(kind, String(version));
    }
    return versions;
  }

  #nameOf(kind: string): string {
    const known = this.#names.get(kind);
    if (known !== undefined) return known;
    const hash = this.#crypto.createHash('sha256').update(kind).digest();
    const name = hash.toString('latin1', 0, NAME_BYTES);
    this.#names.set(kind, name);
    return name;
  }
}
