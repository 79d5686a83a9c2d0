/** Shares one subscription to a stream of change sets; a later subscriber receives what there is as a `reset` set. */
import { Observable, Subject, type Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import { carryLineage, lineageOf } from '../../query/engine/lineage.ts';
import { type AnyChangeSet, createChangeSet } from '../../store/change-set.ts';

interface Sharing {
  readonly sets: Subject<AnyChangeSet<unknown>>;
  readonly rows: Map<string, Change<unknown>>;
  last: AnyChangeSet<unknown> | undefined;
  users: number;
  run: Subscription | undefined;
}

function note(sharing: Sharing, set: AnyChangeSet<unknown>): void {
  const { rows } = sharing;
  sharing.last = set;
  if (set.reset) rows.clear();
  for (const { id, key, object } of set.changes) {
    if (object === undefined) rows.delete(id);
    else rows.set(id, { id, key, object } as Change<unknown>);
  }
}

/** The stream, subscribed once. */
export function sharedAnswer(
  source: Observable<AnyChangeSet<unknown>>,
): Observable<AnyChangeSet<unknown>> {
  let current: Sharing | undefined;
  const stream = new Observable<AnyChangeSet<unknown>>((subscriber) => {
    const isFirst = current === undefined;
    current ??= { sets: new Subject(), rows: new Map(), last: undefined, users: 0, run: undefined };
    const sharing = current;
    sharing.users++;
    subscriber.add(() => {
      sharing.users--;
      if (sharing.users > 0) return;
      if (current === sharing) current = undefined;
      sharing.run?.unsubscribe();
    });
    const { last, rows } = sharing;
    if (last !== undefined) {
      const head = { ...headOf(last), cause: 'snapshot' as const, reset: true, initial: false };
      subscriber.next(createChangeSet(head, [...rows.values()]) as AnyChangeSet<unknown>);
    }
    subscriber.add(sharing.sets.subscribe(subscriber));
    if (!isFirst) return;
    const end = (finish: () => void) => {
      if (current === sharing) current = undefined;
      finish();
    };
    sharing.run = source.subscribe({
      next: (set) => {
        note(sharing, set);
        sharing.sets.next(set);
      },
      error: (error) => end(() => sharing.sets.error(error)),
      complete: () => end(() => sharing.sets.complete()),
    });
    if (sharing.users === 0) sharing.run.unsubscribe();
  });
  carryLineage(stream, lineageOf(source));
  return stream;
}

function headOf({ rev, synced, resourceVersion, order, total }: AnyChangeSet<unknown>) {
  return { rev, synced, resourceVersion, order: order as undefined, total };
}
