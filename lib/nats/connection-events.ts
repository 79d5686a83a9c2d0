/** Reports when a connection to NATS is lost and when it is back, to any number of subscribers. */
import type { NatsConnection } from '@nats-io/nats-core';
import { firstValueFrom, race, Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';

/** What happens to a connection. */
export interface ConnectionEvents {
  /** Emits, in words, each time the connection is lost or closed. Never completes. */
  readonly lost$: Subject<string>;
  /** Emits each time the connection is back. Never completes. */
  readonly back$: Subject<void>;
  /** Whether the connection is lost at the moment. A request would be held back and time out. */
  isLost: boolean;
}

const known = /* @__PURE__ */ new WeakMap<NatsConnection, ConnectionEvents>();

/** The events of a connection. */
export function connectionEvents(connection: NatsConnection): ConnectionEvents {
  let events = known.get(connection);
  if (events === undefined) {
    events = { lost$: new Subject(), back$: new Subject(), isLost: false };
    known.set(connection, events);
    void follow(connection, events);
  }
  return events;
}

async function follow(connection: NatsConnection, events: ConnectionEvents): Promise<void> {
  const { lost$, back$ } = events;
  // One iteration for all subscribers, because an iteration cannot be ended from outside.
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') {
      events.isLost = true;
      lost$.next('the connection to NATS was lost');
    }
    if (type === 'staleConnection') lost$.next('the connection to NATS is silent');
    if (type === 'reconnect') {
      events.isLost = false;
      back$.next();
    }
  }
  events.isLost = true;
  lost$.next('the connection to NATS was closed');
}

/**
 * Sends a request and waits for its answer. Rejects when the connection is lost, and sends nothing while it is:
 * otherwise the request would wait for its timeout.
 */
export async function unlessLost<V>(
  connection: NatsConnection,
  send: () => Promise<V>,
  where: string,
): Promise<V> {
  const { isLost, lost$ } = connectionEvents(connection);
  const failure = (words: string) => ApiError.local('Network', `${where}: ${words}`);
  if (isLost) throw failure('there is no connection to NATS at the moment');
  const lost = lost$.pipe(
    map((words): V => {
      throw failure(words);
    }),
  );
  return firstValueFrom(race(send(), lost));
}
