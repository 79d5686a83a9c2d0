/**
 * The cells of a pod in a table: the number of ready containers, its status in a word, and its restarts. An init
 * container that always restarts is a native sidecar and counts as a container.
 * kubectl: pkg/printers/internalversion/printers.go, printPod.
 */
import { type Fields, isFields } from '../../meta/json-fields.ts';

/** The cells that are computed from the containers. */
export interface PodCells {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const itemsOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? (value as unknown[]).map(fieldsOf) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => Number(value ?? 0);

function endOf({ reason, signal, exitCode }: Fields): string {
  return textOf(reason) || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

interface Summary {
  readonly text: string | undefined;
  readonly ready: number;
  readonly restarts: number;
}

/** The state of the init containers, up to the first one that has neither completed nor, as a sidecar, started. */
function initialization(
  statuses: readonly Fields[],
  specs: readonly Fields[],
  sidecars: ReadonlySet<unknown>,
): Summary & { readonly sidecarRestarts: number } {
  let ready = 0;
  let restarts = 0;
  let sidecarRestarts = 0;
  for (const [index, status] of statuses.entries()) {
    const { terminated, waiting } = fieldsOf(status['state']);
    const isSidecar = sidecars.has(status['name']);
    restarts += count(status['restartCount']);
    if (isSidecar) sidecarRestarts += count(status['restartCount']);
    if (isFields(terminated) && count(terminated['exitCode']) === 0) continue;
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) ready++;
      continue;
    }
    const reason = textOf(fieldsOf(waiting)['reason']);
    const waits = reason !== '' && reason !== 'PodInitializing';
    const otherwise = waits ? reason : `${index}/${specs.length}`;
    const text = isFields(terminated) ? endOf(terminated) : otherwise;
    return { text: `Init:${text}`, ready, restarts, sidecarRestarts };
  }
  return { text: undefined, ready, restarts, sidecarRestarts };
}

/** The state of the containers. The first container with a reason determines the text, so the loop runs backwards. */
function running(statuses: readonly Fields[], before: string, isReady: boolean): Summary {
  let text = before;
  let failed: string | undefined;
  let ready = 0;
  let restarts = 0;
  for (const status of statuses.toReversed()) {
    const { waiting, terminated, running: isUp } = fieldsOf(status['state']);
    restarts += count(status['restartCount']);
    const reason = textOf(fieldsOf(waiting)['reason']);
    if (reason !== '') text = reason;
    else if (isFields(terminated)) {
      text = endOf(terminated);
      if (count(terminated['exitCode']) !== 0) failed = text;
    } else if (status['ready'] === true && isUp !== undefined) ready++;
  }
  if (text !== 'Completed') return { text, ready, restarts };
  if (ready > 0 && isReady) text = 'Running';
  else if (failed !== undefined) text = failed;
  else if (ready > 0) text = 'NotReady';
  return { text, ready, restarts };
}

/** Returns the cells of a pod. */
export function podCells(object: object): PodCells {
  const { metadata, spec: specOf, status: statusOf } = object as Fields;
  const spec = fieldsOf(specOf);
  const status = fieldsOf(statusOf);
  const phase = textOf(status['phase']);
  const conditions = itemsOf(status['conditions']);
  const has = (name: string) =>
    conditions.some((each) => each['type'] === name && each['status'] === 'True');
  const gated = conditions.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  const inits = itemsOf(spec['initContainers']);
  const sidecars = inits.filter((each) => each['restartPolicy'] === 'Always');
  const names = new Set(sidecars.map(({ name }) => name));
  const init = initialization(itemsOf(status['initContainerStatuses']), inits, names);
  let text = init.text ?? (gated ? 'SchedulingGated' : textOf(status['reason']) || phase);
  let { ready, restarts } = init;
  if (init.text === undefined || has('Initialized')) {
    const now = running(itemsOf(status['containerStatuses']), text, has('Ready'));
    text = now.text ?? text;
    ready += now.ready;
    restarts = init.sidecarRestarts + now.restarts;
  }
  if (fieldsOf(metadata)['deletionTimestamp'] !== undefined) {
    if (status['reason'] === 'NodeLost') text = 'Unknown';
    else if (phase !== 'Failed' && phase !== 'Succeeded') text = 'Terminating';
  }
  const all = itemsOf(spec['containers']).length + sidecars.length;
  return { ready: `${ready}/${all}`, status: text, restarts: String(restarts) };
}
