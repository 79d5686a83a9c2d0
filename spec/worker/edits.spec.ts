/** Tests edits by a function of the page, which the worker sends. */

import { ApiError, forResource, type KubernetesObject, liveQuery } from 'rx-informer';
import { type Deployment, deployments } from 'rx-informer/resources';
import { editInWorker } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { PROTOCOL } from '../../lib/worker/messages.ts';
import { tabOf } from '../../lib/worker/page/connect-peer.ts';
import { BrowserRig, follow } from './browser-rig.ts';
// The worker loads it with the first edit, which takes real time.
import '../../lib/worker/server/edits.ts';

const scales = liveQuery({
  from: deployments,
  select: { name: 'metadata.name', replicas: 'spec.replicas' },
  orderBy: { path: 'metadata.name' },
});

async function rigOf() {
  const rig = new BrowserRig();
  const web = rig.server.objects.create(deployments, {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { replicas: 1, selector: {}, template: {} },
  } as Deployment);
  const tabs = [rig.open(), rig.open()];
  const shown = tabs.map(({ cluster }) => follow(cluster, scales));
  await rig.pass(1_000);
  const scale = (tab: number, by: number, options = {}) =>
    editInWorker(
      tabs[tab]?.cluster as never,
      deployments,
      'shop/web',
      (draft) => {
        if (draft.spec) draft.spec.replicas = (draft.spec.replicas ?? 0) + by;
      },
      options,
    );
  const replicas = () =>
    shown.map((each) => (each.shown.rows[0] as { replicas?: number } | undefined)?.replicas);
  return { rig, web, tabs, shown, scale, replicas };
}

describe('edits in a worker', () => {
  it('B12: all tabs show the draft before the server has answered, and then what was written', async () => {
    const { rig, scale, replicas } = await rigOf();
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = scale(0, 2);
    await rig.pass(1_000);
    expect(replicas()).toEqual([3, 3]);
    await rig.pass(10_000);
    expect((await edited).spec?.replicas).toBe(3);
    expect(replicas()).toEqual([3, 3]);
    expect(rig.server.objects.list(deployments)[0]?.spec?.replicas).toBe(3);
  });

  it('B12: a draft that has another value of an index is shown by the query of that value', async () => {
    const rig = new BrowserRig();
    const team = (object: KubernetesObject) => [object.metadata?.labels?.['team'] ?? ''];
    rig.factoryOptions = () => ({ resources: [forResource(deployments, { indexers: { team } })] });
    rig.server.objects.create(deployments, {
      metadata: { namespace: 'shop', name: 'web', labels: { team: 'a' } },
      spec: { selector: {}, template: {} },
    } as Deployment);
    const tab = rig.open();
    const [a, b] = ['a', 'b'].map((eq) =>
      follow(
        tab.cluster,
        liveQuery({
          from: deployments,
          select: { name: 'metadata.name' },
          where: { index: 'team', eq },
        }),
      ),
    );
    await rig.pass(1_000);
    expect([a?.shown.total, b?.shown.total]).toEqual([1, 0]);
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = editInWorker(tab.cluster as never, deployments, 'shop/web', (draft) => {
      if (draft.metadata) draft.metadata.labels = { team: 'b' };
    });
    await rig.pass(1_000);
    const shown = [a?.shown.total, b?.shown.total];
    await rig.pass(10_000);
    await edited;
    expect([a?.shown.total, b?.shown.total]).toEqual([0, 1]);
    expect(shown).toEqual([0, 1]);
  });

  it('B12: a dry run is one: no tab shows it, and nothing is written', async () => {
    const { rig, scale, replicas } = await rigOf();
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = scale(0, 2, { dryRun: true });
    await rig.pass(1_000);
    expect(replicas()).toEqual([1, 1]);
    await rig.pass(10_000);
    expect((await edited).spec?.replicas).toBe(3);
    expect(rig.server.objects.list(deployments)[0]?.spec?.replicas).toBe(1);
  });

  it('B12: edits of one object by several tabs are sent one after another, and none is lost', async () => {
    const { rig, scale, replicas } = await rigOf();
    const edits = [scale(0, 1), scale(1, 10), scale(0, 100)];
    await rig.pass(10_000);
    await Promise.all(edits);
    expect(rig.server.objects.list(deployments)[0]?.spec?.replicas).toBe(112);
    expect(replicas()).toEqual([112, 112]);
    expect(rig.requests.filter((each) => each.startsWith('PATCH'))).toHaveLength(3);
  });

  it('B12: an edit of an object does not change another one that has its name', async () => {
    const { rig, web, tabs } = await rigOf();
    rig.server.objects.delete(deployments, { namespace: 'shop', name: 'web' });
    rig.server.objects.create(deployments, {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { replicas: 7, selector: {}, template: {} },
    } as Deployment);
    const edited = editInWorker(tabs[0]?.cluster as never, deployments, web, (draft) => {
      if (draft.spec) draft.spec.replicas = 0;
    }).catch((error: Error) => error.message);
    await rig.pass(1_000);
    expect(await edited).toMatch(/the object with uid .* is gone, and another one has its name/);
    expect(rig.server.objects.list(deployments)[0]?.spec?.replicas).toBe(7);
  });

  it('B12: an edit whose tab has left is not sent', async () => {
    const { rig, tabs, scale } = await rigOf();
    const edited = scale(0, 1).catch((error: Error) => error.message);
    tabs[0]?.turn('left');
    await rig.pass(1_000);
    expect(await edited).toMatch(/may still take effect/);
    expect(rig.requests.filter((each) => each.startsWith('PATCH'))).toEqual([]);
  });

  it('B12: the recipe runs again on the newest state after a conflict', async () => {
    const { rig, tabs } = await rigOf();
    let runs = 0;
    const edited = editInWorker(tabs[0]?.cluster as never, deployments, 'shop/web', (draft) => {
      runs++;
      if (runs === 1) {
        const now = rig.server.objects.list(deployments)[0] as Deployment;
        rig.server.objects.update(deployments, {
          ...now,
          metadata: { ...now.metadata, labels: { by: 'another' } },
        } as never);
      }
      if (draft.spec) draft.spec.replicas = 5;
    });
    await rig.pass(5_000);
    const { metadata, spec } = await edited;
    expect([runs, metadata.labels, spec?.replicas]).toEqual([2, { by: 'another' }, 5]);
  });

  it('B12: a refused edit shows the former state again, and rejects with the error of the server', async () => {
    const { rig, scale, replicas } = await rigOf();
    rig.server.faults.failNext({ method: 'PATCH' }, { status: 403 });
    const edited = scale(0, 1).catch((error: unknown) => error);
    await rig.pass(10_000);
    expect(await edited).toBeInstanceOf(ApiError);
    expect(replicas()).toEqual([1, 1]);
  });

  it('B12: the state of the informer is shown again if no echo comes within the time limit', async () => {
    const { rig, scale, replicas } = await rigOf();
    const held = rig.server.faults.silence();
    const edited = scale(0, 2, { timeoutMs: 3_000 });
    await rig.pass(2_000);
    expect((await edited).spec?.replicas).toBe(3);
    expect(replicas()).toEqual([3, 3]);
    await rig.pass(3_000);
    expect(replicas()).toEqual([1, 1]);
    held.heal();
    await rig.pass(60_000);
    expect(replicas()).toEqual([3, 3]);
  });

  it('B12: an error of the recipe is the error itself, and an edit ends with its worker, session and signal', async () => {
    const { rig, tabs, scale } = await rigOf();
    const own = new RangeError('too many');
    const thrown = editInWorker(tabs[0]?.cluster as never, deployments, 'shop/web', () => {
      throw own;
    }).catch((error: unknown) => error);
    await rig.pass(1_000);
    expect(await thrown).toBe(own);

    const left = new AbortController();
    const errors = (edit: Promise<unknown>) =>
      edit.catch(({ reason, message }: ApiError) => `${reason}: ${message}`);
    rig.server.faults.delay(60_000, { method: 'PATCH' });
    const aborted = errors(scale(0, 1, { signal: left.signal }));
    await rig.pass(100);
    left.abort();
    await rig.pass(1_000);
    expect(await aborted).toMatch(/abort/i);
    const lost = errors(scale(0, 1));
    await rig.pass(100);
    rig.kill();
    await rig.pass(2_000);
    expect(await lost).toMatch(/^Network: the worker has ended; .*may still take effect/);
    const ended = errors(scale(1, 1));
    await rig.pass(100);
    tabs[0]?.cluster.signedOut();
    await rig.pass(100);
    expect(await ended).toMatch(/^Stopped: signed out.*may still take effect/);
    tabs[0]?.cluster.signedIn('ann');
    await rig.pass(2_000);
    const replaced = errors(scale(0, 1));
    await rig.pass(100);
    tabs[0]?.cluster.signedIn('bob');
    await rig.pass(2_000);
    expect(await replaced).toMatch(/^Stopped: .*may still take effect/);
    const closed = errors(scale(0, 1));
    await rig.pass(100);
    tabs[0]?.cluster.close();
    expect(await closed).toMatch(/^Stopped: .*closed; .*may still take effect/);
    expect(await errors(scale(0, 1))).toMatch(/^Stopped: .*closed$/);
  });

  it('B12: an edit ends with its signal also if the worker does not answer, and its recipe runs no more', async () => {
    const { rig, tabs } = await rigOf();
    tabs[0]?.turn('hidden');
    rig.isUnavailable = true;
    rig.kill();
    const left = new AbortController();
    let runs = 0;
    const edit = editInWorker(
      tabs[0]?.cluster as never,
      deployments,
      'shop/web',
      () => {
        runs++;
      },
      { signal: left.signal },
    ).catch(({ reason, message }: ApiError) => `${reason}: ${message}`);
    await rig.pass(60_000);
    left.abort();
    expect(await edit).toMatch(/^Aborted: edit of .* web: .*may still take effect$/);
    expect(tabOf(tabs[0]?.cluster as never).edits.size).toBe(0);
    rig.isUnavailable = false;
    tabs[0]?.turn('shown');
    await rig.pass(60_000);
    expect(runs).toBe(0);
  });

  it('B12: an edit that waits for others ends with its signal, is not sent, and keeps its place in the order', async () => {
    const { rig, scale } = await rigOf();
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const first = scale(0, 1);
    await rig.pass(100);
    const left = new AbortController();
    const aborted = scale(1, 10, { signal: left.signal }).catch((error: ApiError) => error);
    await rig.pass(100);
    left.abort();
    let reason: unknown;
    void aborted.then((error) => {
      reason = (error as ApiError).reason;
    });
    await rig.pass(100);
    expect(reason).toBe('Aborted');
    const last = scale(1, 100);
    await rig.pass(1_000);
    const patches = () => rig.requests.filter((each) => each.startsWith('PATCH')).length;
    expect(patches()).toBe(1);
    await rig.pass(10_000);
    await Promise.all([first, last]);
    expect([patches(), rig.server.objects.list(deployments)[0]?.spec?.replicas]).toEqual([2, 102]);
  });

  it('B12: a tab that does not answer holds up the edits of others only for the time of its own', async () => {
    const { rig, tabs, scale } = await rigOf();
    rig.server.faults.delay(500, { method: 'GET' });
    void scale(0, 1, { timeoutMs: 3_000 }).catch(() => undefined);
    await rig.pass(100);
    // It receives the state, and answers nothing.
    tabs[0]?.freeze();
    const edited = scale(1, 10);
    let isDone = false;
    void edited.then(() => {
      isDone = true;
    });
    await rig.pass(5_000);
    expect(isDone).toBe(true);
    expect(rig.server.objects.list(deployments)[0]?.spec?.replicas).toBe(11);
  });

  it('B12: the draft hides no change of another writer in a list that it has not changed', async () => {
    const { rig, tabs, scale } = await rigOf();
    const query = liveQuery({
      from: deployments,
      select: { conditions: 'status.conditions', replicas: 'spec.replicas' },
    });
    const shown = follow(tabs[1]?.cluster as never, query);
    const judge = (status: string) => {
      const now = rig.server.objects.list(deployments)[0];
      const conditions = [{ type: 'Available', status }];
      rig.server.objects.update(deployments, { ...now, status: { conditions } } as never);
    };
    judge('False');
    await rig.pass(1_000);
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = scale(0, 2);
    await rig.pass(1_000);
    judge('True');
    await rig.pass(1_000);
    expect(shown.shown.rows).toEqual([
      { conditions: [{ type: 'Available', status: 'True' }], replicas: 3 },
    ]);
    await rig.pass(60_000);
    expect((await edited).spec?.replicas).toBe(3);
  });

  it('V22: the draft hides no change of another writer to another container, in the worker and its tabs', async () => {
    const { rig, tabs } = await rigOf();
    const images = (a: string, b: string) => [
      { name: 'a', image: a },
      { name: 'b', image: b },
    ];
    const put = (a: string, b: string) => {
      const now = rig.server.objects.list(deployments)[0];
      const spec = { ...now?.spec, template: { spec: { containers: images(a, b) } } };
      rig.server.objects.update(deployments, { ...now, spec } as never);
    };
    put('a:1', 'b:1');
    const query = liveQuery({
      from: deployments,
      select: { containers: 'spec.template.spec.containers' },
    });
    const shown = follow(tabs[1]?.cluster as never, query);
    await rig.pass(1_000);
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = editInWorker(tabs[0]?.cluster as never, deployments, 'shop/web', (draft) => {
      const first = draft.spec?.template.spec?.containers[0];
      if (first) first.image = 'a:2';
    });
    await rig.pass(1_000);
    put('a:1', 'b:2');
    await rig.pass(1_000);
    expect(shown.shown.rows).toEqual([{ containers: images('a:2', 'b:2') }]);
    await rig.pass(60_000);
    await edited;
    expect(shown.shown.rows).toEqual([{ containers: images('a:2', 'b:2') }]);
  });

  it('B12: an edit whose tab was forgotten by the worker ends', async () => {
    const { rig, tabs, scale } = await rigOf();
    rig.server.faults.delay(500, { method: 'GET' });
    const edited = scale(0, 1, { timeoutMs: 200_000 }).catch((error: Error) => error.message);
    await rig.pass(100);
    tabs[0]?.freeze();
    await rig.pass(120_000);
    tabs[0]?.thaw();
    await rig.pass(1_000);
    expect(await edited).toMatch(/may still take effect/);
  });

  it('B12: an error of the recipe that has no text is the error itself', async () => {
    const { rig, tabs } = await rigOf();
    const own: unknown = Object.create(null);
    const thrown = editInWorker(tabs[0]?.cluster as never, deployments, 'shop/web', () => {
      throw own;
    }).catch((error: unknown) => error);
    await rig.pass(1_000);
    expect(await thrown).toBe(own);
  });

  /** A tab whose program is not ours sends an edit. */
  function editing(rig: Awaited<ReturnType<typeof rigOf>>['rig'], timeoutMs: unknown) {
    const raw = rig.connectRaw();
    const session = { incarnation: 'worker-1', epoch: 1 };
    const hello = { type: 'hello', protocol: PROTOCOL, identity: 'ann', isHidden: false };
    raw.post({ ...hello, hasCredentials: false });
    const resource = { group: 'apps', version: 'v1', plural: 'deployments' };
    const edit = { resource, namespace: 'shop', name: 'web', options: {}, timeoutMs };
    raw.post({ type: 'edit', id: 1, edit, ...session });
    return { raw, session };
  }

  it.each([null, 5, 'web', [], {}, { metadata: null }])(
    'B12: a tab that answers with %j instead of a draft changes nothing in the rows of others',
    async (draft) => {
      const { rig, replicas, shown } = await rigOf();
      rig.server.faults.delay(3_000, { method: 'PATCH' });
      const { raw, session } = editing(rig, 5_000);
      await rig.pass(500);
      raw.post({ type: 'draft', id: 1, draft, ...session });
      for (const ms of [1_000, 10_000]) {
        await rig.pass(ms);
        expect(shown[0]?.shown.rows).toEqual([{ name: 'web', replicas: 1 }]);
        expect(replicas()).toEqual([1, 1]);
      }
      expect(raw.received).toContainEqual(
        expect.objectContaining({
          type: 'edited',
          error: expect.objectContaining({ message: expect.stringMatching(/not an object with/) }),
        }),
      );
    },
  );

  it.each([Number.NaN, -1, 'soon'])(
    'B12: the worker refuses an edit with the time %j, which a tab may send',
    async (timeoutMs) => {
      const { rig } = await rigOf();
      const { raw } = editing(rig, timeoutMs);
      await rig.pass(1_000);
      expect(raw.received.at(-1)).toMatchObject({
        type: 'edited',
        error: { message: expect.stringMatching(/timeoutMs is .*; it must be/) },
      });
    },
  );
});
