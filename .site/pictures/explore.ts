/**
 * Explores the reflector's state machine: runs its table with every kind of input from every state that it reaches, and notes
 * which phase leads to which. The pictures of phases are drawn from the result, so they show what the table does.
 */
import type { WatchEvent } from '../../lib/decode/watch-event.ts';
import { ApiError } from '../../lib/meta/api-error.ts';
import type { KubernetesObject } from '../../lib/meta/kubernetes-object.ts';
import type { Moment, ReflectorInput, ReflectorState } from '../../lib/reflector/state.ts';
import { initialMemory } from '../../lib/reflector/state.ts';
import { statusOf } from '../../lib/reflector/status.ts';
import { nextReflector, startReflector } from '../../lib/reflector/transitions.ts';
import { exponentialBackoff } from '../../lib/rx/backoff.ts';

/** A change of the phase, and the input that causes it; `start` for the first phase. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly input: string;
}

const metadata = { name: 'a', namespace: 'd', uid: 'a', resourceVersion: '6' };
const object: KubernetesObject = { metadata };
const bookmark = (initialEventsEnd: boolean): WatchEvent<KubernetesObject> => ({
  type: 'BOOKMARK',
  resourceVersion: '7',
  initialEventsEnd,
});
const errors = [
  ...[400, 401, 403, 404, 410, 429, 500, 504].map(
    (code) => new ApiError({ code, reason: '', message: 'no' }),
  ),
  ...(['Silent', 'Malformed', 'TooLarge', 'WrongKind'] as const).map((reason) =>
    ApiError.local(reason, reason),
  ),
];

type Inputs = {
  readonly [Kind in ReflectorInput['kind']]: readonly (ReflectorInput & { kind: Kind })[];
};
/** The inputs of each kind. The type requires an example of each. */
const INPUTS: Inputs = {
  queued: [{ kind: 'queued' }],
  sending: [{ kind: 'sending' }],
  opened: [{ kind: 'opened' }],
  alive: [{ kind: 'alive' }],
  doubted: [{ kind: 'doubted' }],
  part: [{ kind: 'part', items: [object], refused: [] }],
  restart: [{ kind: 'restart' }],
  listed: [
    { kind: 'listed', items: [], resourceVersion: '9', paginated: false },
    { kind: 'listed', items: [], resourceVersion: '1', paginated: true },
  ],
  events: [
    { kind: 'events', events: [{ type: 'MODIFIED', key: 'd/a', object }] },
    { kind: 'events', events: [bookmark(false)] },
    { kind: 'events', events: [bookmark(true)] },
    ...errors.map((error) => ({
      kind: 'events' as const,
      events: [{ type: 'ERROR' as const, error }],
    })),
  ],
  closed: [{ kind: 'closed' }],
  failed: errors.map((error) => ({ kind: 'failed', error })),
  yielded: [{ kind: 'yielded' }],
  awake: [{ kind: 'awake' }],
  elapsed: [{ kind: 'elapsed' }],
  tick: [{ kind: 'tick' }],
  paused: [{ kind: 'paused' }],
  resumed: [{ kind: 'resumed' }],
  refresh: [true, false].map((trustVersions) => ({ kind: 'refresh', trustVersions })),
  renew: [{ kind: 'renew' }],
  renewed: [{ kind: 'renewed' }],
  'renewal-failed': errors.map((error) => ({ kind: 'renewal-failed', error })),
};

function momentAt(nowMs: number, streams: boolean, isReading: boolean): Moment {
  const config: Moment['config'] = {
    scope: undefined,
    initialList: 'auto',
    mayStream: () => streams,
    renewsEarly: true,
    mayOverlap: () => true,
    pageSize: undefined,
    minWatchTimeoutMs: 300_000,
    backoff: exponentialBackoff(),
    healthyMs: 120_000,
    isHeldBack: () => false,
  };
  return { nowMs, random: 0.5, silentMs: 0, isReading, config };
}

/** Whether the server streams lists, and whether the consumer reads. */
const CONDITIONS = [
  [true, true],
  [true, false],
  [false, true],
  [false, false],
] as const;

/** Counts up to this number tell states apart; the machine gives up a streaming list, for example, after the second failure. */
const COUNTED: Readonly<Record<string, number>> = {
  streamFailures: 2,
  fruitless: 1,
  tickMs: 1,
  quiet: 3,
};

/** Two states with one name have the same transitions, so only one of them is explored. */
function nameOf(state: ReflectorState): string {
  return JSON.stringify(state, (key, value: unknown) => {
    if (typeof value === 'number') return Math.min(value, COUNTED[key] ?? 0);
    const isFlag = /^(?:error|blocked|retryAfter|resourceVersion|until)$/.test(key);
    return isFlag ? value !== undefined && value !== '' : value;
  });
}

/** All transitions of the machine from its starts, by the phases that `phaseOf` gives its states. */
function explore(phaseOf: (state: ReflectorState) => string): Edge[] {
  const edges = new Map<string, Edge>();
  const note = (from: string, to: string, input: string) => {
    if (from !== to) edges.set(`${from} ${to} ${input}`, { from, to, input });
  };
  const seen = new Map<string, readonly [ReflectorState, number]>();
  const visit = (state: ReflectorState, nowMs: number) => {
    const name = nameOf(state);
    if (!seen.has(name)) seen.set(name, [state, nowMs]);
  };
  for (const streams of [true, false]) {
    for (const resumeFrom of ['', '5']) {
      const [first] = startReflector(initialMemory(0, resumeFrom), momentAt(0, streams, true));
      note('start', phaseOf(first), 'start');
      visit(first, 0);
    }
  }
  // A map passes on to the entries that are added while it is read.
  for (const [state, sinceMs] of seen.values()) {
    for (const afterMs of [1, 400_000]) {
      for (const [streams, isReading] of CONDITIONS) {
        const moment = momentAt(sinceMs + afterMs, streams, isReading);
        for (const input of Object.values<readonly ReflectorInput[]>(INPUTS).flat()) {
          const [next] = nextReflector(state, input, moment);
          note(phaseOf(state), phaseOf(next), input.kind);
          visit(next, moment.nowMs);
        }
      }
    }
  }
  return [...edges.values()];
}

/** The phases of the reflector. */
export function reflectorEdges(): Edge[] {
  return explore(({ phase }) => phase);
}

/** The phases that `status$` shows while the informer runs, without `queued`, which each of those with a request can begin with. */
export function statusEdges(): Edge[] {
  return explore(
    (state) => statusOf({ ...state, queued: undefined } as ReflectorState, undefined).phase,
  );
}
