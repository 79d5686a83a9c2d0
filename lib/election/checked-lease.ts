/** Checks the names and the periods of those that hold Leases, so that impossible ones fail when they are given. */
import { check, checkedTimeout } from '../checks/checked-option.ts';
import { LONGEST_LEASE_MS } from './lease-record.ts';

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Throws a `TypeError` that names the option unless the value is a name of at most `most` characters. */
export function checkName(value: unknown, option: string, most: number): void {
  const isName = typeof value === 'string' && value.length <= most && NAME.test(value);
  const must = `a name of at most ${most} lower-case letters, digits, '-' and '.'`;
  check(isName, option, value, must);
}

/** The periods of who holds a Lease, in milliseconds. */
export interface LeasePeriods {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/**
 * Throws a `TypeError` that begins with `owner` if two processes could hold the Lease at the same time, or if a deadline leaves no
 * time for `tries` tries.
 */
export function checkPeriods(owner: string, tries: number, periods: LeasePeriods): void {
  for (const [name, value] of Object.entries(periods)) checkedTimeout(value, `${owner}: ${name}`);
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = periods;
  const leastMs = tries * retryPeriodMs;
  const deadline = `over ${tries} times retryPeriodMs (${retryPeriodMs})`;
  check(renewDeadlineMs > leastMs, `${owner}: renewDeadlineMs`, renewDeadlineMs, deadline);
  const least = `over renewDeadlineMs (${renewDeadlineMs}), otherwise two could hold the Lease`;
  const duration = `${owner}: leaseDurationMs`;
  check(leaseDurationMs > renewDeadlineMs, duration, leaseDurationMs, least);
  const most = `at most ${LONGEST_LEASE_MS}, because a Lease counts seconds in 32 bits`;
  check(leaseDurationMs <= LONGEST_LEASE_MS, duration, leaseDurationMs, most);
}
