/** The story of each UID as one consumer was told it: add → update* → delete, and versions that never go back. */
import { compareResourceVersion, type KubernetesObject } from 'rx-informer';

interface Life {
  readonly version: string;
  readonly epoch: number;
  readonly ended: boolean;
}

/** Notes what is no story. */
export class Lives {
  readonly #what: string;
  readonly #wrong: string[];
  readonly #lives = new Map<string, Life>();
  #epoch = 0;

  constructor(what: string, wrong: string[]) {
    this.#what = what;
    this.#wrong = wrong;
  }

  /** The server went back to a backup: once more each UID may begin anywhere. */
  restored(): void {
    this.#epoch++;
  }

  add(object: KubernetesObject): void {
    const known = this.#at(object);
    if (known !== undefined)
      this.#fail(known.ended ? 'added after its end' : 'added twice', object);
    this.#put(object, false);
  }

  update(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined) this.#fail('updated, but never added', object);
    else if (known.ended) this.#fail('updated after its end', object);
    else if (known.epoch === this.#epoch && known.version === object.metadata?.resourceVersion) {
      this.#fail('updated to the version that it had', object);
    }
    this.#later(object);
    this.#put(object, false);
  }

  delete(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined) this.#fail('deleted, but never added', object);
    else if (known.ended) this.#fail('deleted twice', object);
    this.#later(object);
    this.#put(object, true);
  }

  /** What is known of it in this epoch. */
  #at({ metadata }: KubernetesObject): Life | undefined {
    const known = this.#lives.get(metadata?.uid ?? '');
    // What ended before the backup was brought back may live again.
    return known?.ended && known.epoch < this.#epoch ? undefined : known;
  }

  #later(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined || known.epoch < this.#epoch) return;
    if (compareResourceVersion(object.metadata?.resourceVersion ?? '', known.version) === -1) {
      this.#fail(`goes back from ${known.version}`, object);
    }
  }

  #put({ metadata }: KubernetesObject, ended: boolean): void {
    const version = metadata?.resourceVersion ?? '';
    this.#lives.set(metadata?.uid ?? '', { version, epoch: this.#epoch, ended });
  }

  #fail(what: string, { metadata }: KubernetesObject): void {
    const { namespace, name, uid, resourceVersion } = metadata ?? {};
    this.#wrong.push(`${this.#what}: ${namespace}/${name} ${uid}@${resourceVersion} ${what}`);
  }
}
