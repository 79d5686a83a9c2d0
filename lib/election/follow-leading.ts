/** Follows whether an elector leads, through its stops and starts. */
import { Subscription } from 'rxjs';
import type { LeaderElector } from './leader-elector.ts';

/**
 * Calls `onChange` for each value of `leading$` and subscribes again when the elector is stopped, which completes that stream. A
 * stream that completes during the subscription is not subscribed again, because that would never end; its last value stands.
 */
export function followLeading(
  elector: Pick<LeaderElector, 'leading$'>,
  onChange: (leads: boolean) => void,
): Subscription {
  const following = new Subscription();
  const follow = () => {
    let isBeginning = true;
    const listening = elector.leading$.subscribe({
      next: onChange,
      complete: () => {
        if (isBeginning) return;
        following.remove(listening);
        if (!following.closed) follow();
      },
    });
    isBeginning = false;
    following.add(listening);
  };
  follow();
  return following;
}
