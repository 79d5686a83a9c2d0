/** Resources that hooks share, which outlast a moment without users. */
import { asyncScheduler, type Subscription } from 'rxjs';
import { Holders } from '../rx/sharing/holders.ts';

/**
 * Returns a function that enters, and returns the function that leaves. `begin` is called when the first user enters; its
 * subscription ends one task after the last one has left, because StrictMode leaves and enters again in one task.
 */
export function leftLater(begin: () => Subscription): () => () => void {
  let held: Subscription | undefined;
  const end = () => {
    const ended = held;
    // Before it ends, because a user may enter meanwhile.
    held = undefined;
    ended?.unsubscribe();
  };
  const users = new Holders(end, (leave) => asyncScheduler.schedule(leave));
  return () => {
    held ??= begin();
    return users.hold();
  };
}
