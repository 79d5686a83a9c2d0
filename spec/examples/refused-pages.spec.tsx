/** Tests what the pages of the guides show of an error, with rows and without. */
import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';

const { answer, hooks } = vi.hoisted(() => {
  const answer: { current: unknown } = { current: undefined };
  const Children = ({ children }: { readonly children: ReactNode }) => children;
  const hooks = () => ({
    InformerProvider: Children,
    WorkerProvider: Children,
    useList: () => answer.current,
    useQuery: () => ({ rows: [], total: 0 }),
    useEdit: () => ({ edit: () => undefined, pending: 0 }),
    useStatus: () => ({ phase: 'idle' }),
  });
  return { answer, hooks };
});
vi.mock('rx-informer/react', hooks);
vi.mock('rx-informer/react/worker', hooks);
vi.mock('rx-informer/worker', () => ({
  connectWorker: () => ({ view: () => undefined }),
  workerQuery: () => undefined,
}));

const PAGES = {
  'react.md': () => import('../generated-examples/react/src/App.tsx'),
  'tabs.md': () => import('../generated-examples/tabs/src/App.tsx'),
  'next.md': () => import('../generated-examples/next/app/page.tsx'),
};

it.each(Object.entries(PAGES))(
  'V7: the page of %s shows the error beside the rows, and alone without rows',
  async (_, load) => {
    const { default: Page } = await load();
    const page = (answered: object) => {
      answer.current = { rows: [], total: 0, synced: true, stale: false, ...answered };
      return renderToStaticMarkup(createElement(Page));
    };
    const rows = [{ name: 'web', uid: 'u1', metadata: { name: 'web', uid: 'u1' } }];
    const error = new Error('pods is forbidden');
    const alert = '<p role="alert">The cluster refuses the list: pods is forbidden</p>';
    expect(page({ rows })).not.toContain('refuses');
    for (const synced of [true, false]) {
      expect(page({ rows, error, synced })).toContain(alert);
      expect(page({ rows, error, synced })).toContain('web');
      expect(page({ error, synced })).toContain(alert);
    }
  },
);
