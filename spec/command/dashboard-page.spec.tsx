/** The page of `rx-informer init dashboard`: what screen readers and the keyboard find in it. */
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';

const answer: { current: unknown } = { current: undefined };
vi.mock('rx-informer/react', () => ({ useQuery: () => answer.current }));
const { PodsTable } = await import('../../lib/command/templates/dashboard/src/pods-table.tsx');

const web = { uid: 'u1', namespace: 'shop', name: 'web' };

function page(answered: object): string {
  answer.current = { rows: [web], total: 1, synced: true, stale: false, ...answered };
  return renderToStaticMarkup(<PodsTable />);
}

it('V47: shows the error beside the rows, and alone without rows', () => {
  const error = new Error('pods is forbidden');
  const alert = '<p role="alert">The cluster refuses: pods is forbidden</p>';
  expect(page({})).not.toContain('alert');
  expect(page({ error })).toContain(alert);
  expect(page({ error })).toContain('web');
  expect(page({ error, rows: [], total: 0 })).toBe(alert);
});

it('V47: the count is in the one region that screen readers follow only when its answer is complete', () => {
  const regions = (html: string) =>
    html.match(/<output.*?<\/output>|<(\w+) (?:role="status"|aria-live).*?<\/\1>/g);
  const heard = (text: string) => [`<p role="status" class="heard">${text}</p>`];
  expect(regions(page({ total: 60 }))).toEqual(heard('60 Pods, page 1 of 3'));
  expect(regions(page({ stale: true, total: 60 }))).toEqual(heard(''));
  expect(page({ stale: true, total: 60 })).toContain('60 Pods');
});

it('V47: the buttons of pages that do not exist keep the focus', () => {
  const html = page({ total: 30 });
  expect(html).not.toMatch(/<button[^>]* disabled/);
  expect(html).toContain('aria-disabled="true">Previous<');
  expect(html).toContain('aria-disabled="false">Next<');
});
