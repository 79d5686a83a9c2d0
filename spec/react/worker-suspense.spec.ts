/** Tests the hooks that suspend until a worker has answered, rendered by React's client in virtual time. */
import { liveQuery } from 'rx-informer';
import type { ListResult } from 'rx-informer/react';
import * as informerHooks from 'rx-informer/react';
import { configMaps, pods } from 'rx-informer/resources';
import type { WorkerCluster } from 'rx-informer/worker';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { BrowserRig } from '../worker/browser-rig.ts';
import { container, installPage } from './pages/mini-dom.ts';

const clock = installPage();
const { Component, createElement, StrictMode, Suspense, useState } = await import('react');
const { renderToString } = await import('react-dom/server');
const { createRoot } = await import('react-dom/client');
const { useSuspenseList, useSuspenseQuery, WorkerProvider } = await import(
  'rx-informer/react/worker'
);
type Element = import('react').ReactElement;
type Node = import('react').ReactNode;

const select = { name: 'metadata.name' } as const;
const names = liveQuery({ from: pods, namespace: 'shop', select });
type Row = { readonly name?: string };

function rigWith(...pod: string[]): BrowserRig {
  const rig = new BrowserRig(asyncScheduler);
  for (const name of pod)
    rig.server.objects.create(pods, { metadata: { namespace: 'shop', name } });
  return rig;
}

/** Shows the errors of what is below it. */
class Boundary extends Component<{ onError(error: Error): void; children?: Node }> {
  override state = { isFailed: false };
  static getDerivedStateFromError() {
    return { isFailed: true };
  }
  override componentDidCatch(error: Error) {
    this.props.onError(error);
  }
  override render() {
    return this.state.isFailed ? null : this.props.children;
  }
}

/** A page with one component, whose renders with an answer are noted. */
function pageOf(
  cluster: WorkerCluster,
  hook: () => ListResult<unknown>,
  { isStrict = false, isOuter = false } = {},
) {
  const results: ListResult<unknown>[] = [];
  const errors: Error[] = [];
  let fallbacks = 0;
  let renders = 0;
  const Fallback = () => {
    fallbacks++;
    return null;
  };
  let again: () => void = () => undefined;
  const Rows = () => {
    renders++;
    const [, count] = useState(0);
    again = () => count((before) => before + 1);
    const result = hook();
    results.push(result);
    return null;
  };
  const suspending = (children: Element) =>
    createElement(Suspense, { fallback: createElement(Fallback) }, children);
  const provided = (children: Element) => createElement(WorkerProvider, { cluster }, children);
  const rows = createElement(Rows);
  const page = isOuter ? suspending(provided(rows)) : provided(suspending(rows));
  // Without a text on the console.
  const root = createRoot(container(), { onCaughtError: () => undefined });
  const onError = (error: Error) => errors.push(error);
  const guarded = createElement(Boundary, { onError }, page);
  root.render(isStrict ? createElement(StrictMode, {}, guarded) : guarded);
  return {
    root,
    results,
    errors,
    again: () => again(),
    fallbacks: () => fallbacks,
    renders: () => renders,
    names: () => results.at(-1)?.rows.map((row) => (row as Row).name),
  };
}

/** How many messages of a type were sent. */
const sent = (rig: BrowserRig, type: string) =>
  rig.sent.filter((message) => (message as { type?: string } | undefined)?.type === type).length;

/** How often the worker was asked for a query. */
const asked = (rig: BrowserRig) => sent(rig, 'open');

const HOOKS: [string, () => ListResult<unknown>][] = [
  ['useSuspenseQuery', () => useSuspenseQuery(names)],
  ['useSuspenseList', () => useSuspenseList(pods, { namespace: 'shop', select })],
  ['useSuspenseQuery of rx-informer/react', () => informerHooks.useSuspenseQuery(names)],
  [
    'useSuspenseList of rx-informer/react',
    () => informerHooks.useSuspenseList(pods, { namespace: 'shop', select }),
  ],
];

describe('hooks that suspend over a worker', () => {
  it.each(
    HOOKS.flatMap(([name, hook]) => [false, true].map((isStrict) => ({ name, hook, isStrict }))),
  )(
    'B18: $name shows the first answer complete, asked for once, and then each change (StrictMode $isStrict)',
    async ({ hook, isStrict }) => {
      const rig = rigWith('a', 'b');
      const page = pageOf(rig.open().cluster, hook, { isStrict });
      await clock.advance(1_000);
      expect(page.fallbacks()).toBeGreaterThan(0);
      expect(page.names()).toEqual(['a', 'b']);
      expect(page.results.every(({ synced, stale }) => synced && !stale)).toBe(true);
      expect(asked(rig)).toBe(1);
      rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'c' } });
      await clock.advance(1_000);
      expect(page.names()).toEqual(['a', 'b', 'c']);
      rig.kill();
      await clock.advance(20);
      expect(page.results.at(-1)).toMatchObject({ synced: false, stale: true });
      expect(page.names()).toEqual(['a', 'b', 'c']);
      await clock.advance(10_000);
      expect(page.results.at(-1)).toMatchObject({ synced: true, stale: false });
      expect(page.errors).toEqual([]);
      page.root.unmount();
      await clock.advance(60_000);
      expect(rig.counts.pipelines).toBe(0);
    },
  );

  it.each([false, true])(
    'B18: waits for an answer of any duration without rendering again and again (boundary above the provider: %s)',
    async (isOuter) => {
      const rig = rigWith('a');
      const silence = rig.server.faults.neverAnswer();
      const page = pageOf(rig.open().cluster, () => useSuspenseQuery(names), { isOuter });
      await clock.advance(29_000);
      expect(page.results).toEqual([]);
      expect(page.renders()).toBeLessThan(6);
      await clock.advance(10_000);
      // The lease has ended meanwhile, and the next attempt has taken another.
      expect(page.results).toEqual([]);
      expect(page.renders()).toBeLessThan(10);
      silence.heal();
      await clock.advance(90_000);
      expect(page.names()).toEqual(['a']);
      expect(page.results[0]?.synced).toBe(true);
      expect(asked(rig)).toBe(1);
      page.root.unmount();
      await clock.advance(60_000);
      expect(rig.counts.pipelines).toBe(0);
    },
  );

  it.each([false, true])(
    'B18: an error that blocks the first answer is thrown, and nothing is asked afterwards (boundary above the provider: %s)',
    async (isOuter) => {
      const rig = rigWith('a');
      rig.isTokenRequired = true;
      const page = pageOf(rig.open().cluster, () => useSuspenseQuery(names), { isOuter });
      await clock.advance(3_000);
      expect(String(page.errors[0])).toMatch(/401 Unauthorized/);
      expect(page.results).toEqual([]);
      const renders = page.renders();
      await clock.advance(60_000);
      expect(page.renders()).toBe(renders);
      expect(rig.counts.pipelines).toBe(0);
      page.root.unmount();
    },
  );

  it.each([false, true])(
    'B18: a query that the worker refuses is thrown (boundary above the provider: %s)',
    async (isOuter) => {
      const rig = rigWith('a');
      const hook = () => useSuspenseQuery({ named: 'absent' });
      const page = pageOf(rig.open().cluster, hook, { isOuter });
      await clock.advance(3_000);
      expect(String(page.errors[0])).toMatch(/the worker has no query "absent"/);
      expect(page.results).toEqual([]);
      page.root.unmount();
    },
  );

  it('B18: a refused query is thrown by a component that has shown another one, too', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    let query: typeof names | { readonly named: string } = names;
    const page = pageOf(cluster, () => useSuspenseQuery(query as typeof names));
    await clock.advance(1_000);
    expect(page.names()).toEqual(['a']);
    query = { named: 'absent' };
    page.again();
    await clock.advance(3_000);
    expect(String(page.errors[0])).toMatch(/the worker has no query "absent"/);
    expect(page.names()).toEqual(['a']);
    page.root.unmount();
  });

  it('B18: nobody signed in is an error of the first answer, and later the rows leave the page', async () => {
    const rig = rigWith('a');
    const nobody = rig.open({ identity: undefined });
    await clock.advance(1_000);
    const first = pageOf(nobody.cluster, () => useSuspenseQuery(names));
    await clock.advance(3_000);
    expect(String(first.errors[0])).toMatch(/signed out/);
    expect(first.results).toEqual([]);
    const { cluster } = rig.open();
    const page = pageOf(cluster, () => useSuspenseQuery(names));
    await clock.advance(1_000);
    expect(page.names()).toEqual(['a']);
    cluster.signedOut();
    await clock.advance(3_000);
    expect([page.names(), page.errors]).toEqual([[], []]);
    expect(String(page.results.at(-1)?.error)).toMatch(/signed out/);
    cluster.signedIn('ann');
    await clock.advance(3_000);
    expect(page.names()).toEqual(['a']);
    for (const { root } of [first, page]) root.unmount();
  });

  it.each([
    { what: 'is answered', delayMs: 500, endMs: 2_500 },
    { what: 'has no answer', delayMs: 1_000_000, endMs: 31_500 },
  ])(
    'B18: another query suspends again, and that of a discarded render that $what ends within $endMs ms',
    async ({ delayMs, endMs }) => {
      const rig = rigWith('a');
      const { cluster } = rig.open();
      let query = names;
      const root = createRoot(container());
      const shown: unknown[] = [];
      const Rows = () => {
        shown.push(useSuspenseQuery(query).rows.map(({ name }) => name));
        return null;
      };
      const render = () => {
        const rows = createElement(Suspense, { fallback: null }, createElement(Rows));
        root.render(createElement(WorkerProvider, { cluster }, rows));
      };
      render();
      await clock.advance(1_000);
      rig.server.faults.delay(delayMs);
      query = liveQuery({ from: configMaps, namespace: 'shop', select });
      render();
      await clock.advance(100);
      expect(new Set(shown)).toEqual(new Set([['a']]));
      expect([asked(rig), sent(rig, 'close'), rig.counts.pipelines]).toEqual([2, 0, 2]);
      // React discards the render that waits.
      root.unmount();
      await clock.advance(10);
      expect(sent(rig, 'close')).toBe(1);
      await clock.advance(endMs - 1_600);
      expect(sent(rig, 'close')).toBe(1);
      await clock.advance(1_500);
      expect(sent(rig, 'close')).toBe(2);
      await clock.advance(60_000);
      expect(rig.counts.pipelines).toBe(0);
    },
  );

  it('B18: a component that is unmounted right after its first answer leaves the query at once', async () => {
    const rig = rigWith('a');
    const page = pageOf(rig.open().cluster, () => useSuspenseQuery(names));
    for (let at = 0; at < 100 && page.results.length === 0; at++) await clock.advance(10);
    // React waits before it shows what was suspended.
    await clock.advance(600);
    page.root.unmount();
    await clock.advance(10);
    expect([page.names(), asked(rig), sent(rig, 'close')]).toEqual([['a'], 1, 1]);
  });

  it('B18: on a server the answer is empty, and nothing is asked', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    for (const [, hook] of HOOKS) {
      const Rows = () => `${hook().total}`;
      const page = createElement(WorkerProvider, { cluster }, createElement(Rows));
      expect(renderToString(page)).toBe('0');
    }
    await clock.advance(1_000);
    expect(asked(rig)).toBe(0);
  });
});
