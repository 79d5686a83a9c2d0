/** Tests the leases of renders without React: the promise, the takeover, and what remains of a discarded render. */
import { createClient, createInformerFactory, type LiveQuery, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createProvided } from '../../lib/react/provided.ts';
import { heldSourceOf, querySourcesOf } from '../../lib/react/query-sources.ts';
import { hasRenderLease, leaseForRender, takeOver } from '../../lib/react/suspense/render-lease.ts';
import { eventually } from '../support/patience.ts';

const query = liveQuery({ from: pods });

function rig(lingerMs: number) {
  const server = createFakeApiServer();
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client, { lingerMs });
  const provided = createProvided({ client, factory });
  onTestFinished(() => factory.stop());
  const source = () => heldSourceOf(provided, query as LiveQuery);
  const render = () => leaseForRender(source(), provided.informers);
  return { server, factory, provided, source, render };
}

describe('the lease of a render', () => {
  it('V14: gives each render the same promise until the answer is complete', async () => {
    const { source, render } = rig(5_000);
    const promise = render();
    expect(render()).toBe(promise);
    await promise;
    expect(source().getSnapshot().synced).toBe(true);
    // A render that finds no answer all the same must wait again, not at once try again for ever.
    expect(render()).not.toBe(promise);
  });

  it.each([0, 1_000])(
    'V14: leaves nothing if no commit takes it over (linger %d ms)',
    async (lingerMs) => {
      const { server, factory, provided, source, render } = rig(lingerMs);
      const awaited = source();
      await render();
      await eventually(() => expect(server.openWatches.length).toBe(1));
      await eventually(() => expect(server.openWatches.length).toBe(0));
      await eventually(() => expect(hasRenderLease(awaited)).toBe(false));
      expect(provided.part(querySourcesOf).queries.size).toBe(0);
      expect(factory.informers).toEqual([]);
    },
  );

  it('V14: lapses if the server does not answer, and the render that waits tries again', async () => {
    const { server, factory, source, render } = rig(300);
    server.faults.neverAnswer({});
    const awaited = source();
    const lease = render();
    expect(hasRenderLease(awaited)).toBe(true);
    await lease;
    expect(hasRenderLease(awaited)).toBe(false);
    await eventually(() => expect(factory.informers).toEqual([]));
  });

  it('V14: ends when a commit takes it over, without a second request', async () => {
    const { server, source, render } = rig(0);
    await render();
    const awaited = source();
    const leave = awaited.subscribe(() => undefined);
    takeOver(awaited);
    expect(hasRenderLease(awaited)).toBe(false);
    await eventually(() => expect(server.openWatches.length).toBe(1));
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    await eventually(() => expect(awaited.getSnapshot().rows).toHaveLength(1));
    expect(server.requests.map(({ use }) => use)).toEqual(['watch']);
    leave();
    await eventually(() => expect(server.openWatches.length).toBe(0));
  });
});
