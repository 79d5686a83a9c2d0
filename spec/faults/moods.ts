/** A transform and an index function that refuse objects temporarily, each at times of its own. */
import { type SchedulerLike, Subscription } from 'rxjs';
import type { Pod } from './history.ts';

/** Which function refuses objects. Most seeds have `none`. */
export type Refuses = 'none' | 'transform' | 'index' | 'both';

export interface Moods {
  readonly transform: (pod: Pod) => Pod;
  readonly index: (pod: Pod) => readonly string[];
  /** Ends all refusals. */
  recover(): void;
}

/** Creates the functions. Each period lasts `meanMs` on average; in a bad one, half of all names are refused. */
export function createMoods(options: {
  readonly refuses: Refuses;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  readonly meanMs: number;
}): Moods {
  const { refuses, scheduler, random, meanMs } = options;
  const changes = new Subscription();
  const mood = (has: boolean) => {
    let bad = has && random() < 0.5;
    let names = random();
    const turn = () => {
      bad = !bad;
      names = random();
      changes.add(scheduler.schedule(turn, -Math.log(1 - random()) * meanMs));
    };
    if (has) changes.add(scheduler.schedule(turn, -Math.log(1 - random()) * meanMs));
    changes.add(() => {
      bad = false;
    });
    const isRefused = ({ metadata }: Pod) =>
      (Number(metadata.name.slice(1)) % 2 === 0) === names < 0.5;
    return (pod: Pod) => {
      if (bad && isRefused(pod)) throw new Error('temporarily refused');
    };
  };
  const received = mood(refuses === 'transform' || refuses === 'both');
  const stored = mood(refuses === 'index' || refuses === 'both');
  return {
    transform(pod) {
      received(pod);
      return pod;
    },
    index(pod) {
      stored(pod);
      return [];
    },
    recover: () => changes.unsubscribe(),
  };
}
