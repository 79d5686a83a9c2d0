/** What the pods and nodes of the embedded cluster use, as a metrics server says it. It is made up when somebody asks. */
import type { Pod } from 'rx-informer/resources';
import { NODE_MEMORY_MI, type NodeState } from './cluster-shapes.ts';
import { timestamp } from './timestamp.ts';

const PATH =
  /^\/apis\/metrics\.k8s\.io\/v1beta1\/(?:(?<nodes>nodes)|(?:namespaces\/(?<namespace>[^/]+)\/)?pods)$/;
/** How long a value lasts, and how often the next pods get another one, so that few change at once. */
const LASTS_MS = 600_000;
const STEPS = 20;
/** The free memory of a node under memory pressure, in MiB. */
const FREE_MI = 71;

/** A number from 0 to 1 that belongs to a text and a time. */
function fraction(text: string, nowMs = 0): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  const own = (hash >>> 8) / 2 ** 24;
  if (nowMs === 0) return own;
  const period = Math.floor(nowMs / LASTS_MS + Math.floor(own * STEPS) / STEPS);
  return fraction(`${text} ${period}`);
}

interface Usage {
  readonly milliCpu: number;
  readonly memoryMi: number;
}

const quantities = ({ milliCpu, memoryMi }: Usage) => ({
  cpu: `${Math.round(milliCpu)}m`,
  memory: `${Math.round(memoryMi)}Mi`,
});

/** A part of what a container requests. Memory grows slowly, and some containers are near their limits. */
function usageOf(uid: string, request: { cpu?: string; memory?: string }, nowMs: number): Usage {
  const milli = Number.parseInt(request.cpu ?? '100', 10);
  const memory = Number.parseInt(request.memory ?? '128', 10);
  return {
    milliCpu: milli * (0.05 + 0.8 * fraction(uid, nowMs) ** 2),
    memoryMi: memory * (0.3 + 1.6 * fraction(`${uid} memory`) ** 3),
  };
}

/** Answers a request to `metrics.k8s.io`; `undefined` for other paths. */
export function metricsFor(
  path: string,
  pods: readonly Pod[],
  nodes: readonly NodeState[],
): object | undefined {
  const groups = PATH.exec(path)?.groups;
  if (groups === undefined) return undefined;
  const nowMs = Date.now();
  const times = { timestamp: timestamp(nowMs), window: '15s' };
  const isRunning = ({ status }: Pod) => status?.phase === 'Running';
  const running = pods.filter(isRunning).map(({ metadata = {}, spec }) => {
    const { name, namespace, uid = '' } = metadata;
    const containers = (spec?.containers ?? []).map((each) => {
      const usage = usageOf(uid + each.name, each.resources?.requests ?? {}, nowMs);
      return { name: each.name, usage };
    });
    return { name, namespace, node: spec?.nodeName, containers };
  });
  if (groups['nodes'] === undefined) {
    const shown = running.filter(
      (each) => (groups['namespace'] ?? each.namespace) === each.namespace,
    );
    const items = shown.map(({ name, namespace, containers }) => ({
      metadata: { name, namespace },
      ...times,
      containers: containers.map((each) => ({ name: each.name, usage: quantities(each.usage) })),
    }));
    return { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetricsList', metadata: {}, items };
  }
  const totals = new Map(nodes.map(({ name }) => [name, { milliCpu: 240, memoryMi: 900 }]));
  for (const { node = '', containers } of running) {
    const total = totals.get(node);
    if (total === undefined) continue;
    for (const { usage } of containers) {
      total.milliCpu += usage.milliCpu;
      total.memoryMi += usage.memoryMi;
    }
  }
  // The kubelet evicts when less than 100 MiB are free.
  for (const { name, isPressed } of nodes) {
    const total = totals.get(name);
    if (isPressed && total) total.memoryMi = Math.max(total.memoryMi, NODE_MEMORY_MI - FREE_MI);
  }
  const items = [...totals].map(([name, usage]) => ({
    metadata: { name },
    ...times,
    usage: quantities(usage),
  }));
  return { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'NodeMetricsList', metadata: {}, items };
}
