/** CronJobs, each with the outcome of its last Job. */
import { liveJoin } from 'rx-informer';
import { cronJobs } from 'rx-informer/resources';
import { column, columnsWith, defineKind, type Row, rowOf } from './kind.ts';
import { byOwner } from './roll-up.ts';
import { jobKind } from './workloads.ts';

/** The row of a CronJob. It fails if the last of its Jobs that has ended has failed. */
export function withJobs(row: Row, jobs: readonly Row[]): Row {
  const ended = jobs.filter(({ tone }) => tone !== 'busy');
  const [last] = ended.toSorted((one, other) => other.createdMs - one.createdMs);
  if (last?.tone !== 'bad') return row;
  const why = `the last Job ${last.name} failed${last.why && `: ${last.why}`}`;
  return { ...row, status: 'Failing', tone: 'bad', why };
}

export const cronJobKind = defineKind({
  id: 'cronjobs',
  title: 'CronJobs',
  resource: cronJobs,
  tones: { good: 'Scheduled', busy: 'Running', bad: 'Failing', done: 'Suspended' },
  columns: columnsWith(
    column.status,
    { id: 'schedule', title: 'Schedule', type: 'text', width: 120 },
    { id: 'lastMs', title: 'Last run', type: 'age', width: 78, largestFirst: true },
    { id: 'wellMs', title: 'Last success', type: 'age', width: 100, largestFirst: true },
    column.why,
  ),
  isJoinedInDetails: true,
  row: (object) => {
    const { schedule = '', timeZone, suspend } = object.spec ?? {};
    const { active = [], lastScheduleTime = '', lastSuccessfulTime = '' } = object.status ?? {};
    const fields = {
      schedule: timeZone ? `${schedule} ${timeZone}` : schedule,
      lastMs: Date.parse(lastScheduleTime) || 0,
      wellMs: Date.parse(lastSuccessfulTime) || 0,
    };
    return rowOf(
      object,
      suspend
        ? { status: 'Suspended', tone: 'done' }
        : active.length > 0
          ? { status: 'Running', tone: 'busy' }
          : { status: 'Scheduled', tone: 'good' },
      fields,
      schedule,
    );
  },
  join: (cronJobs$, rowsOf) =>
    cronJobs$.pipe(liveJoin(rowsOf(jobKind), { on: byOwner, project: withJobs })),
});
