/** What the user wants to do: the marked rows, the action whose dialog is open, and what can be taken back. */
import { BehaviorSubject } from 'rxjs';
import { type ObjectName, page$ } from '../cluster/page-state.ts';
import type { Row } from '../kinds/kind.ts';

/** An action on objects of one kind, whose dialog is open. */
export interface Asked {
  readonly action: string;
  readonly kind: string;
  readonly targets: readonly ObjectName[];
}

export interface Notice {
  readonly text: string;
  undo?(): Promise<unknown>;
}

export const asked$ = new BehaviorSubject<Asked | undefined>(undefined);
export const notice$ = new BehaviorSubject<Notice | undefined>(undefined);

/** The marked rows, by their UIDs. */
export const marks$ = new BehaviorSubject<ReadonlyMap<string, ObjectName>>(new Map());

/** The kinds of which several objects have an action. */
const markable = new Set(
  'pods services deployments statefulsets daemonsets jobs cronjobs nodes'.split(' '),
);

export const isMarkable = (kind: string) => markable.has(kind);

export function toggleMark({ uid, namespace, name }: Row): void {
  const marks = new Map(marks$.value);
  if (!marks.delete(uid)) marks.set(uid, { kind: page$.value.kind, uid, namespace, name });
  marks$.next(marks);
}

export const clearMarks = () => marks$.next(new Map());
