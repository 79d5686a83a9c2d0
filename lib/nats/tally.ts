/**
 * The number of the objects of a scope, and a digest of their states. A record carries both, so that a reader which
 * has the same digest has the same objects in the same versions.
 */

/** The names and the state of an object: what the digest covers. */
export interface CountedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
}

/** The text of a state within a session and a digest. */
export function stateOf({ uid, version }: Pick<CountedObject, 'uid' | 'version'>): string {
  return `${uid}/${version}`;
}

/** The last step of MurmurHash3. Without it the sums of similar texts would be similar. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

function hex(sum: number): string {
  return (sum >>> 0).toString(16).padStart(8, '0');
}

/**
 * Counts objects. The digest is the sum of the hashes of all states, so it does not depend on the order of changes, and
 * a change costs the same however many objects there are. It finds differences that happen; it is no signature.
 */
export class Tally {
  #count = 0;
  #high = 0;
  #low = 0;

  get count(): number {
    return this.#count;
  }

  /** 16 hexadecimal digits. */
  get digest(): string {
    return hex(this.#high) + hex(this.#low);
  }

  copy(): Tally {
    const copy = new Tally();
    copy.#count = this.#count;
    copy.#high = this.#high;
    copy.#low = this.#low;
    return copy;
  }

  /** Replaces the state of a key; `undefined` stands for no object. */
  replace(key: string, before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (before !== undefined) this.#add(`${key} ${before}`, -1);
    if (after !== undefined) this.#add(`${key} ${after}`, 1);
  }

  #add(text: string, sign: 1 | -1): void {
    let high = 0x811c9dc5;
    let low = 0x9747b28c;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ unit, 0x5bd1e995);
    }
    this.#count += sign;
    this.#high = (this.#high + sign * mixed(high)) | 0;
    this.#low = (this.#low + sign * mixed(low)) | 0;
  }
}
