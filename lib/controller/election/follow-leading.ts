/** Whether one leads, for longer than one time of an elector. */
import { Subscription } from 'rxjs';
import type { LeaderElector } from './leader-elector.ts';

/**
 * Tells each change of `leading$`, also after the elector was stopped and started again, which ends that stream. One that
 * ends while it is being listened to would end again and again: what it said last stands.
 */
export function followLeading(
  elector: Pick<LeaderElector, 'leading$'>,
  tell: (leads: boolean) => void,
): Subscription {
  const following = new Subscription();
  const follow = () => {
    let isBeginning = true;
    const listening = elector.leading$.subscribe({
      next: tell,
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
