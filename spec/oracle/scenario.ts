/**
 * The scenario of one seed: the properties of the server, the writes, the faults and the handlers. Plain data, so
 * that two servers can play the same scenario.
 */
import { type Dice, diceOf } from './dice.ts';

/** One write to the server. Its effect depends on the existing objects: a name that does not exist is created. */
export interface Write {
  readonly kind: 'put' | 'delete' | 'recreate' | 'relabel' | 'mark';
  readonly namespace: string;
  readonly name: string;
  readonly content: string;
  readonly label: string;
  /** Whether the event is lost: no watch receives it. */
  readonly silent: boolean;
}

/** A fault. */
export type Trouble =
  | 'close'
  | 'drop'
  | 'close-storm'
  | 'expire'
  | 'compact'
  | 'error-410'
  | 'error-429'
  | 'error-500'
  | 'garbage'
  | 'cut-line'
  | 'refuse-watch'
  | 'busy-watch'
  | 'fail-list'
  | 'busy-list'
  | 'cut-list'
  | 'cut-watch'
  | 'no-bookmarks'
  | 'slow'
  | 'heal';

/** One step of a script. */
export type Step =
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  /** For so many round trips, or until both informers watch. */
  | { readonly kind: 'wait'; readonly until: number | 'watched' }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'handler'; readonly name: string; readonly resyncMs: number }
  | { readonly kind: 'remove'; readonly name: string };

/** The scenario of a seed. */
export interface Scenario {
  readonly seed: number;
  /** Whether the server streams lists. */
  readonly watchList: boolean;
  readonly bookmarkIntervalMs: number;
  /** The longest page of a list. */
  readonly pageSizeMax?: number;
  readonly initialResourceVersion: string;
  /** The namespace; '' means all namespaces. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly resyncMs: number;
  /** The writes before the informers start. */
  readonly before: readonly Write[];
  readonly steps: readonly Step[];
}

const NAMESPACES = ['a', 'b', 'c'];
const NAMES = ['one', 'two', 'three', 'four', 'five'];
const LABELS = ['web', 'web', 'db', 'cache'];

/** The name and the label of the objects that mark the end for a watcher. No other write uses this name. */
export const MARKER = 'marker';
export const MARKER_LABEL = 'web';

function writeOf(dice: Dice, silent: number): Write {
  return {
    kind: dice.weighed({ put: 10, delete: 4, recreate: 2, relabel: 3, mark: 1 }),
    namespace: dice.pick(NAMESPACES),
    name: dice.pick(NAMES),
    content: String(dice.below(1e9)),
    label: dice.pick(LABELS),
    silent: dice.chance(silent),
  };
}

/** After these faults client-go relists, after a wait that doubles, so a few of them take a long time. */
const COSTLY = {
  expire: 4,
  compact: 4,
  'error-410': 3,
  'error-500': 3,
  garbage: 2,
  'cut-line': 2,
  'fail-list': 2,
  'busy-list': 1,
  'cut-list': 2,
  'cut-watch': 2,
  'refuse-watch': 2,
  'busy-watch': 2,
  'error-429': 1,
} as const satisfies Partial<Record<Trouble, number>>;
const CHEAP = {
  close: 3,
  drop: 3,
  'close-storm': 1,
  'no-bookmarks': 1,
  slow: 2,
  heal: 3,
} as const satisfies Partial<Record<Trouble, number>>;

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  const dice = diceOf(seed);
  const silent = dice.chance(0.25) ? 0.15 : 0;
  const selects = dice.weighed({ all: 5, label: 4, namespace: 2, both: 1 });
  const count = 15 + dice.below(35);
  let costly = dice.below(4);
  const steps: Step[] = [];
  let late = 0;
  for (let step = 0; step < count; step++) {
    const kind = dice.weighed({ write: 12, wait: 10, trouble: 5, handler: 1, remove: 0.5 });
    if (kind === 'write') {
      const burst = dice.chance(0.2) ? 2 + dice.below(12) : 1;
      const writes = Array.from({ length: burst }, () => writeOf(dice, silent));
      steps.push({ kind, writes });
    } else if (kind === 'wait') {
      steps.push({
        kind,
        until: dice.pick([0, 0, 1, 1, 1, 1, 3, 6, 15, 'watched', 'watched'] as const),
      });
    } else if (kind === 'trouble') {
      const hard = costly > 0 && dice.chance(0.4);
      if (hard) costly--;
      steps.push({ kind, trouble: hard ? dice.weighed(COSTLY) : dice.weighed(CHEAP) });
    } else if (kind === 'handler') {
      late++;
      steps.push({ kind, name: `late-${late}`, resyncMs: 0 });
    } else if (late > 0) {
      steps.push({ kind, name: `late-${1 + dice.below(late)}` });
    }
  }
  return {
    seed,
    watchList: dice.chance(0.6),
    bookmarkIntervalMs: dice.pick([20, 200, 60_000]),
    ...(dice.chance(0.3) ? { pageSizeMax: 1 + dice.below(4) } : {}),
    initialResourceVersion: dice.pick(['1', '1', '97', '9007199254740990']),
    namespace: selects === 'namespace' || selects === 'both' ? 'a' : '',
    labelSelector: selects === 'label' || selects === 'both' ? 'app=web' : '',
    resyncMs: dice.chance(0.15) ? 1_000 : 0,
    before: Array.from({ length: dice.chance(0.15) ? 0 : dice.below(25) }, () => writeOf(dice, 0)),
    steps,
  };
}
