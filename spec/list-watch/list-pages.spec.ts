import { type ListPart, type ListProgress, type ListRequest, listPages } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, type Observable, of, throwError } from 'rxjs';
import { take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { answer, expired, type Pod, pod, refusal, whole } from '../reflector/script.ts';

/** A lister that answers in order, and remembers what it was asked. */
function lister(...answers: Observable<ListPart<Pod>>[]) {
  const asked: ListRequest<Pod>[] = [];
  return {
    asked,
    list: (request: ListRequest<Pod>) => {
      asked.push(request);
      const next = answers[asked.length - 1];
      if (next === undefined) throw new Error('asked too often');
      return next;
    },
    watch: () => {
      throw new Error('a list watches nothing');
    },
  };
}

const brief = (progress: ListProgress<Pod>): string => {
  if (progress.kind === 'restart') return 'restart';
  if (progress.kind === 'listed') {
    return `listed ${progress.resourceVersion}${progress.paginated ? ' in pages' : ''}`;
  }
  const names = progress.items.map(({ metadata }) => metadata.name);
  return [...names, ...progress.rejected.map((key) => `!${key}`)].join(' ');
};

function told(listPagesOf: Observable<ListProgress<Pod>>): string[] {
  const all: string[] = [];
  listPagesOf.subscribe({
    next: (progress) => all.push(brief(progress)),
    error: (error) => all.push(`# ${error.code || error.message}`),
    complete: () => all.push('|'),
  });
  return all;
}

const first: ListRequest<Pod> = {
  resourceVersion: '10',
  resourceVersionMatch: 'NotOlderThan',
  limit: 2,
};
const failing = (error: unknown) => throwError(() => error);

describe('a list in pages', () => {
  it('W1: clears version and match of a continue request, and has the version of the first page', () => {
    const pages = lister(
      of(whole('10', ['a@1', 'b@2'], 'C1')),
      of(whole('12', ['c@3'], 'C2')),
      of(whole('14', ['d@4'])),
    );
    expect(told(listPages(pages, first))).toEqual(['a b', 'c', 'd', 'listed 10 in pages', '|']);
    expect(pages.asked).toEqual([
      first,
      { resourceVersion: '', limit: 2, continue: 'C1' },
      { resourceVersion: '', limit: 2, continue: 'C2' },
    ]);
  });

  it('W1: of one page is not in pages', () => {
    const pages = lister(of(whole('10', ['a@1'])));
    expect(told(listPages(pages, first))).toEqual(['a', 'listed 10', '|']);
  });

  it('W1: that is empty has a version all the same', () => {
    expect(told(listPages(lister(of(whole('10'))), first))).toEqual(['listed 10', '|']);
  });

  it('W1: passes parts on as they come, refused ones and what remains too', () => {
    const progress: ListProgress<Pod>[] = [];
    const rejected = [refusal('b@3')];
    const parts = of<ListPart<Pod>[]>(
      { items: [pod('a@1')] },
      { items: [], rejected },
      { items: [], metadata: { resourceVersion: '10', remainingItemCount: 0 } },
    );
    listPages(lister(parts), first).subscribe((each) => progress.push(each));
    expect(progress).toEqual([
      { kind: 'part', items: [pod('a@1')], rejected: [] },
      { kind: 'part', items: [], rejected },
      { kind: 'part', items: [], rejected: [], remaining: 0 },
      { kind: 'listed', resourceVersion: '10', paginated: false },
    ]);
  });

  it('W1: keeps demand, known objects and the report of refused ones on every page', () => {
    const pages = lister(of(whole('10', ['a@1'], 'C1')), of(whole('10')));
    const demand = () => null;
    const known = new Map<string, Pod>();
    const onSkipped = () => {};
    told(listPages(pages, { ...first, demand, known, onSkipped }));
    for (const request of pages.asked) expect(request).toMatchObject({ demand, known, onSkipped });
  });
});

describe('a token that expires', () => {
  it('W2: gives one full list with the first version (TestReflectorFullListIfExpired)', () => {
    const pages = lister(
      of(whole('10', ['a@1'], 'C1')),
      failing(expired),
      of(whole('20', ['a@1', 'b@15'])),
    );
    expect(told(listPages(pages, first))).toEqual([
      'a',
      'restart',
      'a b',
      'listed 20 in pages',
      '|',
    ]);
    expect(pages.asked[2]).toEqual({
      resourceVersion: '10',
      resourceVersionMatch: 'NotOlderThan',
    });
  });

  it('W2: and a full list that fails is the failure', () => {
    for (const error of [expired, answer(500)]) {
      const pages = lister(of(whole('10', ['a@1'], 'C1')), failing(expired), failing(error));
      expect(told(listPages(pages, first))).toEqual(['a', 'restart', `# ${error.code}`]);
      expect(pages.asked.length).toBe(3);
    }
  });

  it('W2: on the first page is the error of the list', () => {
    const pages = lister(failing(expired));
    expect(told(listPages(pages, first))).toEqual(['# 410']);
    expect(pages.asked.length).toBe(1);
  });

  it('W2: any other error of a later page is the error of the list', () => {
    const pages = lister(of(whole('10', ['a@1'], 'C1')), failing(answer(500)));
    expect(told(listPages(pages, first))).toEqual(['a', '# 500']);
  });
});

describe('a lister that misbehaves', () => {
  it('W1: by ending without metadata gives an error', () => {
    const parts = of<ListPart<Pod>>({ items: [pod('a@1')] });
    expect(told(listPages(lister(parts), first))).toEqual([
      'a',
      '# the list ended without metadata',
    ]);
  });

  it('W1: by throwing gives an error, on a later page too', () => {
    expect(told(listPages(lister(), first))).toEqual(['# LIST: asked too often']);
    const pages = lister(of(whole('10', ['a@1'], 'C1')));
    expect(told(listPages(pages, first))).toEqual(['a', '# LIST: asked too often']);
  });
});

describe('unsubscribing', () => {
  it('W6: ends the page under way, and asks for no other', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const page1 = cold('-(l|)', { l: whole('10', ['a@1'], 'C1') });
      const page2 = cold('---(l|)', { l: whole('10', ['b@2'], 'C2') });
      const pages = lister(page1, page2);
      expectObservable(listPages(pages, first), '^-!').toBe('-p', {
        p: { kind: 'part', items: [pod('a@1')], rejected: [] },
      });
      expectSubscriptions(page1.subscriptions).toBe('^!');
      expectSubscriptions(page2.subscriptions).toBe('-^!');
      flush();
      expect(pages.asked.length).toBe(2);
    });
  });

  it('W6: in an emission asks for no other page', () => {
    const next = lister(of(whole('10', ['a@1'], 'C1')));
    listPages(next, first).pipe(take(1)).subscribe();
    expect(next.asked.length).toBe(1);
    const broken = concat(of<ListPart<Pod>>({ items: [pod('b@2')] }), failing(expired));
    const full = lister(of(whole('10', [], 'C1')), broken);
    listPages(full, first).pipe(take(1)).subscribe();
    expect(full.asked.length).toBe(2);
  });

  it('W6: nothing is asked before it is subscribed', () => {
    const pages = lister();
    listPages(pages, first);
    expect(pages.asked).toEqual([]);
  });
});

describe('a list that would never end', () => {
  it('W9: is ended where a page is given its own token, or another page that is', () => {
    const pages = lister(of(whole('10', ['a@1'], 'C1')), of(whole('10', ['b@1'], 'C1')));
    expect(told(listPages(pages, first))).toEqual([
      'a',
      'b',
      '# LIST: the server returned the same continue token again, so the list would never end',
    ]);
    expect(told(listPages(lister(of(whole('1', [], 'C'))), { ...first, continue: 'C' }))).toEqual([
      expect.stringContaining('same continue token'),
    ]);
  });

  it('W9: is ended after ten thousand empty pages, and takes a hundred thousand others', () => {
    let page = 0;
    const endless = (names: (at: number) => string[], last = Number.POSITIVE_INFINITY) => ({
      list: () => {
        page++;
        return of(whole('10', names(page), page < last ? `C${page}` : undefined));
      },
      watch: () => {
        throw new Error('a list watches nothing');
      },
    });
    expect(
      told(
        listPages(
          endless(() => []),
          first,
        ),
      ),
    ).toEqual(['# LIST: the server returned 10000 empty pages, so the list would never end']);
    expect(page).toBe(10_001);
    page = 0;
    // Pages that answer at once do not nest.
    const all = told(
      listPages(
        endless((at) => (at % 9_000 === 0 ? ['a@1'] : []), 100_000),
        first,
      ),
    );
    expect(all.slice(-2)).toEqual(['listed 10 in pages', '|']);
  });
});
