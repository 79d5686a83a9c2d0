/** `mergeStatus` and `mergePipeStatus`: several statuses as one, of the reflectors of an informer, or of informers. */
import { isOlder } from '../../meta/resource-version.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';
import type { InformerPhase, InformerStatus } from './status.ts';

type AnyStatus = Omit<ReflectorStatus, 'phase'> &
  Partial<Omit<InformerStatus, keyof ReflectorStatus>> & { readonly phase: InformerPhase };

/** Phases in the order of attention. A merged status shows the first of the phases. */
const BY_ATTENTION: readonly InformerPhase[] = [
  'backoff',
  'queued',
  'listing',
  'streaming',
  'connecting',
  'paused',
  'stopped',
  'idle',
  'watching',
];

/** The identity element: merged with another status, it gives the other one. */
export const NEUTRAL_STATUS: InformerStatus = /* @__PURE__ */ Object.freeze({
  phase: 'watching',
  synced: true,
  live: true,
  sinceMs: 0,
  attempt: 0,
  reconnects: 0,
  relists: 0,
  resourceVersion: '',
  refused: 0,
  refusedItems: 0,
  unknownDeletions: 0,
  generation: 0,
});

type Joins = {
  readonly [F in keyof AnyStatus]?: (
    front: NonNullable<AnyStatus[F]>,
    back: NonNullable<AnyStatus[F]>,
  ) => AnyStatus[F];
};

const first = <V>(front: V) => front;
const every = (front: boolean, back: boolean) => front && back;
const sum = (front: number, back: number) => front + back;

/** How the fields that two statuses have are joined. Other fields are those of the first phase by attention. */
const JOINS: Joins = {
  synced: every,
  live: every,
  staleSinceMs: Math.min,
  stale: first,
  attempt: Math.max,
  reconnects: sum,
  relists: sum,
  loaded: sum,
  remaining: sum,
  refused: sum,
  refusedObjects: (front, back) => [...front, ...back],
  refusedItems: sum,
  unknownDeletions: sum,
  generation: Math.max,
  resourceVersion: (front, back) => (isOlder(back, front) ? back : front),
  heldBack: first,
  blocked: first,
  error: first,
};

/** `front` needs as much attention as `back`, or more. */
function merged(front: AnyStatus, back: AnyStatus): AnyStatus {
  if (front === NEUTRAL_STATUS) return back;
  // Parts of one informer only, which say nothing about the others.
  const { audit: _audit, scopes: _scopes, ...rest } = front;
  const result: Record<string, unknown> = rest;
  const other: Readonly<Record<string, unknown>> = { ...back };
  for (const [field, join] of Object.entries(JOINS)) {
    const [one, two] = [result[field], other[field]];
    if (two !== undefined)
      result[field] = one === undefined ? two : join(one as never, two as never);
  }
  // A blocked scope takes precedence over one that only waits, together with its error.
  const isBlocking = front.blocked === undefined && back.blocked !== undefined;
  if (isBlocking && back.error !== undefined) result['error'] = back.error;
  return result as AnyStatus;
}

/**
 * Merges statuses: the phase that needs most attention, the oldest staleness, counters added up. Informers lose their
 * audits and scopes. One status stays as it is, and without any the result is {@link NEUTRAL_STATUS}.
 */
export function mergeStatus<S extends AnyStatus>(statuses: readonly S[]): S {
  const attention = ({ phase }: S) => BY_ATTENTION.indexOf(phase);
  const sorted = [...statuses].sort((one, other) => attention(one) - attention(other));
  return sorted.reduce<AnyStatus>(merged, NEUTRAL_STATUS) as S;
}

/** Merges the statuses of the informers of one pipe, which the stop of one of them ends, whatever the others are doing. */
export function mergePipeStatus<S extends AnyStatus>(statuses: readonly S[]): S {
  const merged = mergeStatus(statuses);
  const isStopped = statuses.some(({ phase }) => phase === 'stopped');
  return isStopped ? { ...merged, phase: 'stopped' } : merged;
}
