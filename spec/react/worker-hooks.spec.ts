/** Tests the hooks over a worker: their names, their provider, and what they ask. */
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient, liveQuery } from 'rx-informer';
import * as hooks from 'rx-informer/react';
import * as workerHooks from 'rx-informer/react/worker';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { WorkerState } from '../../lib/react/in-worker/worker-provider.ts';
import { BrowserRig } from '../worker/browser-rig.ts';

const { useList, useObject, useStatus, WorkerProvider } = workerHooks;
const columns = { name: 'metadata.name' } as const;

function Page() {
  const list = useList(pods, { select: columns });
  const { object } = useObject(pods, { namespace: 'shop', name: 'web' });
  const { status } = useStatus();
  return `${list.total} ${list.synced} ${object === undefined} ${status.live ?? 'unknown'}`;
}

describe('the hooks over a worker', () => {
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
