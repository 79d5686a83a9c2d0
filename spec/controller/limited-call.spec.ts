/** Requests of elections: their time limit, and the signal of the caller. */
import { getEventListeners } from 'node:events';
import type { KubeRequest } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { limitedCall } from '../../lib/election/lease-lock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

function rig() {
  const scheduler = new VirtualTime();
  const controller = new AbortController();
  const signals: AbortSignal[] = [];
  const client = {
    request: async <R>({ signal }: KubeRequest): Promise<R> => {
      if (signal !== undefined) signals.push(signal);
      const metadata = { namespace: 'shop', name: 'lease', resourceVersion: '1' };
      return { kind: 'Lease', metadata } as R;
    },
  };
  const options = { limitMs: 1_000, scheduler, signal: controller.signal };
  const call = () => limitedCall(client, { path: '/lease' }, options);
  return { scheduler, controller, signals, call };
}

describe('a request of an election', () => {
  it('N8: it leaves no listener on the signal of the caller, and no timer', async () => {
    const { scheduler, controller, call } = rig();
    for (let times = 0; times < 5; times++) await call();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(scheduler.pending).toBe(0);
  });

  it('N8: with a signal that has aborted already it is aborted before it is sent', async () => {
    const { controller, signals, call } = rig();
    controller.abort();
    await call();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
