/** Finds other processes with the identity of this one: they win the same slots, so all but one of them own none. */
import type { RingMember, SeenLease } from './ring-member.ts';
import { identityOf } from './ring-record.ts';

/** Compares the lists of one process. */
export class Twins {
  /** The Leases of other ids with the same identity, each with its version; '' if it was reported. */
  readonly #seen = new Map<string, string>();

  /** Returns whether another process renews a Lease under the identity of the member, once for each such Lease. */
  find({ id: own, former }: RingMember, leases: readonly SeenLease[]): boolean {
    let found = false;
    for (const { id, version } of leases) {
      const isOwn = id === own || former.has(id);
      const known = this.#seen.get(id);
      if (isOwn || known === '' || identityOf(id) !== identityOf(own)) continue;
      // The Lease of a process that has ended is renewed no more.
      const isAlive = known !== undefined && known !== version;
      this.#seen.set(id, isAlive ? '' : version);
      found ||= isAlive;
    }
    return found;
  }
}
