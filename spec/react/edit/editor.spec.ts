/** Tests edits against the fake API server: what the queries show, what is sent, and how an edit ends. */
import { createClient, createInformerFactory, type KubernetesObject, liveQuery } from 'rx-informer';
import { type Deployment, deployments } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { editorOf } from '../../../lib/react/edit/editor.ts';
import { createProvided } from '../../../lib/react/provided.ts';
import { sourceOfQuery } from '../../../lib/react/query-sources.ts';
import { CLOCKS, type SettableClock } from '../../rx/clock.ts';
import { passUntil } from '../../rx/virtual-time.ts';

const target = { namespace: 'shop', name: 'web' };

/** A test looks at the page before it awaits the promise. */
function silently<P extends Promise<unknown>>(promise: P): P {
  promise.catch(() => undefined);
  return promise;
}

async function rig() {
  // The frames of a view have no scheduler.
  const time = (CLOCKS['the clock of the system'] as () => SettableClock)();
  const until = <R>(wanted: Promise<R> | (() => R)) => passUntil(time.pass, wanted);
  const server = createFakeApiServer({ initialResourceVersion: '100' });
  const create = (name: string) =>
    server.objects.create(deployments, {
      metadata: { namespace: 'shop', name },
      spec: { replicas: 1, selector: {}, template: {} },
    });
  create('web');
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  const provided = createProvided({ client, factory });
  const source = sourceOfQuery(provided, liveQuery({ from: deployments }));
  const large = sourceOfQuery(
    provided,
    liveQuery({
      from: deployments,
      where: { path: 'spec.replicas', gt: 3 },
      select: { name: 'metadata.name', replicas: 'spec.replicas' },
      orderBy: { path: 'metadata.name' },
    }),
  );
  const seen: string[] = [];
  const text = () =>
    source
      .getSnapshot()
      .rows.map(({ spec }) => spec?.replicas)
      .join();
  const leaves = [source.subscribe(() => seen.push(text())), large.subscribe(() => undefined)];
  onTestFinished(async () => {
    for (const leave of leaves) leave();
    await factory.stop();
    time.restore();
  });
  await until(() => expect(large.getSnapshot().synced && text() === '1').toBe(true));
  seen.length = 0;
  const edit = (
    replicas: number,
    of: KubernetesObject | typeof target = target,
    timeoutMs = 60_000,
    signal?: AbortSignal,
  ) =>
    silently(
      provided.part(editorOf).edit<Deployment>({
        resource: deployments,
        target: of,
        recipe: (draft) => {
          if (draft.spec) draft.spec.replicas = replicas;
        },
        options: { signal },
        timeoutMs,
      }),
    );
  const stored = () => server.objects.list(deployments)[0]?.spec?.replicas;
  const patches = () => server.requests.filter(({ method }) => method === 'PATCH').length;
  return { time, until, server, provided, large, seen, text, edit, stored, patches, create };
}

describe('an edit', () => {
  it('V13: waits for an earlier edit of an object that no hook lists', async () => {
    const { time, until, server, provided, create } = await rig();
    const namespace = 'other';
    server.objects.create(deployments, {
      metadata: { namespace, name: 'web' },
      spec: { replicas: 0, selector: {}, template: {} },
    });
    create('db');
    // The first edit reads the object, and takes longer.
    const slow = server.faults.delay(50, { method: 'GET' });
    const order: string[] = [];
    const add = (of: string, target: string | KubernetesObject) =>
      provided
        .part(editorOf)
        .edit<Deployment>({
          resource: deployments,
          target,
          recipe: ({ spec }) => {
            if (spec) spec.replicas = (spec.replicas ?? 0) * 2 + 1;
          },
          options: {},
          timeoutMs: 60_000,
        })
        .then(() => order.push(of));
    const [unlisted] = server.objects
      .list(deployments)
      .filter(({ metadata }) => metadata.namespace === namespace);
    const { apiVersion, metadata } = unlisted as Deployment;
    const row = { apiVersion, kind: 'PartialObjectMetadata', metadata } as KubernetesObject;
    const all = Promise.all([
      add('first', `${namespace}/web`),
      add('second', row),
      add('third', unlisted as KubernetesObject),
      add('another object', 'shop/db'),
    ]);
    await time.pass(10);
    slow.heal();
    await until(all);
    expect(order.filter((of) => of !== 'another object')).toEqual(['first', 'second', 'third']);
    expect(order.at(-1)).toBe('third');
    const now = server.objects.get(deployments, { namespace, name: 'web' });
    expect(now?.spec?.replicas).toBe(7);
  });

  it('V13: ends with its signal while it waits for another, is rolled back and not sent', async () => {
    const { time, until, server, text, edit, stored, patches } = await rig();
    const fault = server.faults.neverAnswer({ method: 'PATCH' });
    const first = edit(4, target, 1_000);
    const left = new AbortController();
    const aborted = edit(7, target, 60_000, left.signal);
    await until(() => expect(text()).toBe('7'));
    left.abort();
    await expect(until(aborted)).rejects.toMatchObject({ reason: 'Aborted' });
    await until(() => expect(text()).toBe('4'));
    expect(patches()).toBe(1);
    // The next edit waits for the first one nevertheless.
    const last = edit(9);
    await time.pass(50);
    expect(patches()).toBe(1);
    fault.heal();
    await expect(until(first)).rejects.toMatchObject({ reason: 'Silent' });
    await until(last);
    expect([patches(), stored()]).toEqual([2, 9]);
  });

  it('V13: leaves nothing on the signal of its caller', async () => {
    const { until, edit, stored } = await rig();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await until(edit(4, target, 60_000, signal));
    expect(stored()).toBe(4);
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
  });

  it('V12: is aborted and rolled back if the server does not answer within the time limit', async () => {
    const { until, server, text, edit } = await rig();
    const fault = server.faults.neverAnswer({ method: 'PATCH' });
    const done = edit(4, target, 200);
    await until(() => expect(text()).toBe('4'));
    await expect(until(done)).rejects.toThrow(
      'edit of deployments.apps shop/web: the server has not answered for 200 ms; the change may still take effect',
    );
    await until(() => expect(text()).toBe('1'));
    fault.heal();
  });

  it('V12: shows the state of the informer again if no echo comes within the time limit', async () => {
    const { until, server, text, edit } = await rig();
    const fault = server.faults.silence();
    await until(edit(4, target, 200));
    await until(() => expect(text()).toBe('4'));
    await until(() => expect(text()).toBe('1'));
    fault.heal();
    await until(() => expect(text()).toBe('4'));
  });

  it('V12: shows the state of the informer again after several edits without an echo', async () => {
    const { until, server, text, edit } = await rig();
    server.faults.silence();
    await until(Promise.all([edit(4, target, 200), edit(7, target, 200)]));
    await until(() => expect(text()).toBe('7'));
    await until(() => expect(text()).toBe('1'));
  });

  it('V13: is sent on the answer to the former one, which the watch has not delivered yet', async () => {
    const { until, server, edit, stored, patches } = await rig();
    const held = server.faults.silence();
    await until(Promise.all([edit(4), edit(7)]));
    expect([stored(), patches()]).toEqual([7, 2]);
    held.heal();
  });

  it('V13: goes on after the error of the former one', async () => {
    const { until, server, text, edit, stored } = await rig();
    server.faults.failNext({ method: 'PATCH' }, { status: 403 });
    const first = edit(4);
    const second = edit(7);
    await expect(until(first)).rejects.toThrow();
    await until(second);
    expect(stored()).toBe(7);
    await until(() => expect(text()).toBe('7'));
  });

  it('C15: a recipe that removes the metadata is refused before any query shows it', async () => {
    const { until, server, provided, seen, text, patches, edit } = await rig();
    const held = server.faults.silence();
    const options = { resource: deployments, target, options: {}, timeoutMs: 60_000 };
    const recipe = (draft: { metadata?: unknown }) => {
      delete draft.metadata;
    };
    const refused = provided.part(editorOf).edit<Deployment>({ ...options, recipe });
    await expect(until(refused)).rejects.toThrow('metadata.name is undefined; it must stay "web"');
    await until(edit(2));
    await until(() => expect(text()).toBe('2'));
    expect([seen, patches()]).toEqual([['2'], 1]);
    held.heal();
  });

  it('C15: of an object that was deleted and created again is neither shown on the new one nor sent to it', async () => {
    const { until, server, seen, text, edit, stored, create } = await rig();
    const [former] = server.objects.list(deployments);
    server.objects.delete(deployments, target);
    create('web');
    await until(() => expect(seen.at(-1)).toBe('1'));
    const known = server.objects.list(deployments)[0]?.metadata?.uid;
    expect(known).not.toBe(former?.metadata?.uid);
    seen.length = 0;
    await expect(until(edit(4, former as KubernetesObject))).rejects.toThrow(/UID|uid|deleted/);
    expect([text(), stored(), new Set(seen)]).toEqual(['1', 1, new Set()]);
  });

  it('V12: of an object that no query shows is only sent', async () => {
    const { until, server, edit, text, create } = await rig();
    const other = create('other');
    await until(() => expect(text()).toBe('1,1'));
    server.faults.silence();
    const late = create('late');
    await until(edit(5, late));
    await until(edit(6, { namespace: 'shop', name: 'late' }));
    expect(
      server.objects.list(deployments).find(({ metadata }) => metadata?.name === 'late')?.spec
        ?.replicas,
    ).toBe(6);
    expect(text()).toBe('1,1');
    expect(other.spec?.replicas).toBe(1);
  });
});
