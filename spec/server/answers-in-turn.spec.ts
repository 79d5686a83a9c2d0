/** Tests what waits for its turn: answers for other rights, and queries of a connection. */
import { Subject, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../lib/server/rights/user-rights.ts';
import { answersInTurn } from '../../lib/server/shared/permitted-query.ts';
import { QueriesInTurn } from '../../lib/server/users/queries-in-turn.ts';

function rig() {
  const decisions = new Subject<readonly Decision[]>();
  const waiting = new Set<() => void>();
  let isBusy = false;
  const takeTurn = (answer: () => void) => {
    if (!isBusy) {
      answer();
      return Subscription.EMPTY;
    }
    waiting.add(answer);
    return new Subscription(() => waiting.delete(answer));
  };
  const shown: unknown[] = [];
  const answerFor = ([decision]: readonly Decision[]) =>
    ({ nothing: decision?.permitted }) as never;
  answersInTurn(decisions, answerFor, takeTurn).subscribe((answer) =>
    shown.push((answer as { nothing: { phase?: string } }).nothing.phase ?? answer),
  );
  const decide = (permitted: Decision['permitted']) => decisions.next([{ permitted }]);
  const answer = () => {
    for (const each of waiting) each();
    waiting.clear();
  };
  return {
    ...{ shown, decide, answer, waiting },
    busy: () => {
      isBusy = true;
    },
  };
}

describe('an answer for other rights', () => {
  it.each<[Decision['permitted'], Decision['permitted']]>([
    ['all', ['a']],
    [['a', 'b'], ['a']],
    [['a'], ['b', 'c']],
    [['a'], []],
  ])(
    'E12: that permits less (%j, then %j) shows nothing while it waits for its turn',
    (one, other) => {
      const { shown, decide, answer, busy } = rig();
      decide(one);
      busy();
      decide(other);
      expect(shown).toEqual([{ nothing: one }, 'connecting']);
      answer();
      expect(shown.slice(2)).toEqual([{ nothing: other }]);
    },
  );

  it.each<[Decision['permitted'], Decision['permitted']]>([
    [['a'], 'all'],
    [['a'], ['a', 'b']],
    ['all', 'all'],
    [[], ['a']],
  ])('E12: that permits more (%j, then %j) leaves the former one until its turn', (one, other) => {
    const { shown, decide, answer, busy } = rig();
    decide(one);
    busy();
    decide(other);
    expect(shown).toEqual([{ nothing: one }]);
    answer();
    expect(shown.slice(1)).toEqual([{ nothing: other }]);
  });

  it('E12: takes the place of one that waits', () => {
    const { shown, decide, answer, busy, waiting } = rig();
    decide(['a', 'b']);
    busy();
    decide(['a']);
    decide(['a', 'b', 'c']);
    expect(waiting.size).toBe(1);
    answer();
    expect(shown).toEqual([{ nothing: ['a', 'b'] }, 'connecting', { nothing: ['a', 'b', 'c'] }]);
  });
});

describe('the queries of a connection', () => {
  it('E19: and its page, are not answered after the session in which they were asked', () => {
    const waiting = new Set<() => void>();
    const done: string[] = [];
    const answers = {
      take: (_user: string, answer: () => void) => {
        waiting.add(answer);
        return new Subscription(() => waiting.delete(answer));
      },
      waitMs: () => 0,
    };
    const tab = {
      asked: new Map(),
      receive: ({ id }: { readonly id: number }) => done.push(`open ${id}`),
      hide: (isHidden: boolean) => done.push(isHidden ? 'hidden' : 'shown'),
    };
    const queries = new QueriesInTurn({ tab, answers, most: 5 } as never);
    const open = (id: number) =>
      queries.open('ann', { type: 'open', id, query: {}, incarnation: 'x', epoch: 1 });
    const pass = () => {
      for (const each of [...waiting]) each();
      waiting.clear();
    };
    open(1);
    open(1);
    queries.hide('ann', true);
    queries.hide('ann', false);
    queries.hide('ann', true);
    pass();
    expect(done).toEqual(['hidden', 'hidden', 'open 1']);
    open(2);
    queries.hide('ann', false);
    queries.leave();
    pass();
    expect(done).toHaveLength(3);
  });
});
