/** The edits of one user, which are written with the user's own client. */
import type { SchedulerLike } from 'rxjs';
import { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { readable } from '../../wire/public-error.ts';
import type { CarriedEdit } from '../../worker/messages.ts';
import { type EditingTab, Edits } from '../../worker/server/edits.ts';

/** How many edits of a user are open at one time. */
const MOST_EDITS = 20;
/** The most that an edit may wait for its page and for the API server, in milliseconds. */
const MOST_MS = 30_000;

/** The parts of the edits of a user. */
export interface UserEditsParts {
  /** The client of the user. */
  client(): KubeClient | undefined | Promise<KubeClient | undefined>;
  readonly scheduler: SchedulerLike;
  /** Where drafts are shown. @defaultValue nowhere; the watch shows what was written */
  readonly layer?: EditableLayer | undefined;
  /** Tells the program why there is no client. */
  report?(error: unknown): void;
}

/** The error of an edit without a client. */
function withoutClient(thrown: unknown): ApiError {
  const isAnswer = thrown instanceof ApiError;
  const { code, reason } = isAnswer ? thrown : { code: 500, reason: 'InternalError' };
  const message = `the edit could not be made, because the server has no client of this user (${code} ${reason}); try again`;
  return readable(new ApiError({ code, reason, message }));
}

export class UserEdits {
  readonly #parts: UserEditsParts;
  #made: Promise<Edits> | undefined;
  #open = 0;

  constructor(parts: UserEditsParts) {
    this.#parts = parts;
  }

  /** Resolves with the answer of the API server. */
  async edit(edit: CarriedEdit, tab: EditingTab): Promise<unknown> {
    if (this.#open >= MOST_EDITS) {
      const message = `this user has ${MOST_EDITS} open edits; wait for their answers`;
      throw readable(new RangeError(message));
    }
    this.#open++;
    try {
      this.#made ??= this.#make();
      // One client that could not be made must not refuse all later edits.
      this.#made.catch(() => {
        this.#made = undefined;
      });
      const edits = await this.#made;
      const timeoutMs = Math.min(edit.timeoutMs, MOST_MS);
      return await edits.edit({ ...edit, timeoutMs }, tab);
    } catch (error) {
      if (!(error instanceof ApiError)) throw readable(new Error('the edit has failed'));
      if (error.status?.message === undefined) throw error;
      // What the API server has answered the user's own request. The message of the error also has its address.
      const { message } = error.status;
      const { code, reason, retryAfterMs } = error;
      throw readable(new ApiError({ code, reason, retryAfterMs, message }));
    } finally {
      this.#open--;
    }
  }

  async #make(): Promise<Edits> {
    const { scheduler, layer = new EditableLayer() } = this.#parts;
    try {
      const client = await this.#parts.client();
      return new Edits({ scheduler, ...(client && { client }) }, layer);
    } catch (error) {
      this.#parts.report?.(error);
      throw withoutClient(error);
    }
  }
}
