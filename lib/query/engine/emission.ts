/** Decides when an operator emits a set, and what the set says beside its changes. */
import type { Change } from '../../delta/net-change.ts';
import type { ResourceVersion } from '../../meta/resource-version.ts';
import {
  type AnyChangeSet,
  type Cause,
  type ChangeSetHead,
  commonCause,
  createChangeSet,
} from '../../store/change-set.ts';
import type { Origin } from '../../store/origin.ts';
import type { Arrangement } from './machine.ts';

interface Head {
  readonly rev: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
}

/** The heads of an operator's inputs, and what was emitted last. */
export class Emission<Out> {
  readonly #heads: (Head | undefined)[];
  #cause: Cause | undefined;
  /** Whether all sets since the last emission were initial; `undefined` if there were none. */
  #initial: boolean | undefined;
  #rev = 0;
  #wasSynced = false;
  #before: Arrangement<Out> | undefined;
  #origin: Origin | undefined;
  #hasEmitted = false;

  constructor(inputs: number) {
    this.#heads = Array.from({ length: inputs }, () => undefined);
  }

  /** Whether an input has had a set. */
  get hasInput(): boolean {
    return this.#heads.some((head) => head !== undefined);
  }

  /** Notes a set of an input, and returns whether it is the first one. One that repeats what is known causes nothing. */
  arrived(input: number, set: AnyChangeSet<unknown>, isRepeated = false): boolean {
    const { rev, synced, resourceVersion } = set;
    const isLater = this.#heads[input] !== undefined;
    this.#heads[input] = { rev, synced, resourceVersion };
    // Sets that arrive before the first emission become part of it, and the first emission keeps the cause.
    if (!isRepeated && (!isLater || this.#hasEmitted)) {
      this.because(set.cause);
      this.#initial = (this.#initial ?? true) && set.initial;
    }
    return !isLater;
  }

  /** Whether a set was emitted. The first one is the whole answer. */
  get hasEmitted(): boolean {
    return this.#hasEmitted;
  }

  /** Notes why the next set is emitted. Of several causes in one set, `watch` is what they have in common. */
  because(cause: Cause): void {
    this.#cause = commonCause(this.#cause, cause);
  }

  /** The next set, or `undefined` if it would say nothing new. */
  next(
    changes: readonly Change<Out>[] | (() => readonly Change<Out>[]),
    arrangement: Arrangement<Out> | undefined,
    origin: Origin | undefined,
  ): AnyChangeSet<Out> | undefined {
    const synced = this.#heads.every((head) => head?.synced === true);
    const reset = !this.#hasEmitted;
    const isSame =
      !reset &&
      changes.length === 0 &&
      synced === this.#wasSynced &&
      arrangement?.order === this.#before?.order &&
      arrangement?.total === this.#before?.total &&
      origin === this.#origin;
    const cause = this.#cause ?? 'watch';
    const initial = this.#initial ?? false;
    this.#cause = undefined;
    this.#initial = undefined;
    if (isSame) return undefined;
    this.#hasEmitted = true;
    this.#wasSynced = synced;
    this.#before = arrangement;
    this.#origin = origin;
    const [only] = this.#heads;
    const isOne = this.#heads.length === 1 && only !== undefined;
    this.#rev = isOne ? only.rev : this.#rev + 1;
    const head: ChangeSetHead<Out> = {
      rev: this.#rev,
      resourceVersion: isOne ? only.resourceVersion : '',
      cause,
      reset,
      synced,
      origin,
      initial: initial && cause !== 'query' && cause !== 'time',
      ...(arrangement ?? {}),
    };
    return createChangeSet(head, changes) as AnyChangeSet<Out>;
  }
}
