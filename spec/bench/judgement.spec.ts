/** Tests how the benchmark notices noise and losses. */
import { describe, expect, it } from 'vitest';
import { compare, repeatWhileLost } from './committed.ts';
import { lineChart, roundUp } from './line-chart.ts';
import { busyTicks, coresOfOthers, processTicks } from './machine-noise.ts';
import type { Measured } from './measure.ts';
import { spreadOf } from './report.ts';

describe('the noise of a machine', () => {
  it('counts the time in processes and the time taken by other virtual machines', () => {
    expect(busyTicks('cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 1 1 1')).toBe(100 + 20 + 30 + 8);
  });

  it('counts a process and its children that ended, whatever the name of the program is', () => {
    expect(processTicks('42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 500 60 7 1 20 0 11 0')).toBe(568);
  });

  it('is the share of a core that is not of the benchmark', () => {
    const before = { busy: 1000, own: 500, atMs: 0 };
    expect(coresOfOthers(before, { busy: 1300, own: 650, atMs: 2000 })).toBeCloseTo(0.75);
    expect(coresOfOthers(before, { busy: 1100, own: 610, atMs: 2000 })).toBe(0);
    expect(coresOfOthers(before, undefined)).toBeUndefined();
  });
});

/** Three runs whose throughput is `ratio` of the floor's. */
function runs(ratio: number, noise: number): Map<string, Measured[]> {
  const run = (eventsPerSecond: number): Measured => ({
    runtime: 'Node',
    syncMs: 1,
    syncCpuMs: 1,
    rssBaseMb: 1,
    rssSettledMb: 1,
    rssSyncPeakMb: 1,
    eventsPerSecond,
    noise,
  });
  return new Map([
    ['floor hot', [run(90), run(100), run(110)]],
    ['ours hot', [run(90 * ratio), run(100 * ratio), run(110 * ratio)]],
  ]);
}

describe('the comparison with committed ratios', () => {
  const committed = { 'hot: eventsPerSecond': 1.8, 'sync: syncCpuMs': 0.6 };
  const lost = (ratio: number, noise = 0) =>
    compare(runs(ratio, noise), committed)
      .filter((each) => each.lost)
      .map(({ text }) => text);

  it('keeps a ratio that fell by less than a third', () => {
    expect(lost(1.25).filter((text) => text.startsWith('hot'))).toEqual([]);
  });

  it('loses a ratio that fell by more than a third', () => {
    expect(lost(1.15)).toContain('hot: eventsPerSecond 1.15 × the floor, committed 1.80 ×: LOST');
  });

  it('loses a cost that grew by more than half', () => {
    expect(lost(1.8)).toEqual(['sync: syncCpuMs 1.00 × the floor, committed 0.60 ×: LOST']);
  });

  it('does not judge a noisy run', () => {
    expect(lost(1.15, 0.3)).toEqual([]);
    expect(compare(runs(1.15, 0.3), committed).map(({ text }) => text)).toContain(
      'hot: eventsPerSecond 1.15 × the floor, committed 1.80 ×: not judged, because the run was noisy',
    );
  });

  describe('of a run that lost a ratio', () => {
    const hot = { 'hot: eventsPerSecond': 1.8 };

    /** Adds rounds with a ratio while a comparison asks for them, and returns how often it asked. */
    async function timesRepeated(first: number, later: number): Promise<[number, string[]]> {
      const results = runs(first, 0);
      let times = 0;
      await repeatWhileLost(results, hot, async () => {
        times++;
        for (const [key, more] of runs(later, 0)) results.get(key)?.push(...more);
      });
      const texts = compare(results, hot).filter(({ lost }) => lost);
      return [times, texts.map(({ text }) => text)];
    }
    it('measures more rounds until the ratio of all of them is kept', async () => {
      expect(await timesRepeated(1.15, 1.6)).toEqual([1, []]);
    });

    it('loses a ratio that stays low in the further rounds', async () => {
      expect(await timesRepeated(1.15, 1.15)).toEqual([
        3,
        ['hot: eventsPerSecond 1.15 × the floor, committed 1.80 ×: LOST'],
      ]);
    });

    it('measures nothing more if all ratios are kept', async () => {
      expect(await timesRepeated(1.6, 0.1)).toEqual([0, []]);
    });
  });

  it('does not compare a ratio that is not committed', () => {
    expect(compare(runs(0.1, 0), {})).toEqual([]);
  });
});

describe('the figures of a benchmark', () => {
  it('are a median with the least and the greatest', () => {
    expect(spreadOf([5, 1, 9])).toEqual({ median: 5, least: 1, greatest: 9 });
    expect(spreadOf([5, 1, 9, 6]).median).toBe(5.5);
  });
});

describe('the curves of a benchmark', () => {
  const point = (x: number, y: number) => ({ x, y, least: y - 1, greatest: y + 1 });
  const chart = { title: 'a < b & c', note: '', xLabel: 'n', yLabel: 'µs' };

  it('begin both axes at 0 and end the vertical one above the greatest value', () => {
    expect([0.7, 3, 17, 240, 0].map(roundUp)).toEqual([1, 5, 20, 250, 1]);
    const svg = lineChart({ ...chart, points: [point(5, 8), point(10, 9)] });
    // The plot is from 64 to 460 and from 252 at 0 to 56 at 10.
    expect(svg).toContain('points="262,95.2 460,75.6"');
  });

  it('escape their texts', () => {
    expect(lineChart({ ...chart, points: [] })).toContain('>a &lt; b &amp; c<');
  });
});
