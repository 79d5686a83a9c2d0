/** Measures that the time to sanitize the texts of a Status grows with their length, because a server chooses them. */
import { ApiError } from 'rx-informer';
import { expect, it } from 'vitest';

/** Texts that a backtracking expression for credentials would read again and again. */
const FORMS: Readonly<Record<string, (length: number) => string>> = {
  'many beginnings of tokens': (length) => 'eyJa-'.repeat(length / 5),
  'beginnings with dots': (length) => 'eyJa.'.repeat(length / 5),
  'a long run': (length) => 'a'.repeat(length),
  'schemes without a credential': (length) => 'Bearer '.repeat(length / 7),
  'line breaks': (length) => '\n'.repeat(length),
};

function msOf(status: object): number {
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now();
    ApiError.fromStatus(status as never, 500);
    return performance.now() - from;
  });
  return Math.min(...times);
}

it.each(Object.entries(FORMS))(
  'M7: %s of 16 kB take at most four times as long per character as those of 1 kB',
  (_, form) => {
    const times = [1, 2, 4, 8, 16].map((kB) => msOf({ message: form(kB * 1_024), code: 500 }) / kB);
    process.stdout.write(`${times.map((ms) => (ms * 1_000).toFixed(0)).join(' ')} µs per kB\n`);
    expect(times.at(-1)).toBeLessThan(4 * Math.max(times[0] as number, 0.002));
  },
);

it('M7: ten thousand causes take no longer than ten times a hundred', () => {
  const causes = (count: number) => ({
    code: 422,
    message: 'invalid',
    details: {
      causes: Array.from({ length: count }, () => ({
        message: 'eyJa-'.repeat(3_000),
        field: 'spec',
      })),
    },
  });
  const [few, many] = [msOf(causes(100)), msOf(causes(10_000))];
  process.stdout.write(`${few.toFixed(1)} and ${many.toFixed(1)} ms\n`);
  expect(many).toBeLessThan(10 * Math.max(few, 1));
});
