/**
 * Requests that wait for the rate limit: they emit `queued`, keep their order, return an unused token, and do not
 * stay pending after the client is closed.
 */
import {
  type ApiError,
  createClient,
  createListWatch,
  type KubeClientOptions,
  type ReflectorStatus,
  reflect,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { concat, NEVER, type Observable, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const path = '/api/v1/pods';
const head: TransportEvent = { kind: 'head', status: 200, header: () => null };

/** A client with a scripted transport, and a log of the events of its requests. */
function rig(
  options: Partial<KubeClientOptions> = {},
  answer: () => Observable<TransportEvent> = () => of(head),
) {
  const time = new VirtualTime();
  const log: string[] = [];
  let sent = 0;
  const transport: Transport = {
    send: () => {
      sent++;
      return answer();
    },
    close: () => Promise.resolve(),
  };
  const client = createClient({ baseUrl: '', transport, scheduler: time, ...options });
  const send = (name: string) =>
    client.send({ method: 'GET', path, use: 'watch' }).subscribe({
      next: ({ kind }) => log.push(`${time.now()} ${name} ${kind}`),
      error: ({ reason }) => log.push(`${time.now()} ${name} # ${reason}`),
    });
  return {
    time,
    log,
    client,
    send,
    get sent() {
      return sent;
    },
  };
}

describe('a request that waits for the rate limit', () => {
  it('T5: leaves its turn to the next request when it is unsubscribed', async () => {
    const { time, log, send } = rig({ qps: 1, burst: 1 });
    send('a');
    const [b] = [send('b'), send('c'), send('d')];
    await time.advance(300);
    b?.unsubscribe();
    await time.advance(5_000);
    expect(log.filter((line) => line.endsWith('head'))).toEqual([
      '0 a head',
      '1000 c head',
      '2000 d head',
    ]);
  });

  it('T5: many requests that are unsubscribed return exactly their unused tokens', async () => {
    const { time, log, send } = rig({ qps: 1, burst: 2 });
    send('a');
    send('b');
    const gone = Array.from({ length: 100 }, (_, at) => send(`gone ${at}`));
    await time.advance(500);
    for (const each of gone) each.unsubscribe();
    expect(time.pending).toBe(0);
    log.length = 0;
    send('c');
    await time.advance(500);
    expect(log).toEqual(['500 c queued', '1000 c head']);
    await time.advance(60_000);
    log.length = 0;
    for (const name of ['d', 'e', 'f']) send(name);
    expect(log).toEqual(['61000 d head', '61000 e head', '61000 f queued']);
  });

  it('T5: keeps the order, also if a request is made within the turn of another', async () => {
    const time = new VirtualTime();
    const order: string[] = [];
    const transport: Transport = { send: () => of(head), close: () => Promise.resolve() };
    const client = createClient({ baseUrl: '', transport, scheduler: time, qps: 1, burst: 1 });
    const send = (name: string, then: (kind: string) => void = () => {}) =>
      client.send({ method: 'GET', path, use: 'list' }).subscribe(({ kind }) => {
        if (kind === 'head') order.push(`${time.now()} ${name}`);
        then(kind);
      });
    send('a');
    send('b', (kind) => send(kind === 'queued' ? 'c' : 'e'));
    send('d');
    await time.advance(10_000);
    expect(order).toEqual(['0 a', '1000 b', '2000 c', '3000 d', '4000 e']);
  });

  it('T12: emits queued while it waits, and sending when the wait is over', async () => {
    const { time, log, send } = rig({ qps: 1, burst: 1 }, () => NEVER);
    send('a');
    send('b');
    await time.advance(2_000);
    expect(log).toEqual(['0 b queued', '1000 b sending']);
  });

  it('T12: reports one wait if the transport has a queue as well', async () => {
    const free = new Subject<TransportEvent>();
    const queued: TransportEvent = { kind: 'queued' };
    const { time, log, send } = rig({ qps: 1, burst: 1 }, () => concat(of(queued), free));
    send('a');
    send('b');
    await time.advance(2_000);
    free.next({ kind: 'sending' });
    free.next(head);
    expect(log).toEqual([
      '0 a queued',
      '0 b queued',
      '2000 a sending',
      '2000 b sending',
      '2000 a head',
      '2000 b head',
    ]);
  });

  it('R15, X6: is not mistaken for a silence of the server, so that many informers do not starve each other', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ scheduler: time });
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
    const client = createClient({
      baseUrl: 'http://fake',
      fetch: server.fetch,
      scheduler: time,
      qps: 5,
      burst: 10,
    });
    for (const initialList of ['stream', 'pages'] as const) {
      const from = time.now();
      const errors: ApiError[] = [];
      const synced: number[] = [];
      const phases = new Set<ReflectorStatus['phase']>();
      const runs = Array.from({ length: 200 }, (_, at) => {
        let done = false;
        return reflect(createListWatch(client, pods, { scheduler: time }), {
          scheduler: time,
          initialList,
          onError: (error) => void errors.push(error),
          onStatus: (status) => {
            phases.add(status.phase);
            if (!done && status.synced) synced[at] = time.now() - from;
            done = status.synced;
          },
        }).subscribe();
      });
      await time.advance(150_000);
      for (const run of runs) run.unsubscribe();
      expect([errors, phases.has('queued')]).toEqual([[], true]);
      expect(synced.filter(() => true)).toHaveLength(200);
      // One request per informer if it streams; otherwise a list, and meanwhile watches of the informers that are
      // synced.
      expect(Math.max(...synced)).toBeLessThanOrEqual(initialList === 'stream' ? 38_000 : 78_000);
      await time.advance(60_000);
    }
    expect(time.pending).toBe(0);
  });
});
