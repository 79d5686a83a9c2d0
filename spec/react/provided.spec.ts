/** Tests the state of a provider, without React. */
import { createClient, createInformerFactory } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createProvided } from '../../lib/react/provided.ts';
import { eventually } from '../support/patience.ts';

/** A provider ends in a timer of this scheduler, and equal timers run in their order. */
const macrotask = () => new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve()));

function clientOf() {
  const server = createFakeApiServer({ resources: [pods] });
  return createClient({ baseUrl: 'http://fake', fetch: server.fetch });
}

describe('a provider', () => {
  it('V9: leaves a given factory running when it is unmounted', async () => {
    const client = clientOf();
    const factory = createInformerFactory(client);
    onTestFinished(() => factory.stop());
    const informer = factory.informer(pods);
    factory.start();
    await factory.whenSynced();
    const leave = createProvided({ client, factory }).hold();
    leave();
    await macrotask();
    expect(informer.status.phase).toBe('watching');
  });

  it('V9: stops the informers that it has made', async () => {
    const provided = createProvided({ client: clientOf() });
    const leave = provided.hold();
    const { informer } = provided.informers.acquire(pods);
    const subscription = informer.changes$.subscribe();
    await informer.whenSynced();
    leave();
    await eventually(() => expect(informer.status.phase).toBe('stopped'));
    expect(subscription.closed).toBe(true);
  });
});
