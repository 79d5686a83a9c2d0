/** Creates nodes. */
import type { Node } from 'rx-informer/resources';
import { shapeOf } from './manifests.ts';
import { timestamp } from './timestamp.ts';

/** The cores of a node that pods can request, in thousandths. */
export const NODE_MILLI_CPU = 15_800;
/** The memory of a node that pods can use, in MiB. */
export const NODE_MEMORY_MI = 62_250;

/** A node as the simulation keeps it beside the object of the server. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  /** The CPU that its pods request, in thousandths of a core. */
  requested: number;
  cordoned: boolean;
  /** Whether something beside its pods uses the rest of its memory. */
  isPressed?: true;
}

export function newNode({ name, uid, ip }: NodeState, zone: string, createdMs: number): Node {
  const cidr = `${ip.replace(/^10\.0\./, '10.')}/24`;
  const times = { created: timestamp(createdMs), now: timestamp(Date.now()) };
  return shapeOf('Node', {
    ...times,
    name,
    uid,
    ip,
    zone,
    cidr,
    cpu: `${NODE_MILLI_CPU}m`,
    memory: `${NODE_MEMORY_MI}Mi`,
  });
}
