/** What Pods and Nodes use, beside what they request and may use. */
import { parseQuantity, podRequests } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { bytesText, cpuText, plainBytesOf, plainCpuOf } from './amounts.ts';
import type { Column, Row } from './kind.ts';

export interface Used {
  /** The name, after the namespace and a slash for a Pod. */
  readonly key: string;
  readonly milliCpu: number;
  readonly bytes: number;
}

export const usageKey = ({ namespace, name }: Pick<Row, 'namespace' | 'name'>): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** The requests and the limits of a Pod, as fields of its row. Without a limit of each container the Pod has none, which is 0. */
export function boundsOf(pod: Pod): Readonly<Record<string, number>> {
  const { cpu, memory } = podRequests(pod);
  const containers = pod.spec?.containers ?? [];
  const limit = (resource: string) => {
    const limits = containers.map(({ resources }) =>
      parseQuantity(resources?.limits?.[resource] ?? 0),
    );
    const isLimited = limits.every(({ milli }) => milli > 0);
    return isLimited ? limits.reduce((sum, { milli }) => sum + milli, 0) : 0;
  };
  return {
    cpuAsked: cpu.milli,
    cpuMost: limit('cpu'),
    memoryAsked: memory.value,
    memoryMost: limit('memory') / 1000,
  };
}

interface Bounds {
  readonly asked: number;
  readonly most: number;
  readonly isOfNode?: boolean;
}

/** A bar of the limit, or of the request, beyond which a Pod may go: its bar never looks alarming. */
function shareOf(used: number, { asked, most }: Bounds): number {
  if (most > 0) return used / most;
  return asked > 0 ? Math.min(0.75, used / asked) : 0;
}

const bound = ({ asked, most }: Bounds) => most || asked;

/** In words: `0.12 CPU used, 0.2 CPU requested, no limit`. */
function wordsOf(used: number, bounds: Bounds, text: (amount: number) => string): string {
  const { asked, most, isOfNode } = bounds;
  if (isOfNode) return `${text(used)} used of ${text(most)}`;
  const requested = asked > 0 ? `${text(asked)} requested` : 'nothing requested';
  return `${text(used)} used, ${requested}, ${most > 0 ? `limit ${text(most)}` : 'no limit'}`;
}

/** The bounds of a row: those of a Pod, or what a Node has. */
function boundsIn(row: Row, resource: 'cpu' | 'memory'): Bounds {
  const has = Number(row[resource === 'cpu' ? 'cpuMilli' : 'memoryBytes'] ?? 0);
  if (has > 0) return { asked: 0, most: has, isOfNode: true };
  return { asked: Number(row[`${resource}Asked`] ?? 0), most: Number(row[`${resource}Most`] ?? 0) };
}

/** The usage of a row in words; `undefined` if nothing is known. */
export function usageWords(row: Row, used: Used | undefined): Readonly<Record<string, string>> {
  const { usedCpuTitle: CPU, usedMemoryTitle: Memory } = withUsage(row, used);
  return used === undefined ? {} : { CPU: String(CPU), Memory: String(Memory) };
}

export function withUsage(row: Row, used?: Used): Row {
  if (used === undefined) return row;
  const [cpu, memory] = [boundsIn(row, 'cpu'), boundsIn(row, 'memory')];
  const { milliCpu, bytes } = used;
  return {
    ...{ ...row, usedMilli: milliCpu, usedBytes: bytes },
    usedCpu: shareOf(milliCpu, cpu),
    usedCpuText: plainCpuOf(milliCpu, bound(cpu)),
    usedCpuTitle: wordsOf(milliCpu, cpu, cpuText),
    usedMemory: shareOf(bytes, memory),
    usedMemoryText: plainBytesOf(bytes, bound(memory)),
    usedMemoryTitle: wordsOf(bytes, memory, bytesText),
  };
}

const column = { type: 'share', largestFirst: true, isUsage: true } as const;

export const usageColumns: readonly Column[] = [
  { ...column, id: 'usedCpu', title: 'CPU', width: 128, by: 'usedMilli' },
  { ...column, id: 'usedMemory', title: 'Memory', width: 144, by: 'usedBytes' },
];
