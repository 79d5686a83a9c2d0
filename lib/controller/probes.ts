/** `readiness` and `liveness`: what a program answers to the probes of Kubernetes. Both read the present status and wait for nothing. */
import type { InformerStatus } from '../informer/status/status.ts';
import { shownError } from '../meta/shown-text.ts';
import type { ControllerStatus } from './controller.ts';

/**
 * What is probed: a controller, an informer, or a function that returns why not, and nothing while all is well. A function that
 * throws is a reason, too.
 */
export type Probed =
  | { readonly name: string; readonly status: ControllerStatus }
  | { readonly name: string; readonly status: Pick<InformerStatus, 'phase' | 'synced' | 'blocked'> }
  // biome-ignore lint/suspicious/noConfusingVoidType: a function may return nothing at all
  | (() => string | undefined | void);

/** The answer to a probe. */
export interface ProbeResult {
  readonly ok: boolean;
  /** The status code of the response. */
  readonly status: 200 | 503;
  /** The body of the response: `ok` or `not ok`, then a line for each controller and informer, with the reason. */
  readonly body: string;
}

/** Whether all is well, in words. */
type Verdict = readonly [ok: boolean, why: string];

const SHOWN_KEYS = 3;

/** The work of a lost term or of an earlier run, which must end before the process can work. */
function blocking({ unfinished }: ControllerStatus): string {
  const keys = unfinished.slice(0, SHOWN_KEYS).join(', ');
  return `a reconcile of an earlier term has not ended: ${keys}${unfinished.length > SHOWN_KEYS ? ', …' : ''}`;
}

function controllerIsReady(status: ControllerStatus): Verdict {
  const { phase, waitingFor, unfinished } = status;
  if (unfinished.length > 0) return [false, blocking(status)];
  if (phase === 'syncing') return [false, `waits for the first list of ${waitingFor.join(', ')}`];
  return [phase === 'standby' || phase === 'running', phase];
}

function controllerLives(status: ControllerStatus): Verdict {
  const { phase, ended, unfinished } = status;
  if (ended.length > 0) return [false, `has lost a source: ${ended.join(', ')}`];
  return unfinished.length > 0 ? [false, blocking(status)] : [true, phase];
}

function informerIsReady({
  phase,
  synced,
  blocked,
}: Pick<InformerStatus, 'phase' | 'synced' | 'blocked'>): Verdict {
  if (phase === 'idle' || phase === 'stopped') return [false, phase];
  if (synced) return [true, phase];
  return [false, `has no complete list yet: ${blocked ?? phase}`];
}

/** The line of one part. */
function lineOf(
  part: Probed,
  controller: (status: ControllerStatus) => Verdict,
  informer: typeof informerIsReady,
): Verdict {
  if (typeof part === 'function') {
    try {
      const reason = part();
      return [reason === undefined, reason ?? ''];
    } catch (error) {
      return [false, `a check of the program failed: ${shownError(error)}`];
    }
  }
  const { name, status } = part;
  const [ok, why] = 'unfinished' in status ? controller(status) : informer(status);
  return [ok, `${name}: ${why}`];
}

function answer(verdicts: readonly Verdict[]): ProbeResult {
  const ok = verdicts.every(([isWell]) => isWell);
  const lines = verdicts.map(([isWell, why]) => (isWell ? why : `not ok: ${why}`));
  const body = [ok ? 'ok' : 'not ok', ...lines.filter((line) => line !== '')].join('\n');
  return { ok, status: ok ? 200 : 503, body: `${body}\n` };
}

/**
 * The answer to a readiness probe: whether the caches are complete. A controller that waits for the lead is ready, because otherwise a
 * rollout would not end. After the first sync a process stays ready while the API server is away; metrics and alerts tell of that.
 * Not ready are what was not started, is not synced, or stops, and a controller whose reconciles of an earlier term still run.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createClient, createController, createListWatch, createSharedInformer, liveness, readiness } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * const informer = createSharedInformer(createListWatch(client, pods), { name: 'pods' });
 * const controller = createController({ name: 'webs', for: informer, reconcile: () => undefined });
 * createServer(({ url }, response) => {
 *   const { status, body } = url === '/livez' ? liveness(controller) : readiness(controller, informer);
 *   response.writeHead(status).end(body);
 * });
 * readiness(controller, informer).body; // => 'not ok\nnot ok: webs: idle\nnot ok: pods: idle\n'
 * ```
 */
export function readiness(...parts: readonly Probed[]): ProbeResult {
  return answer(parts.map((part) => lineOf(part, controllerIsReady, informerIsReady)));
}

/**
 * The answer to a liveness probe: false only for what a restart heals. A controller is not alive if one of its sources has ended while
 * it runs, or if a reconcile of an earlier term still runs, because that keeps the process out of the election. Let the probe fail
 * several times before it restarts the process, because such a reconcile mostly ends by itself. An informer is always alive: whether
 * the API server answers is no reason to restart.
 */
export function liveness(...parts: readonly Probed[]): ProbeResult {
  return answer(parts.map((part) => lineOf(part, controllerLives, ({ phase }) => [true, phase])));
}
