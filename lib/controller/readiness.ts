/** The error of a controller that did not become ready: which sources are missing, and why. */
import { ApiError } from '../meta/api-error.ts';
import type { ControllerPhase, ControllerStatus } from './controller.ts';
import type { Source } from './sources.ts';

/** The status of a controller that was never started. */
export const IDLE: ControllerStatus = {
  phase: 'idle',
  synced: false,
  leading: false,
  waitingFor: [],
  ended: [],
};

/** The error of `whenReady` when its timeout has passed. */
export function notReady(
  name: string,
  timeoutMs: number,
  state: {
    readonly phase: ControllerPhase;
    /** The sources whose caches are not complete. */
    readonly missing: readonly Source[];
    /** The last error of the election or of the ring. */
    readonly lastError: ApiError | undefined;
    /** Which slots are owned, in words. */
    readonly shards: string | undefined;
  },
): ApiError {
  const { phase, missing, lastError, shards } = state;
  const names = missing.map((source) => `${source.name} (${source.why()})`);
  const reasons: Partial<Record<ControllerPhase, string>> = {
    idle: 'it was not started',
    syncing: `waiting for ${names.join(', ')}`,
    standby:
      lastError?.message ?? shards ?? 'another candidate leads, or the elector was not started',
  };
  const message = `${name} was not ready within ${timeoutMs} ms: ${reasons[phase] ?? phase}`;
  const failed = missing.find(({ informer }) => informer?.status.error !== undefined);
  const cause = phase === 'standby' ? lastError : failed?.informer?.status.error;
  return ApiError.local('NotObserved', message, { cause });
}
