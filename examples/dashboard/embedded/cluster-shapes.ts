/** Creates the objects around the pods: namespaces, nodes, services and config maps. */
import type { ConfigMap, Namespace, Node, Service } from 'rx-informer/resources';
import { shapeOf } from './manifests.ts';
import { timestamp } from './timestamp.ts';

/** The cores of a node that pods can request, in thousandths. */
export const NODE_MILLI_CPU = 15_800;

/** A node as the simulation keeps it beside the object of the server. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  /** The CPU that its pods request, in thousandths of a core. */
  requested: number;
  cordoned: boolean;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export function newNamespace(name: string, uid: string, createdMs: number): Namespace {
  return shapeOf('Namespace', { name, uid, created: timestamp(createdMs) });
}

export function newNode({ name, uid, ip }: NodeState, zone: string, createdMs: number): Node {
  const cidr = `${ip.replace(/^10\.0\./, '10.')}/24`;
  const times = { created: timestamp(createdMs), now: timestamp(Date.now()) };
  return shapeOf('Node', { ...times, name, uid, ip, zone, cidr, cpu: `${NODE_MILLI_CPU}m` });
}

export function newService(named: Named, uid: string, createdMs: number): Service {
  const byte = (at: number) => Number.parseInt(uid.slice(at, at + 2), 16);
  const ip = `10.96.${byte(0)}.${byte(2)}`;
  return shapeOf('Service', { ...named, uid, ip, created: timestamp(createdMs) });
}

/** The settings of an application. */
export function newConfigMap(named: Named, uid: string, createdMs: number): ConfigMap {
  return shapeOf('ConfigMap', { ...named, uid, created: timestamp(createdMs) });
}
