/** Injects faults between the server and its clients, one after another, until it is healed. */
import type { FakeApiServer, Fault } from 'rx-informer/testing';
import type { SchedulerLike, Subscription } from 'rxjs';

export interface Troubles {
  readonly played: number;
  heal(): void;
}

export function troubles(
  server: FakeApiServer,
  options: {
    readonly scheduler: SchedulerLike;
    readonly random: () => number;
    /** The average time between two faults, in milliseconds. */
    readonly meanMs: number;
    /** The longest duration of a fault, in milliseconds. */
    readonly maxForMs: number;
  },
): Troubles {
  const { scheduler, random, meanMs, maxForMs } = options;
  const { faults, objects } = server;
  const watch = { use: 'watch' } as const;
  const kinds: readonly (() => Fault | undefined)[] = [
    () => void faults.dropWatches(),
    () => void faults.closeWatches(),
    () => void faults.expireWatches(),
    () => void objects.compact(),
    () => void faults.sendRaw('{"type":"ADDED","obj\n'),
    () => void faults.emitError({ code: 500, reason: 'InternalError' }),
    () => faults.failNext(watch, { status: 500, times: 2 }),
    () => faults.failNext(undefined, { status: 429, retryAfterSeconds: 1, times: 2 }),
    () => faults.failNext(watch, { status: 502, body: '<html>', contentType: 'text/html' }),
    () => faults.truncateNext(),
    () => faults.refuse(),
    () => faults.silence(),
    () => faults.halfOpen(),
    () => faults.delay(500),
    () => faults.withoutBookmarks(),
    () => faults.neverAnswer(watch),
  ];
  let played = 0;
  let next: Subscription | undefined;
  const again = () => {
    next = scheduler.schedule(
      () => {
        played++;
        const fault = kinds[Math.floor(random() * kinds.length)]?.();
        if (fault !== undefined) scheduler.schedule(() => fault.heal(), random() * maxForMs);
        again();
      },
      -Math.log(1 - random()) * meanMs,
    );
  };
  again();
  return {
    get played() {
      return played;
    },
    heal() {
      next?.unsubscribe();
      faults.healAll();
    },
  };
}
