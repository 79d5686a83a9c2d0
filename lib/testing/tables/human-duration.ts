/** Formats ages like `kubectl get`. client-go: apimachinery/pkg/util/duration, HumanDuration. */

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const YEAR = 31_536_000;

/** Formats a duration in milliseconds: `12s`, `2m9s`, `3h`, `8d`. Longer durations are shown with less precision. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const full = (unit: number) => Math.floor(seconds / unit);
  const both = (unit: number, mark: string, small: number, smallMark: string) => {
    const rest = Math.floor((seconds % unit) / small);
    return rest === 0 ? `${full(unit)}${mark}` : `${full(unit)}${mark}${rest}${smallMark}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return both(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${full(MINUTE)}m`;
  if (seconds < 8 * HOUR) return both(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${full(HOUR)}h`;
  if (seconds < 8 * DAY) return both(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${full(DAY)}d`;
  if (seconds < 8 * YEAR) return both(YEAR, 'y', DAY, 'd');
  return `${full(YEAR)}y`;
}

/** The age of an object, by its timestamp. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(nowMs - then);
}
