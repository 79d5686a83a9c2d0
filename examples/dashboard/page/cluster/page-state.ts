/**
 * The state of the page, which is the query of its URL: what is shown can be bookmarked and sent to a colleague, and the
 * back button works. The live queries take their parameters from it.
 */
import { BehaviorSubject } from 'rxjs';
import type { Sort } from '../kinds/kind.ts';

/** An object that the details show. Without a UID it is whichever object has the name. */
export interface ObjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The state of the page. An empty field means: not chosen. */
export interface PageState {
  readonly kind: string;
  /** The text of the filter box: words and selectors. */
  readonly filter: string;
  readonly namespace: string;
  readonly tone: string;
  readonly status: string;
  readonly sort: Sort | undefined;
  readonly columns: readonly string[] | undefined;
  readonly object: ObjectName | undefined;
  readonly tab: string;
  /** The panel at the side: `queries` or `server`. */
  readonly panel: string;
}

/** The fields that belong to one kind, and are not kept when the user goes to another kind. */
export const noFilter = { filter: '', namespace: '', tone: '', status: '' } as const;

function sortIn(text: string | null): Sort | undefined {
  if (!text) return undefined;
  const descending = text.startsWith('-');
  return { key: descending ? text.slice(1) : text, descending };
}

function objectIn(text: string | null): ObjectName | undefined {
  const [kind, uid, namespace, ...name] = text?.split('~') ?? [];
  if (!kind || uid === undefined || namespace === undefined) return undefined;
  return { kind, uid, namespace, name: name.join('~') };
}

export function readPage(search: string): PageState {
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) ?? '';
  return {
    kind: text('kind') || 'pods',
    filter: text('filter'),
    namespace: text('namespace'),
    tone: text('tone'),
    status: text('status'),
    sort: sortIn(query.get('sort')),
    columns: query.get('columns')?.split(','),
    object: objectIn(query.get('object')),
    tab: text('tab'),
    panel: text('panel'),
  };
}

export function writePage(page: PageState): string {
  const { sort, columns, object, kind, ...texts } = page;
  const query = new URLSearchParams();
  const fields: Readonly<Record<string, string>> = {
    kind: kind === 'pods' ? '' : kind,
    ...texts,
    sort: sort === undefined ? '' : `${sort.descending ? '-' : ''}${sort.key}`,
    columns: columns?.join(',') ?? '',
    object:
      object === undefined
        ? ''
        : [object.kind, object.uid, object.namespace, object.name].join('~'),
  };
  for (const [name, value] of Object.entries(fields)) if (value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export const page$ = new BehaviorSubject<PageState>(readPage(globalThis.location?.search ?? ''));

globalThis.addEventListener?.('popstate', () => page$.next(readPage(location.search)));

/**
 * Changes the state. The user returns from a new kind or object with the back button; a filter that is typed replaces the
 * entry of the history.
 */
export function go(change: Partial<PageState>): void {
  const page = { ...page$.value, ...change };
  const query = writePage(page);
  // A second click on a row visits nothing.
  const isVisit = ('kind' in change || 'object' in change) && query !== writePage(page$.value);
  const url = `${location.pathname}${query}`;
  if (isVisit) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  page$.next(page);
}

/** Shows another kind, without the filter of the former one. */
export function goToKind(kind: string): void {
  const { namespace } = page$.value;
  const fresh = { ...noFilter, sort: undefined, columns: undefined, object: undefined, tab: '' };
  go({ ...fresh, namespace, kind });
}
