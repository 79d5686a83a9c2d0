/** A digest of a store: of the keys and versions of its objects, in any order, updated with each change. */

function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16777619);
  return value >>> 0;
}

export class Digest {
  #one = 0;
  #two = 0;
  readonly #versions = new Map<string, string>();

  /** Notes the new version of a key; `undefined` if it was deleted. Returns the version that it had. */
  set(key: string, version: string | undefined): string | undefined {
    const before = this.#versions.get(key);
    if (before !== undefined) this.#flip(key, before);
    if (version === undefined) this.#versions.delete(key);
    else {
      this.#versions.set(key, version);
      this.#flip(key, version);
    }
    return before;
  }

  get text(): string {
    return `${this.#versions.size}:${this.#one.toString(36)}:${this.#two.toString(36)}`;
  }

  #flip(key: string, version: string): void {
    const text = `${key}@${version}`;
    this.#one = (this.#one ^ hash(text, 0x811c9dc5)) >>> 0;
    this.#two = (this.#two ^ hash(text, 0x2545f491)) >>> 0;
  }
}
