/** What is left of a query that has ended: nothing, whether its informer has ended, too, or runs for others. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  createLiveQueries,
  type InformerFactory,
  type LiveQueries,
  liveQuery,
  type Stored,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { place, type Rig, rig } from './rig.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** The names of the objects that are still held after garbage collections. */
async function heldOf(refs: Readonly<Record<string, WeakRef<object>>>): Promise<string[]> {
  const held = () => Object.keys(refs).filter((name) => refs[name]?.deref() !== undefined);
  // A reference that is read lives until the end of its task.
  for (let round = 0; round < 20 && held().length > 0; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  await new Promise((resolve) => setImmediate(resolve));
  return held();
}

function quiet(): void {
  // A listener that does nothing.
}

/** Uses a query in all ways, leaves it, and returns weak references to what it consisted of. */
async function useOnce(
  r: Rig,
  factory: InformerFactory,
  queries: LiveQueries,
  namespace: readonly string[] | undefined,
): Promise<Record<string, WeakRef<object>>> {
  const refs: Record<string, WeakRef<object>> = {};
  const note = <T extends object>(name: string, value: T): T => {
    refs[name] = new WeakRef(value);
    return value;
  };
  const test = note('where', (pod: Stored<Pod>) => {
    if (pod.metadata.namespace === 'other') throw note('error', new Error('refused'));
    return true;
  });
  const project = note('select', ({ metadata }: Stored<Pod>) =>
    note(`row of ${metadata.name}`, { name: metadata.name }),
  );
  const query = note(
    'query',
    liveQuery({
      from: pods,
      ...(namespace === undefined ? {} : { namespace }),
      where: { key: 'where', test },
      select: { key: 'select', project },
      orderBy: { path: 'metadata.name' },
      limit: 10,
    }),
  );
  const view = note('view', queries.view(query));
  const stream = note('stream', queries.stream(query));
  const listener = note('listener', () => note('snapshot', view.getSnapshot()));
  const leave = view.subscribe(listener);
  const observer = note('observer', { next: (set: object) => void note('set', set) });
  const subscription = stream.subscribe(observer);
  const one = view.select('none').subscribe(quiet);
  await r.until(factory.whenSynced());
  r.server.objects.create(pods, { metadata: place('web-9') });
  await r.time.advance(100);
  r.server.objects.delete(pods, place('web-9'));
  await r.time.advance(100);
  expect(view.getSnapshot().rows.length).toBeGreaterThan(1);
  const { refusedRows } = view.getSnapshot().status;
  expect(refusedRows).toHaveLength(1);
  note('refusedRows', refusedRows);
  queries.explain(query);
  subscription.unsubscribe();
  leave();
  one();
  return refs;
}

describe('a query that has ended', () => {
  it.each([
    ['its informer ends, too', undefined, []],
    ['its informer runs for others', undefined, [{}]],
    ['it was united from several', ['shop', 'other', 'till'], ['shop', 'till']],
  ] as const)('Q77: holds nothing after the linger: %s', async (_what, namespace, others) => {
    const r = rig();
    const factory = r.factory({ lingerMs: 1_000 });
    for (const other of others) {
      factory.informer(pods, typeof other === 'string' ? { namespace: other } : other);
    }
    factory.start();
    if (others.length > 0) await r.until(factory.whenSynced());
    const queries = createLiveQueries(factory);
    const refs = await useOnce(r, factory, queries, namespace);
    expect(Object.keys(refs)).toHaveLength(13);
    await r.time.advance(500);
    expect(await heldOf({ query: refs['query'] as WeakRef<object> })).toEqual(['query']);
    await r.time.advance(5_000);
    expect([queries.size, factory.informers.length]).toEqual([0, others.length]);
    expect(await heldOf(refs)).toEqual([]);
  });

  it('Q77: holds nothing but its last rows if somebody keeps its view', async () => {
    const r = rig();
    const factory = r.factory({ lingerMs: 0 });
    factory.start();
    const queries = createLiveQueries(factory);
    const view = queries.view(liveQuery({ from: pods, limit: 1 }));
    const informers = await (async () => {
      const leave = view.subscribe(quiet);
      await r.until(factory.whenSynced());
      const { informer, release } = factory.acquire(pods);
      const refs = {
        informer: new WeakRef(informer),
        pod: new WeakRef(informer.indexer.list().at(-1) as object),
      };
      release();
      leave();
      return refs;
    })();
    await r.time.advance(5_000);
    expect([queries.size, factory.informers]).toEqual([0, []]);
    expect(await heldOf(informers)).toEqual([]);
    expect(view.getSnapshot().rows).toHaveLength(1);
  });
});
