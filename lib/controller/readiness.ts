/** What a controller says when it is not at work: who is missing, and what went wrong. */
import { ApiError } from '../meta/api-error.ts';
import type { ControllerPhase, ControllerStatus } from './controller.ts';
import type { Source } from './sources.ts';

/** The status of one that was never started. */
export const IDLE: ControllerStatus = {
  phase: 'idle',
  synced: false,
  leading: false,
  waitingFor: [],
  ended: [],
};

/** The error of a wait that ran out of time. */
export function notReady(
  name: string,
  timeoutMs: number,
  state: {
    readonly phase: ControllerPhase;
    /** Sources whose caches are not whole. */
    readonly missing: readonly Source[];
    /** Of the election. */
    readonly lastError: ApiError | undefined;
  },
): ApiError {
  const { phase, missing, lastError } = state;
  const names = missing.map((source) => `${source.name} (${source.why()})`);
  const reasons: Partial<Record<ControllerPhase, string>> = {
    idle: 'it was not started',
    syncing: `waits for ${names.join(', ')}`,
    standby: lastError?.message ?? 'another one leads, or its elector was not started',
  };
  const message = `${name} was not at work within ${timeoutMs} ms: ${reasons[phase] ?? phase}`;
  const failed = missing.find(({ informer }) => informer?.status.error !== undefined);
  const cause = phase === 'standby' ? lastError : failed?.informer?.status.error;
  return ApiError.local('NotObserved', message, cause === undefined ? {} : { cause });
}
