/** The quotas of namespaces as rows, with what is used of each resource. */
import { parseQuantity } from 'rx-informer';
import { type ResourceQuota, resourceQuotas } from 'rx-informer/resources';
import { quantityOf } from './amounts.ts';
import { column, columnsWith, defineKind, rowOf } from './kind.ts';

/** A resource of a quota: `requests.cpu`, what is used of it, and the part of the limit. */
export interface Usage {
  readonly resource: string;
  readonly text: string;
  readonly share: number;
}

/** What is used of a quota, the fullest resource first. */
export function usageOf({ spec, status }: ResourceQuota): readonly Usage[] {
  const { hard = spec?.hard ?? {}, used = {} } = status ?? {};
  return Object.entries(hard)
    .map(([resource, limit]) => {
      const [of, is] = [parseQuantity(limit).value, parseQuantity(used[resource] ?? 0).value];
      // Of a limit of 0 nothing is left.
      const share = of === 0 ? 1 : is / of;
      return { resource, text: quantityOf(resource, used[resource] ?? 0, limit), share };
    })
    .sort((one, other) => other.share - one.share);
}

export const quotaKind = defineKind({
  id: 'quotas',
  title: 'Quotas',
  resource: resourceQuotas,
  sort: { key: 'fullest', descending: true },
  tones: { good: 'Free', bad: 'Used up' },
  columns: columnsWith(
    { ...column.status, width: 110 },
    { id: 'fullest', title: 'Fullest', type: 'share', width: 240, grow: 1.5, largestFirst: true },
    { id: 'all', title: 'All resources', type: 'text', width: 240, grow: 3 },
  ),
  row: (quota) => {
    const usage = usageOf(quota);
    const isUsedUp = usage.some(({ share }) => share >= 1);
    const words = usage.map(({ resource, text }) => `${resource} ${text}`);
    const [{ share = 0 } = {}] = usage;
    return rowOf(
      quota,
      isUsedUp
        ? { status: 'Used up', tone: 'bad', why: words[0] ?? '' }
        : { status: 'Free', tone: 'good' },
      { fullest: share, fullestText: words[0] ?? '', all: words.join(', ') },
      ...words,
    );
  },
});
