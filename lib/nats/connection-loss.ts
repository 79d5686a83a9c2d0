/** Reports when a connection to NATS is lost, to any number of subscribers. */
import type { NatsConnection } from '@nats-io/nats-core';
import { Subject } from 'rxjs';

const losses = /* @__PURE__ */ new WeakMap<NatsConnection, Subject<string>>();

/** Emits, in words, each time the connection is lost or closed. Never completes. */
export function connectionLoss(connection: NatsConnection): Subject<string> {
  let loss$ = losses.get(connection);
  if (loss$ === undefined) {
    loss$ = new Subject<string>();
    losses.set(connection, loss$);
    void follow(connection, loss$);
  }
  return loss$;
}

async function follow(connection: NatsConnection, loss$: Subject<string>): Promise<void> {
  // One iteration for all subscribers, because an iteration cannot be ended from outside.
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') loss$.next('the connection to NATS was lost');
    if (type === 'staleConnection') loss$.next('the connection to NATS is silent');
    if (type === 'close') loss$.next('the connection to NATS was closed');
  }
  if (connection.isClosed()) loss$.next('the connection to NATS was closed');
}
