/**
 * Sends edits, those of one object one after another, and shows their drafts until the watch has what was written, an edit fails,
 * or no echo comes.
 */
import { firstValueFrom, from, type SchedulerLike, Subscription } from 'rxjs';
import { eitherSignal } from '../../client/either-signal.ts';
import { addressOf, type ObjectTarget } from '../../client/object-target.ts';
import { untilAborted } from '../../client/until-aborted.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import type { ShownDraft } from './overlay.ts';

/** One edit. */
export interface SentEdit<T> {
  readonly resource: Resource<KubernetesObject>;
  readonly target: ObjectTarget;
  /** Ends the edit, also while it waits for others. */
  readonly signal: AbortSignal | undefined;
  /** How long the edit may take, and how long its draft is shown after the answer without an echo. */
  readonly timeoutMs: number;
  /** The draft that is shown; another one may take its place. */
  draft: ShownDraft | undefined;
  /** Returns the server's answer. `where` begins the errors of the edit. */
  send(signal: AbortSignal, where: string): Promise<T>;
}

/** The result, or an error as soon as the signal aborts. */
export function within<V>(
  signal: AbortSignal | undefined,
  where: string,
  result: Promise<V>,
): Promise<V> {
  return firstValueFrom(from(result).pipe(untilAborted(signal, where)));
}

export class SentEdits {
  readonly #scheduler: SchedulerLike;
  /** The last edit of each object, settled when the next one may begin. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** Sends an edit after the earlier ones of its object. */
  async add<T>(edit: SentEdit<T>): Promise<T> {
    const { namespace, name } = addressOf(edit.resource, edit.target, undefined);
    // By the name, because the UID is known only of an object that was read.
    const where = `edit of ${resourceName(edit.resource)} ${namespace ? `${namespace}/` : ''}${name}`;
    const before = this.#last.get(where);
    const done = this.#send(edit, where, before);
    // The next one also waits for those that an aborted one has waited for. No result is kept.
    const settled = Promise.allSettled([before, done]).then(() => undefined);
    this.#last.set(where, settled);
    void settled.then(() => {
      if (this.#last.get(where) === settled) this.#last.delete(where);
    });
    return await done;
  }

  async #send<T>(edit: SentEdit<T>, where: string, before?: Promise<void>): Promise<T> {
    const { signal: given, timeoutMs } = edit;
    const late = new AbortController();
    const timed = new Subscription();
    try {
      if (before !== undefined) await within(given, where, before);
      timed.add(looseTimer(timeoutMs, this.#scheduler, () => late.abort()));
      const { signal, release } = eitherSignal(given ?? late.signal, late.signal);
      timed.add(release);
      const written = await edit.send(signal, where);
      const { draft } = edit;
      draft?.written(written as Stored<KubernetesObject>);
      // Without an echo the state of the informers is shown again.
      if (draft?.isShown() === true) looseTimer(timeoutMs, this.#scheduler, draft.end);
      return written;
    } catch (error) {
      edit.draft?.end();
      if (!late.signal.aborted || given?.aborted === true) throw error;
      const message = `${where}: the server has not answered for ${timeoutMs} ms; the change may still take effect`;
      throw ApiError.local('Silent', message, { cause: error });
    } finally {
      timed.unsubscribe();
    }
  }
}
