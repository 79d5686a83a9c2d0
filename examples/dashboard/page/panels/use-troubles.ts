/** What is in trouble, of all kinds, for the sidebar, the line above the table and the panel. */
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { BehaviorSubject } from 'rxjs';
import type { Queries } from '../cluster/cluster.ts';
import { go, goToKind, page$ } from '../cluster/page-state.ts';
import { onlyNamespace } from '../cluster/settings.ts';
import { useValue } from '../cluster/use-live.ts';
import { kindGroups } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { causesOf, RootCause } from './causes.ts';

/** Whether the page has time for what no table shows. */
const hasTime$ = new BehaviorSubject(false);

/** The function that finds the causes. It is loaded later, so that the first load of the page does not contain it. */
const finder$ = new BehaviorSubject<typeof causesOf | undefined>(undefined);

/** Called when the page has time for what no table shows. */
export function beginTroubles(): void {
  hasTime$.next(true);
  // Without it the page goes on looking.
  void import('./causes.ts').then(
    (loaded) => finder$.next(loaded.causesOf),
    () => undefined,
  );
}

/** The kinds whose rows say why they are in trouble. Events are no state. */
const watched = kindGroups
  .flatMap(({ kinds }) => kinds)
  .filter(({ id, tones, isTree, resource }) => {
    const isServed = resource.namespaced || onlyNamespace === '';
    return tones.bad !== undefined && !isTree && id !== 'events' && isServed;
  });

const queryOf = ({ id }: Kind) => workerQuery<Queries, 'troubles'>('troubles', id);

/** The number of objects of a kind that are in trouble; 0 of a kind that is not watched. */
export function useTroubleCount(kind: Kind): number {
  const isAsked = useValue(hasTime$) && watched.includes(kind);
  return useQuery(isAsked ? queryOf(kind) : undefined).rows.length;
}

/** The objects in trouble, and whether all kinds have been read. */
export interface Troubles {
  readonly causes: readonly RootCause[];
  /** The causes by kind. Kinds that others wait for come first, such as claims. */
  readonly kinds: readonly { readonly kind: Kind; readonly causes: readonly RootCause[] }[];
  readonly isCounting: boolean;
  /** The sentence to show while there are no causes. */
  readonly emptyWords: string;
}

export function useTroubles(): Troubles {
  const isAsked = useValue(hasTime$);
  const find = useValue(finder$);
  const all = watched.map((kind) => {
    // biome-ignore lint/correctness/useHookAtTopLevel: the kinds are the same in each render
    const { rows, synced, status, error } = useQuery(isAsked ? queryOf(kind) : undefined);
    // Known are also rows that cannot be read.
    return { kind, rows, isKnown: synced || (error ?? status.error) !== undefined };
  });
  const found = all.toReversed().flatMap(({ kind, rows }) => rows.map((row) => ({ kind, row })));
  const causes = find?.(found) ?? [];
  const kinds = [...new Set(causes.map(({ kind }) => kind))].map((kind) => ({
    kind,
    causes: causes.filter((each) => each.kind === kind),
  }));
  const isCounting = find === undefined || all.some(({ isKnown }) => !isKnown);
  const emptyWords = isCounting ? 'Looking for trouble of every kind …' : 'Nothing is in trouble.';
  return { causes, kinds, isCounting, emptyWords };
}

export function goToTrouble(kind: string): void {
  goToKind(kind);
  go({ tone: 'bad' });
}

export const toggleTroubles = () =>
  go({ panel: page$.value.panel === 'troubles' ? '' : 'troubles' });
