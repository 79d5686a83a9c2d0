/** Finalizers: adding, removing, and the reconcile in two parts. */
import {
  addFinalizer,
  createClient,
  createResourceClient,
  type FinalizerHandlers,
  finalizer,
  type KubernetesObject,
  type ReconcileRequest,
  removeFinalizer,
  workQueue,
} from 'rx-informer';
import { type Deployment, deployments } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { defer, firstValueFrom, of, Subject, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/patience.ts';

const place = { namespace: 'shop', name: 'web' };
const ours = 'example.com/cleanup';

function rig(finalizers?: string[]) {
  const server = createFakeApiServer();
  const kube = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const client = createResourceClient(kube, deployments);
  const spec = { selector: {}, template: {} };
  const metadata = { ...place, ...(finalizers && { finalizers }) };
  const first = server.objects.create(deployments, { metadata, spec } as unknown as Deployment);
  const now = () => server.objects.get(deployments, place);
  const touch = (change: (metadata: NonNullable<KubernetesObject['metadata']>) => void) =>
    server.objects.modify(deployments, place, (draft) => change(draft.metadata ?? {}));
  const patches = () => server.requests.filter(({ method }) => method === 'PATCH').length;
  return { server, client, first, now, touch, patches };
}

describe('parts that return an Observable', () => {
  const request = (object: Deployment, signal = new AbortController().signal) =>
    ({ object, signal }) as unknown as ReconcileRequest<Deployment>;
  const deleted = () => {
    const all = rig([ours, 'other.dev/x']);
    all.server.objects.delete(deployments, place);
    return { ...all, object: all.now() as Deployment };
  };

  it('N10: the cleanup is run, and the finalizer is removed when it has completed', async () => {
    const { client, object, now } = deleted();
    const done = new Subject<undefined>();
    const cleanup = () => done;
    const reconcile = finalizer(client, ours, { apply: () => undefined, cleanup });
    const ended = reconcile('shop/web', request(object));
    await eventually(() => expect(done.observed).toBe(true));
    expect(now()?.metadata.finalizers).toContain(ours);
    done.complete();
    await ended;
    expect(now()?.metadata.finalizers).toEqual(['other.dev/x']);
  });

  it('N10: its last value is the result: a requeue keeps the finalizer', async () => {
    const { client, object, now } = deleted();
    const cleanup = () => of(undefined, { requeueAfterMs: 500 });
    const reconcile = finalizer(client, ours, { apply: () => undefined, cleanup });
    expect(await reconcile('shop/web', request(object))).toEqual({ requeueAfterMs: 500 });
    expect(now()?.metadata.finalizers).toContain(ours);
  });

  it('N10: an error and an abort keep the finalizer, and an abort unsubscribes', async () => {
    const { client, object, now } = deleted();
    const failing = finalizer(client, ours, {
      apply: () => undefined,
      cleanup: () => throwError(() => new Error('not yet')),
    });
    await expect(failing('shop/web', request(object))).rejects.toThrow('not yet');
    const never = new Subject<undefined>();
    const abort = new AbortController();
    const reconcile = finalizer(client, ours, { apply: () => undefined, cleanup: () => never });
    const ended = reconcile('shop/web', request(object, abort.signal));
    await eventually(() => expect(never.observed).toBe(true));
    abort.abort(new Error('stopped'));
    await expect(ended).rejects.toThrow('stopped');
    expect(never.observed).toBe(false);
    await expect(reconcile('shop/web', request(object, abort.signal))).rejects.toThrow('stopped');
    expect(now()?.metadata.finalizers).toContain(ours);
  });

  it('N10: `apply` is run, and its last value is the result', async () => {
    const { client, first } = rig([ours]);
    let runs = 0;
    const apply = () =>
      defer(() => {
        runs++;
        return of({ requeueAfterMs: 700 });
      });
    const reconcile = finalizer(client, ours, { apply, cleanup: () => undefined });
    expect(await reconcile('shop/web', request(first as Deployment))).toEqual({
      requeueAfterMs: 700,
    });
    expect(runs).toBe(1);
  });
});

describe('a finalizer', () => {
  it('N10: is added once, to an empty list and to the end of a list', async () => {
    const { client, first, now, patches } = rig();
    await addFinalizer(client, first, ours);
    expect(now()?.metadata.finalizers).toEqual([ours]);
    // The cached object is old: it does not have the finalizer yet.
    await addFinalizer(client, first, ours);
    expect(now()?.metadata.finalizers).toEqual([ours]);
    const sent = patches();
    await addFinalizer(client, now() as Deployment, ours);
    expect(patches()).toBe(sent);

    const shared = rig(['a.dev/x']);
    await addFinalizer(shared.client, shared.first, ours);
    expect(shared.now()?.metadata.finalizers).toEqual(['a.dev/x', ours]);
  });

  it('N10: a finalizer of another controller is kept, whatever that controller does meanwhile', async () => {
    const { client, first, now, touch } = rig();
    touch((metadata) => {
      metadata.finalizers = ['a.dev/x', 'b.dev/y'];
      metadata.labels = { touched: 'yes' };
    });
    await addFinalizer(client, first, ours);
    expect(now()?.metadata.finalizers).toEqual(['a.dev/x', 'b.dev/y', ours]);
    const before = now() as Deployment;
    touch((metadata) => {
      metadata.finalizers = ['b.dev/y', ours, 'c.dev/z'];
    });
    // It has another position in the list now.
    const after = await removeFinalizer(client, before, ours);
    expect(after?.metadata?.finalizers).toEqual(['b.dev/y', 'c.dev/z']);
    expect(now()?.metadata).toMatchObject({ labels: { touched: 'yes' } });
    expect(await removeFinalizer(client, before, ours)).toMatchObject({ metadata: place });
  });

  it('N10: is removed without a conflict if another part of the object changes', async () => {
    const { client, first, now, touch, patches } = rig([ours]);
    touch((metadata) => {
      metadata.labels = { busy: 'yes' };
    });
    await removeFinalizer(client, first, ours);
    expect(patches()).toBe(1);
    expect(now()?.metadata.finalizers ?? []).toEqual([]);
  });

  it('N10: is not removed from another object of that name, and a deleted object is no error', async () => {
    const { server, client, first, now } = rig();
    server.objects.delete(deployments, place);
    expect(await addFinalizer(client, first, ours)).toBeUndefined();
    server.objects.create(deployments, {
      metadata: { ...place, finalizers: [ours] },
    } as unknown as Deployment);
    expect(
      await removeFinalizer(
        client,
        { ...first, metadata: { ...first.metadata, finalizers: [ours] } },
        ours,
      ),
    ).toBeUndefined();
    expect(now()?.metadata.finalizers).toEqual([ours]);
  });

  it('N10: is not added to an object that is being deleted', async () => {
    const { server, client, first, now } = rig(['a.dev/x']);
    server.objects.delete(deployments, place);
    const answered = await addFinalizer(client, first, ours);
    expect(answered?.metadata?.deletionTimestamp).toBeDefined();
    expect(now()?.metadata.finalizers).toEqual(['a.dev/x']);
  });

  it('N10: is given up after five attempts if the conflict does not end', async () => {
    const { client, first } = rig();
    let tries = 0;
    const calls = {
      get: client.get.bind(client),
      patch: () => {
        tries++;
        return client.patch(place, { json: [{ op: 'test', path: '/kind', value: 'x' }] });
      },
    };
    await expect(addFinalizer(calls, first, ours)).rejects.toMatchObject({ code: 422 });
    expect(tries).toBe(5);
  });
});

describe('a reconcile in two parts', () => {
  function halves(all: ReturnType<typeof rig>, more: Partial<FinalizerHandlers<Deployment>> = {}) {
    const calls: string[] = [];
    const reconcile = finalizer(all.client, ours, {
      apply: (object) => {
        calls.push(`apply ${object.metadata?.finalizers}, ${all.now()?.metadata.finalizers}`);
      },
      cleanup: (object) => {
        calls.push(`cleanup ${object.metadata?.finalizers}`);
      },
      ...more,
    });
    const call = (object: Deployment | undefined) => {
      const { signal } = new AbortController();
      return reconcile('shop/web', { object, signal } as ReconcileRequest<Deployment>);
    };
    return { calls, call };
  }

  it('N10: applies nothing before the finalizer is on the object, and applies in the same reconcile', async () => {
    const all = rig();
    const { calls, call } = halves(all);
    await call(all.first);
    expect(calls).toEqual([`apply ${ours}, ${ours}`]);
    await call(undefined);
    expect(calls).toHaveLength(1);
  });

  it('N10: removes the finalizer when the cleanup is done, and not before', async () => {
    const all = rig([ours, 'a.dev/x']);
    let answer: object | undefined = { requeueAfterMs: 1_000 };
    let failing = false;
    const { call } = halves(all, {
      cleanup: () => {
        if (failing) throw new Error('the provider is down');
        return answer as never;
      },
    });
    all.server.objects.delete(deployments, place);
    const marked = all.now() as Deployment;
    expect(await call(marked)).toEqual({ requeueAfterMs: 1_000 });
    expect(all.now()?.metadata.finalizers).toEqual([ours, 'a.dev/x']);
    failing = true;
    await expect(call(marked)).rejects.toThrow('the provider is down');
    expect(all.now()?.metadata.finalizers).toEqual([ours, 'a.dev/x']);
    [failing, answer] = [false, undefined];
    await call(marked);
    expect(all.now()?.metadata.finalizers).toEqual(['a.dev/x']);
  });

  it.each(['test', 'production'])(
    'N10: a cleanup with an invalid requeueAfterMs keeps the finalizer, and the key is given up (NODE_ENV %s)',
    async (mode) => {
      vi.stubEnv('NODE_ENV', mode);
      try {
        const all = rig([ours]);
        const cleanup = () => ({ requeueAfterMs: Date.parse('not known yet') - 1_000 });
        const { call } = halves(all, { cleanup });
        all.server.objects.delete(deployments, place);
        const marked = all.now() as Deployment;
        const outcome = await firstValueFrom(of('shop/web').pipe(workQueue(() => call(marked))));
        expect(outcome).toMatchObject({ type: 'gaveUp', error: expect.any(TypeError) });
        expect(all.now()?.metadata.finalizers).toEqual([ours]);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  it('N10: ends when the finalizer is removed, and fails if that fails', async () => {
    const all = rig([ours]);
    const { call } = halves(all);
    all.server.objects.delete(deployments, place);
    const marked = all.now() as Deployment;
    all.server.faults.failNext({ method: 'PATCH' }, { status: 403, message: 'no patches today' });
    await expect(call(marked)).rejects.toThrow('no patches today');
    expect(all.now()?.metadata.finalizers).toEqual([ours]);
    await call(marked);
    expect(all.now()).toBeUndefined();
  });

  it('N10: calls neither part for an object that is being deleted without the finalizer, or that is deleted before it is added', async () => {
    const all = rig(['a.dev/x']);
    const { calls, call } = halves(all);
    all.server.objects.delete(deployments, place);
    await call(all.now());
    await call(all.first);
    expect(calls).toEqual([]);
    expect(() => finalizer(all.client, 'cleanup', { apply() {}, cleanup() {} })).toThrow(
      /^finalizer: name is "cleanup"; it must be 'domain\/name'/,
    );
  });
});
