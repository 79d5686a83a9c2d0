/** Tests a view as a source of RxJS 9, whose Observable is that of the web platform, in Node by its polyfill. */
import type { View } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import 'rxjs-9';
import { filter } from 'rxjs-9/filter';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { countedSource, followsTheContract, type Mounted, pod } from './view.contract.ts';

/** The part of the platform's Observable that is used here. */
interface PlatformObservable<T> {
  subscribe(next: (value: T) => void, options?: { readonly signal?: AbortSignal }): void;
  [filter](predicate: (value: T) => boolean): PlatformObservable<T>;
}
const { Observable } = globalThis as unknown as {
  readonly Observable: { from<T>(source: AsyncIterable<T>): PlatformObservable<T> };
};

function mount(view: View<Pod>): Mounted {
  const leaving = new AbortController();
  let rows: readonly Pod[] = [];
  let drawn = 0;
  Observable.from(view).subscribe(
    (next) => {
      rows = next;
      drawn += 1;
    },
    { signal: leaving.signal },
  );
  return { rows: () => rows, drawn: () => drawn, unmount: () => leaving.abort() };
}

describe('RxJS 9', () => {
  followsTheContract({ mount, isSynchronous: false });

  it('V44: an operator of RxJS 9 takes the rows of a view', async () => {
    const { view, put, subscribers } = countedSource();
    const leaving = new AbortController();
    const seen: number[] = [];
    Observable.from(view)
      [filter]((rows) => rows.length > 1)
      .subscribe((rows) => seen.push(rows.length), { signal: leaving.signal });
    await eventually(() => expect(subscribers()).toBe(1));
    put(pod('a'));
    put(pod('b'));
    await eventually(() => expect(seen).toEqual([2]));
    leaving.abort();
    await eventually(() => expect(subscribers()).toBe(0));
  });
});
