/** Tests the merged status of a provider, without React. */
import { createClient, createInformerFactory, type InformerStatus, liveQuery } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mergeStatus, NEUTRAL_STATUS } from '../../lib/informer/status/merge-status.ts';
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

describe('the status of several informers', () => {
  it('Q14: adds up the counters of several informers, without the parts of a single one', () => {
    const one = { phase: 'watching', generation: 1, refused: 1, refusedItems: 2 };
    const statuses = [
      { ...one, unknownDeletions: 3, refusedObjects: ['q'], audit: {}, scopes: [] },
      { ...one, unknownDeletions: 4, refused: 5, generation: 7, refusedItems: 6, scopes: [] },
    ] as unknown as InformerStatus[];
    expect(mergeStatus(statuses)).toMatchObject({
      ...{ refused: 6, refusedItems: 8, unknownDeletions: 7, generation: 7, refusedObjects: ['q'] },
    });
    expect(mergeStatus(statuses)).not.toHaveProperty('audit');
    expect(mergeStatus(statuses)).not.toHaveProperty('scopes');
    expect(mergeStatus(statuses.slice(0, 1))).toBe(statuses[0]);
    expect(mergeStatus([])).toBe(NEUTRAL_STATUS);
    const listing: InformerStatus = { ...NEUTRAL_STATUS, phase: 'listing', live: false };
    expect(mergeStatus([NEUTRAL_STATUS, listing])).toEqual(listing);
  });
});
