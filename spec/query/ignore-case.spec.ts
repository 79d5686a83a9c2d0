/** Text conditions that ignore case. */
import { createClient, createInformerFactory, createLiveQueries, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

type Condition = { readonly path: string; readonly ignoreCase?: boolean } & (
  | { readonly contains: string }
  | { readonly prefix: string }
);

/** Whether a Pod is a row of a query with a condition. */
async function holds(where: Condition): Promise<boolean> {
  const { scheduler, advance } = createVirtualTime();
  const server = createFakeApiServer({ scheduler });
  server.objects.create(pods, {
    metadata: { namespace: 'shop', name: 'Web-0', labels: { 'a.b/team': 'WebShop' } },
    spec: {
      containers: [
        { name: 'a', image: 'Nginx' },
        { name: 'b', image: 'redis' },
      ],
    },
  });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const live = createLiveQueries(createInformerFactory(client, { scheduler }));
  const view = live.view(liveQuery({ from: pods, where: where as never }));
  const leave = view.subscribe(() => undefined);
  await advance(2_000);
  const { rows, synced } = view.getSnapshot();
  leave();
  expect(synced).toBe(true);
  return rows.length === 1;
}

describe('ignoreCase', () => {
  it.each<[Condition, boolean]>([
    [{ path: 'metadata.name', contains: 'wEB', ignoreCase: true }, true],
    [{ path: 'metadata.name', contains: 'wEB', ignoreCase: false }, false],
    [{ path: 'metadata.name', contains: 'wEB' }, false],
    [{ path: 'metadata.name', contains: 'B-0', ignoreCase: true }, true],
    [{ path: 'metadata.name', prefix: 'B-0', ignoreCase: true }, false],
    [{ path: 'metadata.name', prefix: 'WEB', ignoreCase: true }, true],
    [{ path: 'metadata.name', prefix: 'WEB' }, false],
    [{ path: 'metadata.labels["a.b/team"]', contains: 'shop', ignoreCase: true }, true],
    [{ path: 'spec.containers.image', contains: 'REDIS', ignoreCase: true }, true],
    [{ path: 'spec.containers.image', contains: 'apache', ignoreCase: true }, false],
    [{ path: 'spec.nodeName', contains: '', ignoreCase: true }, false],
  ])('Q62: %j finds the Pod Web-0: %s', async (where, isFound) => {
    expect(await holds(where)).toBe(isFound);
  });

  it('Q62: equal conditions make equal queries, which are data', () => {
    const of = (where: Condition) => liveQuery({ from: pods, where: where as never });
    const key = (path: string, contains: string, ignoreCase = true) =>
      of({ path, contains, ignoreCase }).key;
    expect(key('metadata["name"]', 'WEB')).toBe(key('metadata.name', 'web'));
    expect(key('metadata.name', 'web')).not.toBe(key('metadata.name', 'web', false));
    expect(key('metadata.name', 'web', false)).toBe(
      of({ path: 'metadata.name', contains: 'web' }).key,
    );
    const query = of({ path: 'metadata.name', contains: 'WEB', ignoreCase: true });
    expect(liveQuery(JSON.parse(JSON.stringify(query))).key).toBe(query.key);
  });

  it('Q62: another value of ignoreCase is refused, and one beside another operator', () => {
    const of = (where: object) => () => liveQuery({ from: pods, where: where as never });
    expect(of({ path: 'metadata.name', contains: 'a', ignoreCase: 'yes' })).toThrow(
      /where.ignoreCase is "yes"; it must be true or false/,
    );
    expect(of({ path: 'metadata.name', in: ['a', 'b'], ignoreCase: true })).toThrow(
      /where.ignoreCase goes with contains or prefix alone/,
    );
  });
});
