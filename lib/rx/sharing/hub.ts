/**
 * Those who follow one state. Whoever joins has the state of that moment, and is told each later change once, in order, until it
 * leaves. The hub has no queue: the state and its changes are passed within one drain.
 */
import { reportUnhandled } from '../report-unhandled.ts';

/** The position of a receiver that is told nothing more: after every other one. */
const GONE = 9e15;

interface Member<R> {
  readonly receiver: R;
  /** The position of the last change that the receiver has. */
  at: number;
}

/** Receivers, called in the order in which they were added. One may be added several times. */
export class Hub<R> {
  /** For {@link ender} alone. */
  readonly members: Set<Member<R>> = new Set();
  /** The position of the last change, if the caller has no positions of its own. */
  position = 0;

  get size(): number {
    return this.members.size;
  }

  /** Adds a receiver that has the state at this position. Returns the function that removes it and says whether it was still there. */
  add(receiver: R, at: number = this.position): () => boolean {
    const member = { receiver, at };
    this.members.add(member);
    return () => {
      member.at = GONE;
      return this.members.delete(member);
    };
  }

  /**
   * Calls `call` with each receiver that was added before, has not left, and does not have the change at this position. An
   * error is reported, and the others are told. `members` are others than the present ones for {@link ender} alone.
   */
  tell(
    call: (receiver: R) => void,
    at: number = ++this.position,
    members: Iterable<Member<R>> = this.members,
  ): void {
    for (const member of [...members]) {
      if (member.at >= at) continue;
      // Before the call, because what the receiver causes may tell a later change. One that was only noted is in what it reads.
      member.at = Math.max(at, this.position);
      try {
        call(member.receiver);
      } catch (error) {
        reportUnhandled(error);
      }
    }
  }
}

/**
 * Returns the function that removes and ends the present receivers that have `complete` and have not left until then. One that is
 * added while others are ended stays. An error is reported, and the others are ended.
 */
export function ender<R extends { complete?(): void }>(
  hub: Hub<R>,
  end: (receiver: R) => void = (receiver) => receiver.complete?.(),
): () => void {
  const { members } = hub;
  const present = [...members].filter(({ receiver }) => receiver.complete);
  return () => {
    const ending = present.filter((member) => members.delete(member));
    hub.tell(end, GONE, ending);
  };
}
