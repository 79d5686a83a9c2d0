/**
 * Checks the notifications of one consumer for each UID: add → update* → delete, with versions that never decrease.
 */
import { compareResourceVersion, type KubernetesObject } from 'rx-informer';

interface Life {
  readonly version: string;
  readonly epoch: number;
  readonly ended: boolean;
}

/** Records each inconsistent notification. */
export class Lives {
  readonly #what: string;
  readonly #wrong: string[];
  readonly #lives = new Map<string, Life>();
  #epoch = 0;

  constructor(what: string, wrong: string[]) {
    this.#what = what;
    this.#wrong = wrong;
  }

  /** Notes that the server restored a backup, after which each UID may begin again. */
  restored(): void {
    this.#epoch++;
  }

  add(object: KubernetesObject): void {
    const known = this.#at(object);
    if (known !== undefined)
      this.#fail(known.ended ? 'added after its deletion' : 'added twice', object);
    this.#put(object, false);
  }

  update(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined) this.#fail('updated, but never added', object);
    else if (known.ended) this.#fail('updated after its deletion', object);
    else if (known.epoch === this.#epoch && known.version === object.metadata?.resourceVersion) {
      this.#fail('updated to the same version', object);
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

  /** The known life of an object in this epoch. */
  #at({ metadata }: KubernetesObject): Life | undefined {
    const known = this.#lives.get(metadata?.uid ?? '');
    // An object that was deleted before the restore may exist again.
    return known?.ended && known.epoch < this.#epoch ? undefined : known;
  }

  #later(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined || known.epoch < this.#epoch) return;
    if (compareResourceVersion(object.metadata?.resourceVersion ?? '', known.version) === -1) {
      this.#fail(`is older than ${known.version}`, object);
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
