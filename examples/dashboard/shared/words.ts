/** Numbers and times in words, the same everywhere. */

export const number = new Intl.NumberFormat('en-US');

/** The time of a day, with seconds. */
export const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** `1 Pod`, `1,200 Pods`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${number.format(count)} ${count === 1 ? noun : plural}`;
}
