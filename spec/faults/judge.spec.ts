/** Tests the judge: it accepts correct notifications and rejects wrong ones. */
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

/** The shard of every object has come and left so often. */
function moving(came: number, went: number) {
  const { truth, wrong, a1, a3 } = setUp();
  const counts = { came, went };
  const shards = {
    holds: () => true,
    came: () => counts.came,
    went: () => counts.went,
    movesObjects: false,
  };
  const story = new Story('it', truth, () => true, wrong, shards);
  return { truth, wrong, story, a1, a3, counts };
}

describe('the judge of moving shards', () => {
  it('accepts an object that leaves and comes back, once per move, also as an update of a busy consumer', () => {
    const { wrong, story, a3, counts } = moving(1, 0);
    story.add(a3);
    counts.went = 1;
    story.move('a', a3, a3);
    counts.came = 2;
    story.add(a3);
    const again = { ...a3 };
    counts.went = 2;
    counts.came = 3;
    story.update(a3, again);
    expect(wrong).toEqual([]);
  });

  it.each<[string, RegExp, (scene: ReturnType<typeof moving>) => void]>([
    [
      'an object that leaves without its shard',
      /has not left/,
      ({ story, a3 }) => {
        story.add(a3);
        story.move('a', a3, a3);
      },
    ],
    [
      'a second departure',
      /does not have the object/,
      ({ story, a3, counts }) => {
        story.add(a3);
        counts.went = 1;
        story.move('a', a3, a3);
        story.move('a', a3, a3);
      },
    ],
    [
      'a return before its shard',
      /has not come back/,
      ({ story, a3, counts }) => {
        story.add(a3);
        counts.went = 1;
        story.move('a', a3, a3);
        story.add(a3);
      },
    ],
    [
      'an update to the same version without a move',
      /to the same version/,
      ({ story, a3 }) => {
        story.add(a3);
        story.update(a3, { ...a3 });
      },
    ],
    [
      'an older version after the return',
      /already at version 3/,
      ({ story, a1, a3, counts }) => {
        story.add(a3);
        counts.went = 1;
        story.move('a', a3, a3);
        counts.came = 2;
        story.add(a1);
      },
    ],
    [
      'a departure as a deletion',
      /still exists/,
      ({ story, a3, counts }) => {
        story.add(a3);
        counts.went = 1;
        story.delete('a', a3, a3);
      },
    ],
  ])('rejects %s', (_, what, play) => {
    const scene = moving(1, 0);
    play(scene);
    expect(scene.wrong.join()).toMatch(what);
  });
});

describe('the judge', () => {
  it('accepts correct notifications', () => {
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

  it('accepts a second addition of an object that had left the selector, or that a backup restored', () => {
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
      'a second addition',
      /already has the object/,
      ({ story, a1 }) => {
        story.add(a1);
        story.add(a1);
      },
    ],
    [
      'an update without an addition',
      /does not have the object/,
      ({ story, a1, a3 }) => story.update(a1, a3),
    ],
    [
      'an update from another state',
      /previous is not the last state/,
      ({ story, a1, a3 }) => {
        story.add(a1);
        story.update({ ...a1 }, a3);
      },
    ],
    [
      'an older version',
      /already at version 3/,
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
      'a deletion of an object that exists',
      /the object still exists/,
      ({ story, a3 }) => {
        story.add(a3);
        story.delete('a', a3, a3);
      },
    ],
    [
      'a deletion with the state of another object',
      /delivered with/,
      ({ story, truth, a3, b2 }) => {
        story.add(a3);
        truth.deleted('a', '4');
        story.delete('a', a3, b2);
      },
    ],
    [
      'an addition after the deletion',
      /was never away|at this version/,
      ({ story, truth, a3 }) => {
        story.add(a3);
        truth.deleted('a', '4');
        story.delete('a', a3, a3);
        story.add(a3);
      },
    ],
    [
      'a state that the server never had',
      /never had this state/,
      ({ story }) => {
        story.add(pod('a', 2));
      },
    ],
    [
      'content that the server never had',
      /differs from the state of the server/,
      ({ story, a1 }) => {
        story.add({ ...a1, kind: 'Pod' });
      },
    ],
    [
      'an object that is not selected',
      /not selected/,
      ({ story, truth }) => {
        truth.wrote(pod('c', 5, 'no'));
        story.add(pod('c', 5, 'no'));
      },
    ],
    [
      'a notification after the unsubscribe',
      /after the consumer left/,
      ({ story, a1 }) => {
        story.leave();
        story.add(a1);
      },
    ],
    [
      'an end that differs from the server',
      /lacks .*n-b/,
      ({ story, a3 }) => {
        story.add(a3);
        story.finish('end');
      },
    ],
  ])('rejects: %s', (_name, message, play) => {
    const scene = setUp();
    play(scene);
    expect(scene.wrong.join('\n')).toMatch(message);
  });

  it('finds objects that are stale, surplus or missing', () => {
    const { truth, wrong, a1 } = setUp();
    compare('it', [a1, pod('x', 9)], truth, () => true, wrong);
    expect(wrong.length).toBe(3);
  });
});

describe('the budget', () => {
  const usual = { baseMs: 800, capMs: 30_000 };

  it('follows from the backoff', () => {
    // A try begins at 0, 0.8, 2.4, 5.6, 12 … s, later every 30 s.
    expect([1_000, 10_000, 60_000, 300_000].map((each) => cyclesWithin(each, usual))).toEqual([
      2, 4, 7, 15,
    ]);
    expect(allowance(60_000, usual)).toEqual({ reads: 32, watches: 77, audits: 0 });
    const refreshes = [0, 5_000, 50_000, 200_000];
    expect(allowance(60_000, usual, { refreshes })).toMatchObject({ reads: 44, watches: 83 });
    expect(allowance(60_000, usual, { watchMs: 20_000 }).watches).toBe(83);
    // At most four rounds, each a cycle if it finds a difference, and a failed try of two requests every 50th of a
    // period.
    expect(allowance(60_000, usual, { auditMs: 60_000 })).toEqual({
      ...{ reads: 48, watches: 85, audits: 4 * 8 + 2 * 50 },
    });
  });

  const seen = (times: readonly number[], more: Partial<Seen> = {}): Seen[] =>
    times.map((atMs) => ({ atMs, who: 'it', generation: 1, kind: 'list', ...more }));

  it('accepts the fastest client that the backoff allows, and no faster one', () => {
    const fastest: number[] = [];
    for (let at = 0, tries = 0; at < 600_000; tries++) {
      fastest.push(at, at, at, at);
      at += Math.min(usual.capMs, usual.baseMs * 2 ** tries);
    }
    const wrong: string[] = [];
    checkBudget(seen(fastest), usual, wrong);
    expect(wrong).toEqual([]);
    const storm = Array.from({ length: 40 }, (_, at) => at * 1_000);
    checkBudget(seen(storm), usual, wrong);
    expect(wrong.join()).toMatch(/40 reads in 60000 ms; 32 are allowed/);
  });

  it('enforces Retry-After to the millisecond, within one run only', () => {
    const answered = { notBeforeMs: 7_000, answeredMs: 10 };
    const late = [...seen([0], answered), ...seen([7_000])];
    const early = [...seen([0], answered), ...seen([6_999])];
    const nextRun = [...seen([0], answered), ...seen([20], { generation: 2 })];
    const wrong: string[] = [];
    checkBudget(late, usual, wrong);
    checkBudget(nextRun, usual, wrong);
    expect(wrong).toEqual([]);
    checkBudget(early, usual, wrong);
    expect(wrong.length).toBe(1);
  });

  it('W72: counts a request that is refused with 406 or 415 and repeated at once as one, once per client', () => {
    const probe = (atMs: number, status = 200): Seen[] =>
      seen([atMs], { kind: 'probe', status, answeredMs: atMs + 5 });
    const wrongIn = (...requests: Seen[][]) => {
      const wrong: string[] = [];
      checkBudget(requests.flat(), usual, wrong);
      return wrong.length;
    };
    expect(wrongIn(probe(0, 406), probe(5), probe(60_005))).toBe(0);
    expect(wrongIn(probe(0, 415), probe(5, 415), probe(60_005))).toBe(0);
    // A second repetition, a late one, one after another status, and one after the client has learnt.
    expect(wrongIn(probe(0, 406), probe(5, 406), probe(10))).toBe(1);
    expect(wrongIn(probe(0, 406), probe(6))).toBe(1);
    expect(wrongIn(probe(0, 400), probe(5))).toBe(1);
    expect(wrongIn(probe(0, 406), probe(5), probe(70_000, 406), probe(70_005))).toBe(1);
    // So do the probes that ask whether the server lives.
    const life = (atMs: number) => seen([atMs], { kind: 'life' });
    expect(wrongIn(life(0), life(12_000), probe(12_001))).toBe(0);
    expect(wrongIn(life(0), life(11_999))).toBe(1);
    // A list that was refused before does not forbid the repetition of a refused probe.
    const refusedList = seen([0], { kind: 'list', status: 406, answeredMs: 0 });
    expect(wrongIn(refusedList, seen([0], { kind: 'list' }), probe(5, 406), probe(10))).toBe(0);
    // A refused list does not excuse a probe.
    const list = seen([0], { status: 406, answeredMs: 5 });
    expect(wrongIn(list, probe(0), probe(5))).toBe(1);
  });
});
