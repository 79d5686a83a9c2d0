import { ApiError, type ListPart, type ListRequest, type ListSignal, listPages } from 'rx-informer';

import { type Observable, of, throwError } from 'rxjs';

import { describe, expect, it } from 'vitest';
import { answer, expired, listPart, type Pod, pod, refusal } from '../reflector/script.ts';

/** A lister that returns the given responses in order and records its requests. */
function lister(...answers: Observable<ListPart<Pod>>[]) {
  const asked: ListRequest<Pod>[] = [];
  return {
    asked,
    list: ({ onTurn: _onTurn, ...request }: ListRequest<Pod>) => {
      asked.push(request);
      const next = answers[asked.length - 1];
      if (next === undefined) throw new Error('requested too often');
      return next;
    },
    watch: () => {
      throw new Error('watch() is not called by a list');
    },
  };
}

const brief = (progress: ListSignal<Pod>): string => {
  if (progress.kind !== 'listed' && progress.kind !== 'part') return progress.kind;
  if (progress.kind === 'listed') {
    return `listed ${progress.resourceVersion}${progress.paginated ? ' in pages' : ''}`;
  }
  const names = progress.items.map(({ metadata }) => metadata.name);
  return [...names, ...progress.refused.map((key) => `!${key}`)].join(' ');
};

function collected(listPagesOf: Observable<ListSignal<Pod>>): string[] {
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
  it('W1: an empty token ends the list as an absent one', () => {
    const pages = lister(of(listPart('10', ['a@1'], '')));
    expect(collected(listPages(pages, first))).toEqual(['a', 'listed 10', '|']);
    expect(pages.asked.length).toBe(1);
  });

  it('W1: a continue request clears the version and its match, and the list has the version of its first page', () => {
    const pages = lister(
      of(listPart('10', ['a@1', 'b@2'], 'C1')),
      of(listPart('12', ['c@3'], 'C2')),
      of(listPart('14', ['d@4'])),
    );
    expect(collected(listPages(pages, first))).toEqual([
      'a b',
      'c',
      'd',
      'listed 10 in pages',
      '|',
    ]);
    expect(pages.asked).toEqual([
      first,
      { resourceVersion: '', limit: 2, continue: 'C1' },
      { resourceVersion: '', limit: 2, continue: 'C2' },
    ]);
  });

  it('W1: parts are emitted as they arrive, with refused objects and the number of remaining objects', () => {
    const progress: ListSignal<Pod>[] = [];
    const refused = [refusal('b@3')];
    const parts = of<ListPart<Pod>[]>(
      { items: [pod('a@1')] },
      { items: [], refused },
      { items: [], metadata: { resourceVersion: '10', remainingItemCount: 0 } },
    );
    listPages(lister(parts), first).subscribe((each) => progress.push(each));
    expect(progress).toEqual([
      { kind: 'part', items: [pod('a@1')], refused: [] },
      { kind: 'part', items: [], refused },
      { kind: 'part', items: [], refused: [], remaining: 0 },
      { kind: 'listed', items: [], resourceVersion: '10', paginated: false },
    ]);
  });

  it('W1: every page is requested with the demand, the known objects and onRefused', () => {
    const pages = lister(of(listPart('10', ['a@1'], 'C1')), of(listPart('10')));
    const demand = () => null;
    const known = new Map<string, Pod>();
    const onRefused = () => {};
    collected(listPages(pages, { ...first, demand, known, onRefused }));
    expect(pages.asked).toHaveLength(2);
    for (const request of pages.asked) expect(request).toMatchObject({ demand, known, onRefused });
  });
});

describe('a token that expires', () => {
  it('W1: one complete list with the first request’s version follows (TestReflectorFullListIfExpired)', () => {
    const pages = lister(
      of(listPart('10', ['a@1'], 'C1')),
      failing(expired),
      of(listPart('20', ['a@1', 'b@15'])),
    );
    expect(collected(listPages(pages, first))).toEqual([
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

  it('W1: if the complete list fails, its error is the error of the list', () => {
    for (const error of [expired, answer(500)]) {
      const pages = lister(of(listPart('10', ['a@1'], 'C1')), failing(expired), failing(error));
      expect(collected(listPages(pages, first))).toEqual(['a', 'restart', `# ${error.code}`]);
      expect(pages.asked.length).toBe(3);
    }
  });

  it('W15: the kinds of the pages before do not count for the complete list', () => {
    const wrong = (page: ListPart<Pod>) => ({
      ...page,
      wrongKind: ApiError.local('WrongKind', 'nodes'),
    });
    const run = (page: ListPart<Pod>, full: ListPart<Pod>) =>
      collected(listPages(lister(of(page), failing(expired), of(full)), first));
    const full = listPart('20', []);
    expect(run(listPart('10', ['a@1'], 'C1'), wrong(full))).toEqual(['a', 'restart', '# nodes']);
    const listed = ['restart', 'listed 20 in pages', '|'];
    expect(run(wrong(listPart('10', [], 'C1')), full)).toEqual(listed);
  });

  it('W1: a token that has expired on the first page is the error of the list', () => {
    const pages = lister(failing(expired));
    expect(collected(listPages(pages, first))).toEqual(['# 410']);
    expect(pages.asked.length).toBe(1);
  });
});

describe('a lister that misbehaves', () => {
  it('W1: a list that ends without metadata is an error', () => {
    const parts = of<ListPart<Pod>>({ items: [pod('a@1')] });
    expect(collected(listPages(lister(parts), first))).toEqual([
      'a',
      '# the list ended without metadata',
    ]);
  });

  it('W1: an error that list() throws is an error of the list, also on a later page', () => {
    expect(collected(listPages(lister(), first))).toEqual(['# LIST: requested too often']);
    const pages = lister(of(listPart('10', ['a@1'], 'C1')));
    expect(collected(listPages(pages, first))).toEqual(['a', '# LIST: requested too often']);
  });
});

describe('a list that would never end', () => {
  it('W9: a page that returns its own token ends the list, whether it is the first or a later page', () => {
    const pages = lister(of(listPart('10', ['a@1'], 'C1')), of(listPart('10', ['b@1'], 'C1')));
    expect(collected(listPages(pages, first))).toEqual([
      'a',
      'b',
      '# LIST: the server returned the same continue token again, so the list would never end',
    ]);
    expect(
      collected(listPages(lister(of(listPart('1', [], 'C'))), { ...first, continue: 'C' })),
    ).toEqual([expect.stringContaining('same continue token')]);
  });

  it('W9: ten thousand empty pages in a row end the list, but a hundred thousand pages with objects between do not', () => {
    let page = 0;
    const endless = (names: (at: number) => string[], last = Number.POSITIVE_INFINITY) => ({
      list: () => {
        page++;
        return of(listPart('10', names(page), page < last ? `C${page}` : undefined));
      },
      watch: () => {
        throw new Error('watch() is not called by a list');
      },
    });
    expect(
      collected(
        listPages(
          endless(() => []),
          first,
        ),
      ),
    ).toEqual(['# LIST: the server returned 10000 empty pages, so the list would never end']);
    expect(page).toBe(10_001);
    page = 0;
    // Pages that arrive synchronously do not recurse.
    const all = collected(
      listPages(
        endless((at) => (at % 9_000 === 0 ? ['a@1'] : []), 100_000),
        first,
      ),
    );
    expect(all.slice(-2)).toEqual(['listed 10 in pages', '|']);
  });
});
