/** The judge is judged: what it must not let pass, it does not; what is right, it lets pass. */
import { describe, expect, it } from 'vitest';
import { allowance, checkBudget, cyclesWithin, type Seen } from './budget.ts';
import { compare, Story, type Thing, Truth } from './judge.ts';

const pod = (uid: string, version: number, own = 'yes'): Thing => ({
  metadata: { name: `n-${uid}`, uid, resourceVersion: String(version), labels: { own } },
});

function setUp() {
  const truth = new Truth();
  const wrong: string[] = [];
  const story = new Story('it', truth, ({ metadata }) => metadata.labels?.['own'] === 'yes', wrong);
  const states = [pod('a', 1), pod('a', 3), pod('b', 2)];
  for (const state of states) truth.wrote(state);
  const [a1, a3, b2] = states as [Thing, Thing, Thing];
  return { truth, wrong, story, a1, a3, b2 };
}

describe('the judge', () => {
  it('lets a true story pass', () => {
    const { truth, wrong, story, a1, a3, b2 } = setUp();
    story.add(a1);
    story.update(a1, a3);
    story.update(a3, a3); // a resync
    story.add(b2);
    truth.deleted('b', '4');
    story.delete('b', b2, b2);
    story.finish('end');
    expect(wrong).toEqual([]);
  });

  it('lets an object come again that was out of the selector, or in a backup', () => {
    const { truth, wrong, story, a3 } = setUp();
    story.add(a3);
    const [out, back] = [pod('a', 5, 'no'), pod('a', 6)];
    truth.wrote(out);
    truth.wrote(back);
    story.delete('a', a3, a3);
    story.add(back);
    truth.deleted('a', '7');
    story.delete('a', back, back);
    truth.restored([back], '100');
    story.add(back);
    expect(wrong).toEqual([]);
  });

  it.each<[string, RegExp, (scene: ReturnType<typeof setUp>) => void]>([
    [
      'an add of what it has',
      /it has it/,
      ({ story, a1 }) => {
        story.add(a1);
        story.add(a1);
      },
    ],
    ['an update of what it lacks', /does not have it/, ({ story, a1, a3 }) => story.update(a1, a3)],
    [
      'another previous',
      /another previous/,
      ({ story, a1, a3 }) => {
        story.add(a1);
        story.update({ ...a1 }, a3);
      },
    ],
    [
      'an older version',
      /was at 3 before/,
      ({ story, a1, a3 }) => {
        story.add(a3);
        story.update(a3, a1);
      },
    ],
    [
      'an update across UIDs',
      /previous is/,
      ({ story, a1, b2 }) => {
        story.add(a1);
        story.update(a1, b2);
      },
    ],
    [
      'a delete of what lives',
      /it lives/,
      ({ story, a3 }) => {
        story.add(a3);
        story.delete('a', a3, a3);
      },
    ],
    [
      'a delete with the state of another',
      /told with/,
      ({ story, truth, a3, b2 }) => {
        story.add(a3);
        truth.deleted('a', '4');
        story.delete('a', a3, b2);
      },
    ],
    [
      'one that comes back from the dead',
      /was never away|at that version/,
      ({ story, truth, a3 }) => {
        story.add(a3);
        truth.deleted('a', '4');
        story.delete('a', a3, a3);
        story.add(a3);
      },
    ],
    [
      'a state that never was',
      /never had that/,
      ({ story }) => {
        story.add(pod('a', 2));
      },
    ],
    [
      'content that never was',
      /not as the server had it/,
      ({ story, a1 }) => {
        story.add({ ...a1, kind: 'Pod' });
      },
    ],
    [
      'what is not selected',
      /not selected/,
      ({ story, truth }) => {
        truth.wrote(pod('c', 5, 'no'));
        story.add(pod('c', 5, 'no'));
      },
    ],
    [
      'a word to who left',
      /after it left/,
      ({ story, a1 }) => {
        story.leave();
        story.add(a1);
      },
    ],
    [
      'an end that is not the truth',
      /lacks .*n-b/,
      ({ story, a3 }) => {
        story.add(a3);
        story.finish('end');
      },
    ],
  ])('does not let pass: %s', (_name, message, tell) => {
    const scene = setUp();
    tell(scene);
    expect(scene.wrong.join('\n')).toMatch(message);
  });

  it('sees what is old, surplus and missing', () => {
    const { truth, wrong, a1 } = setUp();
    compare('it', [a1, pod('x', 9)], truth, () => true, wrong);
    expect(wrong.length).toBe(3);
  });
});

describe('the budget', () => {
  const usual = { baseMs: 800, capMs: 30_000 };

  it('is what the backoff amounts to', () => {
    // 0, 0.8, 2.4, 5.6, 12 … s: a try at each of these, and the next after 30 s more.
    expect([1_000, 10_000, 60_000, 300_000].map((each) => cyclesWithin(each, usual))).toEqual([
      2, 4, 7, 15,
    ]);
    expect(allowance(60_000, usual)).toEqual({ reads: 32, watches: 77, audits: 0 });
    const refreshes = [0, 5_000, 50_000, 200_000];
    expect(allowance(60_000, usual, { refreshes })).toMatchObject({ reads: 44, watches: 83 });
    expect(allowance(60_000, usual, { watchMs: 20_000 }).watches).toBe(83);
    // Four rounds at most, each a cycle if it finds a difference, and a failed try of two requests every 50th of a period.
    expect(allowance(60_000, usual, { auditMs: 60_000 })).toEqual({
      ...{ reads: 48, watches: 85, audits: 4 * 8 + 2 * 50 },
    });
  });

  const seen = (times: readonly number[], more: Partial<Seen> = {}): Seen[] =>
    times.map((atMs) => ({ atMs, who: 'it', generation: 1, kind: 'list', ...more }));

  it('lets the slowest legal client pass, and no faster one', () => {
    const slow: number[] = [];
    for (let at = 0, tries = 0; at < 600_000; tries++) {
      slow.push(at, at, at, at);
      at += Math.min(usual.capMs, usual.baseMs * 2 ** tries);
    }
    const wrong: string[] = [];
    checkBudget(seen(slow), usual, wrong);
    expect(wrong).toEqual([]);
    const storm = Array.from({ length: 40 }, (_, at) => at * 1_000);
    checkBudget(seen(storm), usual, wrong);
    expect(wrong.join()).toMatch(/40 reads in 60000 ms; 32 are allowed/);
  });

  it('holds Retry-After to the millisecond, of one run only', () => {
    const answered = { notBeforeMs: 7_000, answeredMs: 10 };
    const late = [...seen([0], answered), ...seen([7_000])];
    const early = [...seen([0], answered), ...seen([6_999])];
    const anew = [...seen([0], answered), ...seen([20], { generation: 2 })];
    const wrong: string[] = [];
    checkBudget(late, usual, wrong);
    checkBudget(anew, usual, wrong);
    expect(wrong).toEqual([]);
    checkBudget(early, usual, wrong);
    expect(wrong.length).toBe(1);
  });
});
