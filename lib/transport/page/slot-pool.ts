/** The slots for the streams of one origin: shared by all tabs through Web Locks, or by the clients of one page. */

/** A set of slots that several users share. Waiting users get slots in the order of their requests. */
export interface SlotPool {
  /**
   * Requests one slot of `most`, and calls `granted` once with it, perhaps synchronously. `lost` is called if it is
   * taken away later. The returned function withdraws the request; it does not return a slot that was granted.
   */
  acquire(most: number, granted: (slot: Slot) => void, lost: (slot: Slot) => void): () => void;
  /** Whether somebody waits for a slot. */
  contended(): Promise<boolean>;
}

/** A slot. Only the first call of `release` counts. */
export interface Slot {
  release(): void;
}

/** The part of `navigator.locks` that is used. */
export interface Locks {
  request(
    name: string,
    options: { readonly signal: AbortSignal },
    callback: () => Promise<void> | undefined,
  ): Promise<unknown>;
  query(): Promise<{ readonly pending?: readonly { readonly name?: string }[] }>;
}

/** A pool for one page. */
export function pagePool(): SlotPool {
  let held = 0;
  const waiting = new Set<{ readonly most: number; grant(): void }>();
  const serve = () => {
    for (const each of [...waiting]) {
      if (held >= each.most || !waiting.has(each)) continue;
      held++;
      waiting.delete(each);
      each.grant();
    }
  };
  return {
    acquire(most, granted) {
      let released = false;
      const release = () => {
        if (released) return;
        released = true;
        held--;
        serve();
      };
      const request = { most, grant: () => granted({ release }) };
      waiting.add(request);
      serve();
      return () => waiting.delete(request);
    },
    contended: () => Promise.resolve(waiting.size > 0),
  };
}

/** More slots than this are not shared with other tabs: the browser has fewer connections, so the limit has no use. */
const MOST_LOCKS = 64;

/**
 * A pool over all tabs. Each slot is a lock with a name, which the browser releases if its tab crashes. If the browser
 * refuses locks, as to a page without an origin, `ofPage` is used instead.
 */
export function lockPool(locks: Locks, prefix: string, ofPage: SlotPool): SlotPool {
  const name = (at: number) => `${prefix} ${at}`;
  let refused = false;
  return {
    acquire(most, granted, lost) {
      if (refused || most > MOST_LOCKS) return ofPage.acquire(most, granted, lost);
      let done = false;
      let failures = 0;
      let cancel: (() => void) | undefined;
      const abort = new AbortController();
      const withdraw = () => {
        done = true;
        abort.abort();
        cancel?.();
      };
      for (let at = 0; at < most; at++) {
        let slot: Slot | undefined;
        const hold = () => {
          // Two locks may be granted at the same time.
          if (done) return undefined;
          withdraw();
          return new Promise<void>((resolve) => {
            slot = { release: resolve };
            granted(slot);
          });
        };
        const failed = () => {
          if (slot !== undefined) return lost(slot);
          failures++;
          if (done || failures < most) return;
          refused = true;
          cancel = ofPage.acquire(most, granted, lost);
        };
        locks.request(name(at), { signal: abort.signal }, hold).catch(failed);
      }
      return withdraw;
    },
    async contended() {
      if (refused) return ofPage.contended();
      const { pending = [] } = await locks.query();
      return pending.some((each) => each.name?.startsWith(`${prefix} `));
    },
  };
}

const pagePools = /* @__PURE__ */ new Map<string, SlotPool>();

/** The pool of a page for one server, which all clients in the page share. */
function pagePoolOf(origin: string): SlotPool {
  const pool = pagePools.get(origin) ?? pagePool();
  pagePools.set(origin, pool);
  return pool;
}

/** Returns the pool for the streams of a server. `navigator.locks` is absent on plain HTTP, except on localhost. */
export function poolOf(origin: string): SlotPool {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks } };
  const locks = navigator?.locks;
  const ofPage = pagePoolOf(origin);
  return locks === undefined ? ofPage : lockPool(locks, `rx-informer ${origin}`, ofPage);
}
