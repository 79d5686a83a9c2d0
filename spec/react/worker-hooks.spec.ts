/** Tests the hooks over a worker: their names, their provider, what they ask, and the components that React's client renders with them. */

import { createElement, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient, liveQuery } from 'rx-informer';
import type { EditResult, ListResult, StatusResult } from 'rx-informer/react';
import * as hooks from 'rx-informer/react';
import * as workerHooks from 'rx-informer/react/worker';
import { useEdit, useList, useQueryStatus, WorkerProvider } from 'rx-informer/react/worker';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { WorkerState } from '../../lib/react/in-worker/worker-provider.ts';
import { BrowserRig } from '../worker/browser-rig.ts';
import { container, installDocument } from './pages/mini-dom.ts';

// The worker loads it with the first edit, which takes real time.
import '../../lib/worker/server/edits.ts';

installDocument();
const { flushSync } = await import('react-dom');
const { createRoot } = await import('react-dom/client');
const columns = { name: 'metadata.name' } as const;

/** A page with the Pods of a namespace, under StrictMode. */
async function pageOf() {
  const rig = new BrowserRig();
  for (const namespace of ['ann', 'bob']) {
    rig.server.objects.create(pods, { metadata: { namespace, name: `pod-of-${namespace}` } });
  }
  const { cluster } = rig.open();
  const root = createRoot(container());
  let shown: ListResult<unknown> | undefined;
  const Page = ({ namespace }: { readonly namespace: string }) => {
    shown = useList(pods, { namespace, select: columns });
    return null;
  };
  const show = (namespace: string) =>
    flushSync(() =>
      root.render(
        createElement(
          StrictMode,
          undefined,
          createElement(WorkerProvider, { cluster }, createElement(Page, { namespace })),
        ),
      ),
    );
  show('ann');
  await rig.pass(1_000);
  return { rig, cluster, root, show, shown: () => [shown?.rows, shown?.stale] };
}

describe('a page over a worker', () => {
  it.each(['signed out', 'signed in as another user'])(
    'B5: the rows of the former arguments do not stand in once the user has %s',
    async (what) => {
      const { rig, cluster, root, show, shown } = await pageOf();
      expect(shown()).toEqual([[{ name: 'pod-of-ann' }], false]);
      rig.server.faults.delay(5_000);
      show('bob');
      await rig.pass(100);
      expect(shown()).toEqual([[{ name: 'pod-of-ann' }], true]);
      if (what === 'signed out') cluster.signedOut();
      else cluster.signedIn('bob');
      await rig.pass(100);
      expect(shown()[0]).toEqual([]);
      root.unmount();
    },
  );

  it('B13: useEdit takes all options of the hook over informers, also a clock and other functions', async () => {
    const { rig, cluster, root } = await pageOf();
    let edits: EditResult<Pod> | undefined;
    const Editor = () => {
      edits = useEdit(pods);
      return null;
    };
    const page = createElement(WorkerProvider, { cluster }, createElement(Editor));
    flushSync(() => root.render(page));
    const label = edits?.edit(
      'ann/pod-of-ann',
      (draft) => {
        if (draft.metadata) draft.metadata.labels = { edited: 'yes' };
      },
      { scheduler: rig.scheduler, random: () => 0, backoff: () => 5, attempts: 3, dryRun: false },
    );
    await rig.pass(1_000);
    expect((await label)?.metadata.labels).toEqual({ edited: 'yes' });
    root.unmount();
  });

  it('B13: useEdit edits the resource of its last render, also if only the group has changed', async () => {
    const { rig, cluster, root } = await pageOf();
    let edits: EditResult<Pod> | undefined;
    const Editor = ({ of }: { readonly of: typeof pods }) => {
      edits = useEdit(of);
      return null;
    };
    const show = (of: typeof pods) =>
      flushSync(() =>
        root.render(createElement(WorkerProvider, { cluster }, createElement(Editor, { of }))),
      );
    show(pods);
    show({ ...pods, group: 'example.com', apiVersion: 'example.com/v1' });
    void edits?.edit('ann/pod-of-ann', () => undefined);
    await rig.pass(1_000);
    expect(rig.requests.at(-1)).toBe('GET /apis/example.com/v1/namespaces/ann/pods/pod-of-ann');
    show(pods);
    // The error of one edit stays when another one, which began before it, has succeeded.
    void edits?.edit('ann/pod-of-ann', () => undefined);
    void edits?.edit('ann/no-pod', () => undefined, { attempts: 0 });
    await rig.pass(1_000);
    expect(edits).toMatchObject({ pending: 0, error: { message: /attempts/ } });
    root.unmount();
  });

  it('B13: useQueryStatus returns the status of the query that it is given, and of none', async () => {
    const { rig, cluster, root } = await pageOf();
    const query = liveQuery({ from: pods, namespace: 'ann', select: columns });
    let shown: StatusResult | undefined;
    const Status = ({ isAsked }: { readonly isAsked: boolean }) => {
      shown = useQueryStatus(isAsked ? query : undefined);
      return null;
    };
    const show = async (isAsked: boolean) => {
      const status = createElement(Status, { isAsked });
      flushSync(() => root.render(createElement(WorkerProvider, { cluster }, status)));
      await rig.pass(60_000);
      return [shown?.synced, shown?.status.phase, rig.counts.pipelines];
    };
    expect(await show(false)).toEqual([false, undefined, 0]);
    expect(await show(true)).toEqual([true, 'watching', 1]);
    expect(await show(false)).toEqual([false, undefined, 0]);
    root.unmount();
  });

  it('B8: a page that unmounts under StrictMode leaves no query in the worker', async () => {
    const { rig, root } = await pageOf();
    expect(rig.counts).toEqual({ tabs: 1, pipelines: 1 });
    root.unmount();
    await rig.pass(60_000);
    expect(rig.counts).toEqual({ tabs: 1, pipelines: 0 });
  });
});

describe('the hooks over a worker', () => {
  const { useList, useObject, useStatus, WorkerProvider } = workerHooks;
  function Page() {
    const list = useList(pods, { select: columns });
    const { object } = useObject(pods, { namespace: 'shop', name: 'web' });
    const { status } = useStatus();
    return `${list.total} ${list.synced} ${object === undefined} ${status.live ?? 'unknown'}`;
  }

  it('B13: have the names of the hooks over informers', () => {
    const own = Object.keys(workerHooks).filter((name) => name !== 'WorkerProvider');
    expect(own.filter((name) => !(name in hooks))).toEqual([]);
    expect(
      Object.keys(hooks)
        .filter((name) => !own.includes(name))
        .sort(),
    ).toEqual(['InformerProvider', 'useInformer']);
  });

  it('B13: ask nothing on a server, and say which provider they need', () => {
    const rig = new BrowserRig();
    const { cluster } = rig.open();
    const page = createElement(WorkerProvider, { cluster }, createElement(Page));
    expect(renderToString(page)).toBe('0 false true unknown');
    expect(() => renderToString(createElement(Page))).toThrow(/useList: there is no <\w+> above/);
    const client = createClient({ baseUrl: 'http://fake' });
    const wrong = createElement(hooks.InformerProvider, { client }, createElement(Page));
    expect(() => renderToString(wrong)).toThrow(/useList: .* needs a <WorkerProvider>/);
    const Informer = () => `${hooks.useInformer(pods)}`;
    const informer = createElement(WorkerProvider, { cluster }, createElement(Informer));
    expect(() => renderToString(informer)).toThrow(
      /useInformer: there is no <InformerProvider> above/,
    );
    expect(() =>
      renderToString(
        createElement(
          WorkerProvider,
          { cluster },
          createElement(() => `${useList(pods)}`),
        ),
      ),
    ).toThrow(/useList: the query has no select/);
  });

  it('B13: the hooks over informers read the worker, too, below a WorkerProvider', async () => {
    const rig = new BrowserRig();
    rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const state = new WorkerState(rig.open().cluster);
    const query = liveQuery({ from: pods, select: columns });
    const source = state.answered(query as never);
    const leave = source.subscribe(() => undefined);
    await rig.pass(1_000);
    expect(source.getSnapshot()).toMatchObject({
      rows: [{ name: 'web' }],
      synced: true,
      stale: false,
      error: undefined,
    });
    expect([...state.used].length).toBe(1);
    rig.isUnavailable = true;
    rig.kill();
    await rig.pass(1_000);
    expect(source.getSnapshot()).toMatchObject({
      rows: [{ name: 'web' }],
      synced: false,
      stale: true,
    });
    leave();
  });

  it('B13: rows of other columns, of another resource or of another named query never stand in', () => {
    const state = new WorkerState(new BrowserRig().open().cluster);
    const kept = (given: object) =>
      state
        .asked('test', given as never)
        .identity.slice(0, 3)
        .join(' ');
    const query = { from: pods, select: columns };
    expect(kept({ ...query, limit: 3 })).toBe(kept({ ...query, namespace: 'shop' }));
    expect(kept({ ...query, select: { ns: 'metadata.namespace' } })).not.toBe(kept(query));
    expect(kept({ named: 'a' })).not.toBe(kept({ named: 'b' }));
    expect(kept({ named: 'a', params: 1 })).toBe(kept({ named: 'a', params: 2 }));
  });
});
