/**
 * The guards of a client's watches. Their code is loaded for the first watch, which does not wait for it: it is guarded
 * from the moment when the code has arrived, and fails if it cannot be loaded.
 */
import type { Subscriber } from 'rxjs';
import { Drain } from '../../rx/drain.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { missingCode } from '../missing-code.ts';
import { isHidden } from '../page/page-life.ts';
import { sendSuccessful } from '../response.ts';
import type { TransportEvent } from '../transport.ts';
import type { GuardTools } from './liveness.ts';
import type { createGuards, GuardedWatch, ServerGuards } from './server-guards.ts';

// Kept, because a promise is never synchronous, and later watches are guarded from their beginning.
let loaded: typeof createGuards | undefined;

/** Loads the code of the guards. If that fails, the next call requests it again. */
export async function loadGuards(): Promise<typeof createGuards> {
  loaded = (await import('./server-guards.ts')).createGuards;
  return loaded;
}

type ClientParts = Pick<GuardTools, 'client' | 'livenessMs' | 'scheduler'>;

/** The guards of the watches of one client. */
export class WatchGuards {
  /** What they have found out; absent until their code was loaded. */
  found: ServerGuards | undefined;
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Guards a watch until its subscriber unsubscribes. Returns what to call for each event of its response. */
  guard(watch: GuardedWatch, subscriber: Subscriber<unknown>): (event: TransportEvent) => void {
    let notice: ((event: TransportEvent) => void) | undefined;
    /** The state of the response: the last event before its chunks, and the last chunk. */
    let missed: readonly TransportEvent[] = [];
    const join = (create: typeof createGuards) => {
      if (subscriber.closed) return;
      const tools = { stopwatch, longTimer, sendSuccessful, isHidden };
      this.found ??= create({ ...this.#parts, ...tools, drain: new Drain() });
      notice = this.found.guard(watch, subscriber);
      missed.forEach(notice);
    };
    // An unguarded watch would look live after its server is gone, so it fails, and is requested again.
    const lost = (error: unknown) => watch.fail('Network', missingCode('guards', error));
    if (loaded === undefined) loadGuards().then(join, lost);
    else join(loaded);
    return (event) => {
      if (notice !== undefined) notice(event);
      else missed = event.kind === 'chunk' ? [...missed.slice(0, 1), event] : [event];
    };
  }
}

const GUARDS = /* @__PURE__ */ Symbol('guards');

/** Adds guards to a client. Returns the client. */
export function guarded<C extends GuardTools['client']>(
  client: C,
  parts: Omit<ClientParts, 'client'>,
): C {
  return Object.assign(client, { [GUARDS]: new WatchGuards({ ...parts, client }) });
}

/** The guards of a client; `undefined` if it was not made by `createClient`. */
export function guardsOf(client: object): WatchGuards | undefined {
  return (client as { readonly [GUARDS]?: WatchGuards })[GUARDS];
}
