/**
 * Tests what is beneath the hooks, without React: the sources of rows, the merged status and the state of a provider, the answer of
 * `useObject`.
 */
import {
  type ChangeSet,
  createClient,
  createInformerFactory,
  createSharedInformer,
  type InformerStatus,
  liveQuery,
  toView,
} from 'rx-informer';
import { configMaps, nodes, pods } from 'rx-informer/resources';
import { changeSet, createFakeApiServer } from 'rx-informer/testing';
import { asyncScheduler, BehaviorSubject, config, defer, merge, Subject } from 'rxjs';
import { filter, takeUntil } from 'rxjs/operators';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mergeStatus, NEUTRAL_STATUS } from '../../lib/informer/status/merge-status.ts';
import { createProvided } from '../../lib/react/provided.ts';
import { sourceOfQuery } from '../../lib/react/query-sources.ts';
import { SucceedingSource, sourceOfView, ViewSource } from '../../lib/react/row-source.ts';
import { objectOf, objectQuery } from '../../lib/react/use-object.ts';
import { mergedStatusOf } from '../../lib/react/use-status.ts';
import { allReported } from '../support/errors.ts';
import { eventually } from '../support/patience.ts';
import { scriptedListWatch, pod as servedPod } from '../support/scripted-list-watch.ts';

const pod = (name: string) => ({ metadata: { name, uid: name } });
type Pod = ReturnType<typeof pod>;
/** The sources end in a timer of this scheduler, and equal timers run in their order. */
const macrotask = () => new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve()));

describe('a source of rows', () => {
  it('V3: returns the same immutable result until something changes', () => {
    const changes$ = new BehaviorSubject(changeSet({ added: [pod('a')] }));
    const source = new ViewSource(toView(changes$));
    const leave = source.subscribe(() => undefined);
    const result = source.getSnapshot();
    expect(source.getSnapshot()).toBe(result);
    expect(Object.isFrozen(result)).toBe(true);
    changes$.next(changeSet({ added: [pod('b')] }));
    expect(result.rows.length).toBe(1);
    expect(source.getSnapshot().rows[0]).toBe(result.rows[0]);
    expect(source.getSnapshot().total).toBe(2);
    const now = source.getSnapshot();
    const leaves = [leave, source.subscribe(() => undefined)];
    expect(source.getSnapshot()).toBe(now);
    for (const each of leaves) each();
  });

  it('V2: stays subscribed if its last listener leaves and another one comes in the same task', async () => {
    let subscriptions = 0;
    const changes$ = new Subject<ChangeSet<Pod>>();
    const source = sourceOfView(toView(changes$));
    expect(sourceOfView(toView(changes$))).not.toBe(source);
    const subscribe = () => {
      subscriptions += changes$.observed ? 0 : 1;
      return source.subscribe(() => undefined);
    };
    subscribe()();
    const leave = subscribe();
    await macrotask();
    expect(changes$.observed).toBe(true);
    leave();
    leave();
    await macrotask();
    expect(changes$.observed).toBe(false);
    expect(subscriptions).toBe(1);
  });

  it('V7: the error of a pipe is in the result, and the rows stay', () => {
    const changes$ = new Subject<ChangeSet<Pod>>();
    const source = new ViewSource(toView(changes$));
    let calls = 0;
    source.subscribe(() => void calls++);
    changes$.next(changeSet({ added: [pod('a')] }));
    changes$.error(new Error('the pipe broke'));
    expect(source.getSnapshot().error?.message).toBe('the pipe broke');
    expect(source.getSnapshot().rows.length).toBe(1);
    expect(calls).toBe(2);
  });

  it('V7: the error of a pipe is gone when the pipe is subscribed again', async () => {
    const runs: Subject<ChangeSet<Pod>>[] = [];
    const pipe = defer(() => {
      const run = new Subject<ChangeSet<Pod>>();
      runs.push(run);
      return run;
    });
    const source = new ViewSource(toView(pipe));
    const leave = source.subscribe(() => undefined);
    runs[0]?.error(new Error('once'));
    expect(source.getSnapshot().error?.message).toBe('once');
    leave();
    await macrotask();
    const leaveAgain = source.subscribe(() => undefined);
    expect([runs.length, source.getSnapshot().error]).toEqual([2, undefined]);
    leaveAgain();
  });

  it('V7: a listener that joins after a failure ends the error for all, and the next failure is shown', async () => {
    const runs: Subject<ChangeSet<Pod>>[] = [];
    const pipe = defer(() => {
      const run = new Subject<ChangeSet<Pod>>();
      runs.push(run);
      return run;
    });
    const source = new ViewSource(toView(pipe));
    const told: (string | undefined)[] = [];
    const leaves = [source.subscribe(() => told.push(source.getSnapshot().error?.message))];
    runs[0]?.error(new Error('first'));
    leaves.push(source.subscribe(() => undefined));
    expect(runs.length).toBe(2);
    expect(told).toEqual(['first', undefined]);
    runs[1]?.next(changeSet({ added: [pod('a')] }));
    runs[1]?.error(new Error('second'));
    expect(told).toEqual(['first', undefined, undefined, 'second']);
    for (const leave of leaves) leave();
    await macrotask();
    expect(runs[1]?.observed).toBe(false);
  });

  it('V7: shows an error of the pipe also after its informer was stopped and started', async () => {
    // The view has subscribed to its pipe again by itself, so the error is reported, too.
    const reported: string[] = [];
    config.onUnhandledError = ({ message }) => reported.push(message);
    onTestFinished(() => {
      config.onUnhandledError = null;
    });
    const listWatch = scriptedListWatch();
    const informer = createSharedInformer(listWatch);
    listWatch.listed(1, servedPod('a', 1));
    informer.start();
    const stopped$ = informer.status$.pipe(filter(({ phase }) => phase === 'stopped'));
    const failures: Subject<never>[] = [];
    const pipe = defer(() => {
      const failure = new Subject<never>();
      failures.push(failure);
      return merge(informer.changes$, failure.pipe(takeUntil(stopped$)));
    });
    const source = new ViewSource(toView<object>({ status$: informer.status$ })(pipe));
    const leave = source.subscribe(() => undefined);
    await informer.stop();
    listWatch.listed(2, servedPod('b', 2));
    informer.start();
    await informer.whenSynced();
    failures.at(-1)?.error(new Error('late'));
    expect([failures.length, source.getSnapshot().error?.message]).toEqual([2, 'late']);
    leave();
    await informer.stop();
    await allReported();
    expect(reported).toEqual(['late']);
  });

  it('V4: the rows of the former source stand until the first complete answer, and never come back', () => {
    const [one$, other$] = [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()];
    const one = new ViewSource(toView(one$));
    one.subscribe(() => undefined);
    one$.next(changeSet({ added: [pod('a')] }));
    const source = new SucceedingSource(new ViewSource(toView(other$)), one.getSnapshot());
    source.subscribe(() => undefined);
    const shown = () => {
      const { rows, stale, synced } = source.getSnapshot();
      expect(source.getSnapshot()).toBe(source.getSnapshot());
      return { names: rows.map(({ metadata }) => metadata.name).join(), stale, synced };
    };
    expect(shown()).toEqual({ names: 'a', stale: true, synced: false });
    other$.next(changeSet({ added: [pod('b')], reset: true, synced: false }));
    expect(shown()).toEqual({ names: 'a', stale: true, synced: false });
    other$.next(changeSet({ added: [pod('c')], synced: true }));
    expect(shown()).toEqual({ names: 'b,c', stale: false, synced: true });
    other$.next(changeSet({ added: [pod('d')], reset: true, synced: false }));
    expect(shown()).toEqual({ names: 'd', stale: false, synced: false });
  });

  it('V4: the rows of the former source are gone as soon as the answer is refused', () => {
    const [one$, other$] = [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()];
    const one = new ViewSource(toView(one$));
    one.subscribe(() => undefined);
    one$.next(changeSet({ added: [pod('a')] }));
    const source = new SucceedingSource(new ViewSource(toView(other$)), one.getSnapshot());
    source.subscribe(() => undefined);
    expect(source.getSnapshot()).toMatchObject({ total: 1, stale: true, error: undefined });
    other$.error(new Error('forbidden'));
    expect(source.getSnapshot()).toMatchObject({ rows: [], total: 0, synced: false });
    expect(source.getSnapshot().error?.message).toBe('forbidden');
  });
});

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

// In a worker the query has a limit.
it.each([{}, { limit: 1 }])(
  'V6: objects of one name in several namespaces are an error: %o',
  async (more) => {
    const server = createFakeApiServer();
    const create = (namespace: string) =>
      server.objects.create(configMaps, { metadata: { namespace, name: 'x' } });
    create('a');
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const factory = createInformerFactory(client);
    const query = liveQuery({ ...objectQuery(configMaps, { name: 'x' }), ...more } as never);
    const source = sourceOfQuery(createProvided({ client, factory }), query);
    const leave = source.subscribe(() => undefined);
    onTestFinished(async () => {
      leave();
      await factory.stop();
    });
    const shown = () => {
      const { object, error } = objectOf(source.getSnapshot());
      return error?.message ?? object?.metadata.namespace;
    };
    await eventually(() => expect(shown()).toBe('a'));
    create('b');
    await eventually(() =>
      expect(shown()).toBe(
        'useObject: 2 objects of several namespaces have this name; give the namespace',
      ),
    );
    expect(objectOf(source.getSnapshot()).object).toBeUndefined();
    server.objects.delete(configMaps, { namespace: 'a', name: 'x' });
    await eventually(() => expect(shown()).toBe('b'));
  },
);

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
