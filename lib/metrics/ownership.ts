/** What is measured of an elector and of a member of a ring. client-go: tools/leaderelection/metrics.go. */
import type { MeasuredSlots } from '../meta/metrics.ts';
import { SHARD_SLOTS } from '../meta/shard-ranges/ranges.ts';
import type { GaugeRow } from './gauges.ts';

/** The gauge of an elector. */
export function leadRows(isLeading: () => boolean): GaugeRow[] {
  const description = '1 if this process holds the Lease and may work, otherwise 0';
  return [['leader_election_master_status', description, () => Number(isLeading())]];
}

/** The gauges of a member of a ring. */
export function slotRows(read: () => MeasuredSlots): GaugeRow[] {
  return [
    ['informer_shard_slots', 'Slots of the ring', () => SHARD_SLOTS],
    ['informer_shard_slots_owned', 'Slots that this process owns', () => read().owned.length],
    [
      'informer_shard_slots_releasing',
      'Slots whose running work must end before another process may own them',
      () => read().releasing.length,
    ],
    [
      'informer_shard_members',
      'Members of the ring that this process knows',
      () => read().members.length,
    ],
  ];
}
