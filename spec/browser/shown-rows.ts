/** Compares the rows on screen with those of the cluster. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { EmbeddedCluster } from '../../examples/dashboard/embedded-cluster.ts';
import type { PageState } from '../../examples/dashboard/page/cluster/page-state.ts';
import type { Row, Sort } from '../../examples/dashboard/page/kinds/kind.ts';
import { orderOf } from '../../examples/dashboard/page/kinds/order.ts';
import { podKind, podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import { testOf } from '../../examples/dashboard/page/table/filter.ts';
import { eventually } from '../support/patience.ts';

type Filter = Pick<PageState, 'filter' | 'tone'>;

/** The rows that a page should have, computed from scratch. */
export function shownOf(cluster: EmbeddedCluster, filter: Filter, sort: Sort): readonly Row[] {
  const compare = orderOf(sort, podKind.columns);
  return cluster
    .list()
    .map((pod) => podRow(pod))
    .filter(testOf(filter.filter.split(' ')))
    .filter(({ tone }) => filter.tone === '' || tone === filter.tone)
    .sort((a, b) => compare(a, b) || (a.uid < b.uid ? -1 : 1));
}

/** Scrolls the table of pods. */
export async function scrollTo(page: Page, top: number): Promise<void> {
  await page.getByRole('grid', { name: 'Pods' }).evaluate((grid, to) => {
    grid.scrollTop = to;
  }, top);
}

/** Compares the rows on screen and their positions. No row of the visible part is missing. */
export async function expectRows(page: Page, expected: readonly Row[]): Promise<void> {
  const read = () =>
    page.getByRole('grid', { name: 'Pods' }).evaluate((grid) => ({
      first: Math.floor(grid.scrollTop / 34),
      visible: Math.floor((grid.clientHeight - 34) / 34),
      count: Number(grid.getAttribute('aria-rowcount')) - 1,
      rows: [...grid.querySelectorAll<HTMLElement>('[data-uid]')].map((row) => ({
        position: Number(row.getAttribute('aria-rowindex')) - 2,
        uid: row.dataset['uid'],
        cells: [...row.querySelectorAll('[role=gridcell]')]
          .slice(0, 4)
          .map((cell) => cell.textContent),
      })),
    }));
  const until = async () => {
    const { first, visible, count, rows } = await read();
    expect(count).toBe(expected.length);
    const start = rows[0]?.position ?? 0;
    expect(start).toBeLessThanOrEqual(first);
    expect(start + rows.length).toBeGreaterThanOrEqual(Math.min(first + visible, count));
    const wanted = expected.slice(start, start + rows.length).map((row, at) => ({
      position: start + at,
      uid: row.uid,
      cells: [...[row.name, row.status, String(row['ready']), String(row['restarts'])]],
    }));
    expect(rows).toEqual(wanted);
  };
  await eventually(until);
}
