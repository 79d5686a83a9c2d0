/**
 * The types of points in time and durations: points in time are `EpochMs`, durations are numbers that name their unit.
 */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import type {
  AuditStatus,
  EpochMs,
  HeldBack,
  InformerStatus,
  ReflectorStatus,
  TimestampedEntry,
} from 'rx-informer';
import { asyncScheduler } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';

const OPTIONS =
  /^(?:export )?(?:interface|type) (\w*(?:Options|Settings)|Timing|DeliveryPolicy)\b/gm;
const NUMBER = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*^ +(?:readonly )?(\w+)\??: number\b/gm;
const DURATION = /timeout|delay|interval|period|ttl|linger|duration|deadline|limitMs|afterMs/i;

/** Finds durations in options whose name does not end in `Ms`, or whose text does not say "in milliseconds". */
function unclear(text: string): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(OPTIONS)) {
    const rest = text.slice(match.index + match[0].length);
    const end = rest.search(/^(?:export |interface |type |function |class |const )/m);
    for (const [, doc = '', name = ''] of (end < 0 ? rest : rest.slice(0, end)).matchAll(NUMBER)) {
      const named = name.endsWith('Ms');
      // Kubernetes names its own fields in seconds.
      if (!named && (!DURATION.test(name) || name.endsWith('Seconds'))) continue;
      if (!named || !/in milliseconds/i.test(doc)) found.push(`${match[1]}.${name}`);
    }
  }
  return found;
}

describe('time', () => {
  it('I103: points in time are EpochMs, and a number is assignable to EpochMs', () => {
    expectTypeOf<InformerStatus['sinceMs']>().toEqualTypeOf<EpochMs>();
    expectTypeOf<InformerStatus['staleSinceMs']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<ReflectorStatus['nextRetryAtMs']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<HeldBack['sinceMs']>().toEqualTypeOf<EpochMs>();
    expectTypeOf<AuditStatus['lastAt']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<TimestampedEntry<object>['writtenMs']>().toEqualTypeOf<EpochMs>();
    const nowMs = asyncScheduler.now();
    const sinceMs: EpochMs = nowMs;
    expectTypeOf(nowMs - sinceMs).toEqualTypeOf<number>();
    expect(sinceMs <= nowMs).toBe(true);
    // @ts-expect-error: a string is not a point in time
    const wrong: EpochMs = '2026-01-01T00:00:00Z';
    expect(wrong).toBeTypeOf('string');
  });

  it('I103: each duration of the options ends in Ms and says that it is in milliseconds', async () => {
    const wrong: string[] = [];
    for await (const file of glob('lib/**/*.ts')) {
      if (file.includes('generated')) continue;
      wrong.push(...unclear(readFileSync(file, 'utf8')).map((field) => `${file}: ${field}`));
    }
    expect(wrong).toEqual([]);
    expect(unclear('interface AOptions {\n  readonly timeout?: number;\n}')).toEqual([
      'AOptions.timeout',
    ]);
  });
});
