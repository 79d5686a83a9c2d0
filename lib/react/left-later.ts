/** Resources that hooks share, which outlast a moment without users. */
import { asyncScheduler, type Subscription } from 'rxjs';

/**
 * Returns a function that enters, and returns the function that leaves. `begin` is called when the first user enters; its
 * subscription ends one task after the last one has left, because StrictMode leaves and enters again in one task.
 */
export function leftLater(begin: () => Subscription): () => () => void {
  let users = 0;
  let held: Subscription | undefined;
  let leaving: Subscription | undefined;
  return () => {
    leaving?.unsubscribe();
    held ??= begin();
    users++;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      users--;
      if (users > 0) return;
      leaving = asyncScheduler.schedule(() => {
        const ended = held;
        // Before it ends, because a user may enter meanwhile.
        held = undefined;
        ended?.unsubscribe();
      });
    };
  };
}
