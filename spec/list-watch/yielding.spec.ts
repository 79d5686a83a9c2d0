/** When a watch may be ended so that others have their turn. */
import {
  createClient,
  createListWatch,
  type Transport,
  type TransportEvent,
  type TransportRequest,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { merge, NEVER, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const head: TransportEvent = { kind: 'head', status: 200, header: () => null };
const line = (type: string, annotations?: object): TransportEvent => ({
  kind: 'chunk',
  bytes: new TextEncoder().encode(
    `${JSON.stringify({
      type,
      object: {
        ...{ kind: 'Pod', apiVersion: 'v1' },
        metadata: { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '5', annotations },
      },
    })}\n`,
  ),
});

/** A watch whose response is fed by hand. The responses to its probes never begin. */
function watching(sendInitialEvents = false) {
  const time = new VirtualTime();
  const sent: TransportRequest[] = [];
  const response = new Subject<TransportEvent>();
  const transport: Transport = {
    send: (request) => {
      sent.push(request);
      return sent.length === 1 ? merge(of(head), response) : NEVER;
    },
    close: () => Promise.resolve(),
  };
  const livenessMs = Number.POSITIVE_INFINITY;
  const client = createClient({ baseUrl: '', transport, scheduler: time, livenessMs });
  const request = { resourceVersion: '4', timeoutSeconds: 300, sendInitialEvents };
  const watch = createListWatch(client, pods, { scheduler: time }).watch(request).subscribe();
  return { time, sent, response, watch, mayYield: () => sent[0]?.mayYield?.() };
}

describe('a watch', () => {
  it('W73: may yield when it is known that events are not held back', async () => {
    const { time, response, mayYield, watch } = watching();
    // Before the code that finds out is loaded.
    expect(mayYield()).toBe(false);
    await time.advance(10_000);
    expect(mayYield()).toBe(false);
    response.next(line('MODIFIED'));
    await time.advance(400);
    expect(mayYield()).toBe(true);
    watch.unsubscribe();
  });

  it('W73: does not yield while its probe is open, but 30 s later at the latest', async () => {
    const { time, sent, mayYield, watch } = watching();
    await time.advance(25_000);
    expect(sent.map(({ isUrgent }) => isUrgent)).toEqual([undefined, true]);
    expect(mayYield()).toBe(false);
    await time.advance(10_000);
    expect(mayYield()).toBe(true);
    watch.unsubscribe();
  });

  it('W73: that lists does not yield before its end mark', async () => {
    const { time, response, mayYield, watch } = watching(true);
    response.next(line('ADDED'));
    await time.advance(100);
    expect(mayYield()).toBe(false);
    response.next(line('BOOKMARK', { 'k8s.io/initial-events-end': 'true' }));
    expect(mayYield()).toBe(true);
    watch.unsubscribe();
  });
});
