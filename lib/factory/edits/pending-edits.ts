/** The edits of one object that a page shows before the watch does: a pure machine, which repeats the changes of a draft on newer states. */

import { type KubernetesObject, type Stored, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { mergeDraft } from './merge-draft.ts';

type AnyObject = Stored<KubernetesObject>;

/** An edit that is on its way to the server, or on its way back. */
export interface PendingEdit {
  readonly id: number;
  /** The object as it was shown when the edit began. */
  readonly base: AnyObject;
  readonly draft: AnyObject;
  /** The server's answer. Absent: the server has not answered yet. */
  readonly written?: AnyObject;
}

/** What happens to the edits of an object. */
export type EditInput =
  | { readonly type: 'begun'; readonly edit: PendingEdit }
  | { readonly type: 'written'; readonly id: number; readonly object: AnyObject }
  /** The server has refused the edit, or its time is over. */
  | { readonly type: 'ended'; readonly id: number }
  /** The versions at which the sources have the object; none if it was deleted. */
  | { readonly type: 'observed'; readonly versions: readonly string[] };

/** Whether a source of this version lacks the edit. */
function isAhead({ written }: PendingEdit, version: string): boolean {
  return written === undefined || isOlder(version, versionOf(written));
}

/** The edits after an input, the oldest first. */
export function nextEdits(edits: readonly PendingEdit[], input: EditInput): readonly PendingEdit[] {
  switch (input.type) {
    case 'begun':
      return [...edits, input.edit];
    case 'written':
      return edits.map((edit) =>
        edit.id === input.id ? { ...edit, written: input.object } : edit,
      );
    case 'ended':
      return edits.filter(({ id }) => id !== input.id);
    case 'observed':
      return edits.filter(
        (edit) =>
          edit.written === undefined || input.versions.some((version) => isAhead(edit, version)),
      );
  }
}

/**
 * The object as it is shown: with the changes of the edits that this state of it lacks. So an event that is older than
 * the answer of the server does not bring the former values back.
 */
export function shownObject<T extends AnyObject>(edits: readonly PendingEdit[], object: T): T {
  const version = versionOf(object);
  let shown: AnyObject = object;
  for (const edit of edits) {
    if (isAhead(edit, version)) shown = mergeDraft(edit.base, edit.draft, shown);
  }
  return shown as T;
}
