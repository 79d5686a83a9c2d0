/** Tests the merged status of a provider, without React. */
import { createClient, createInformerFactory, liveQuery } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createProvided } from '../../lib/react/provided.ts';
import { sourceOfQuery } from '../../lib/react/query-sources.ts';
import { mergedStatusOf } from '../../lib/react/use-status.ts';
import { eventually } from '../support/patience.ts';

it('V8: the merged status is the same object while only rows change', async () => {
  const server = createFakeApiServer();
  const create = (name: string) =>
    server.objects.create(pods, { metadata: { namespace: 'shop', name } });
  create('web-0');
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  const provided = createProvided({ client, factory });
  const { getSnapshot } = provided.part(mergedStatusOf);
  const source = sourceOfQuery(provided, liveQuery({ from: pods }));
  const another = sourceOfQuery(provided, liveQuery({ from: nodes }));
  const leaves = [source, another].map((each) => each.subscribe(() => undefined));
  onTestFinished(async () => {
    for (const leave of leaves) leave();
    await factory.stop();
  });
  await eventually(() => expect(getSnapshot().status.live).toBe(true));
  const before = getSnapshot();
  for (const name of ['web-1', 'web-2']) {
    const { length } = source.getSnapshot().rows;
    create(name);
    await eventually(() => expect(source.getSnapshot().rows.length).toBe(length + 1));
    expect(getSnapshot()).toBe(before);
  }
  expect(Object.isFrozen(before) && Object.isFrozen(before.status)).toBe(true);
  server.faults.dropWatches();
  await eventually(() => expect(getSnapshot() !== before).toBe(true));
});
