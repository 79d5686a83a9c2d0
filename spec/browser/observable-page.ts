/** The script of a test page that reads a view through the Observable of the platform. */
import { createClient, createListWatch, createSharedInformer, liveMap, toView } from 'rx-informer';
import { pods } from 'rx-informer/resources';

/** The part of the platform's Observable that the page uses. */
interface PlatformObservable<T> {
  filter(predicate: (value: T) => boolean): PlatformObservable<T>;
  subscribe(next: (value: T) => void, options: { readonly signal: AbortSignal }): void;
}
declare const Observable: { from<T>(source: AsyncIterable<T>): PlatformObservable<T> };

const leaving = new AbortController();
const seen: (readonly string[])[] = [];

const observed = {
  start() {
    const informer = createSharedInformer(createListWatch(createClient({ baseUrl: '' }), pods), {
      lingerMs: 0,
    });
    const names = informer.changes$.pipe(
      liveMap(({ metadata }) => ({ name: metadata.name })),
      toView(),
    );
    Observable.from(names)
      .filter((rows) => rows.length > 0)
      .subscribe((rows) => seen.push(rows.map(({ name }) => name)), { signal: leaving.signal });
  },
  seen: () => seen,
  leave: () => leaving.abort(),
};

export type ObservablePage = typeof observed;

Object.assign(globalThis, { observed });
