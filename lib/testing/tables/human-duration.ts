/**
 * Ages as `kubectl get` prints them.
 * client-go: apimachinery/pkg/util/duration, HumanDuration.
 */

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const YEAR = 31_536_000;

/** `12s`, `2m9s`, `3h`, `8d`; the longer, the coarser. Milliseconds. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const whole = (unit: number) => Math.floor(seconds / unit);
  const both = (unit: number, mark: string, small: number, smallMark: string) => {
    const rest = Math.floor((seconds % unit) / small);
    return rest === 0 ? `${whole(unit)}${mark}` : `${whole(unit)}${mark}${rest}${smallMark}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return both(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${whole(MINUTE)}m`;
  if (seconds < 8 * HOUR) return both(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${whole(HOUR)}h`;
  if (seconds < 8 * DAY) return both(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${whole(DAY)}d`;
  if (seconds < 8 * YEAR) return both(YEAR, 'y', DAY, 'd');
  return `${whole(YEAR)}y`;
}

/** The age of what was made at a time stamp. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(nowMs - then);
}
