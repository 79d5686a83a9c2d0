/**
 * The `Lease` on which processes agree who leads, as it stands on the wire. client-go:
 * tools/leaderelection/resourcelock/leaselock.go.
 */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { knownResource, type Resource } from '../../meta/resource.ts';

/** `spec` of a Lease. Times are RFC 3339 with microseconds. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** A `coordination.k8s.io/v1` Lease. */
export interface LeaseObject extends KubernetesObject {
  spec?: LeaseSpec;
}

/** How much longer than `retryPeriodMs` a candidate may wait. client-go: leaderelection.JitterFactor */
export const JITTER = 1.2;

export const LEASES: Resource<LeaseObject> = /* @__PURE__ */ knownResource<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

/** A moment of the clock as `metav1.MicroTime` is written. */
export function microTime(atMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: formats a time, reads no clock
  return new Date(atMs).toISOString().replace('Z', '000Z');
}

/** What tells one state of the record from another: who, until when, and which round. */
export function recordText({ spec = {} }: LeaseObject): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  return JSON.stringify([
    ...[holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions],
  ]);
}

/** The Lease as its holder renews it, or as a new holder takes it. Labels and fields of others stay. */
export function heldBy(
  lease: LeaseObject,
  identity: string,
  options: { readonly leaseDurationMs: number; readonly atMs: number },
): LeaseObject {
  const { spec = {} } = lease;
  const renewTime = microTime(options.atMs);
  const keeps = spec.holderIdentity === identity;
  const transitions = spec.leaseTransitions ?? 0;
  return {
    ...lease,
    spec: {
      ...spec,
      holderIdentity: identity,
      // Whole seconds, rounded up: a shorter time than the holder's own would let another in too early.
      leaseDurationSeconds: Math.ceil(options.leaseDurationMs / 1000),
      acquireTime: keeps ? (spec.acquireTime ?? renewTime) : renewTime,
      renewTime,
      leaseTransitions: keeps ? transitions : transitions + 1,
    },
  };
}

/** The Lease as it is given up: nobody's, and free after a second for those who do not look at the holder. */
export function released(lease: LeaseObject, atMs: number): LeaseObject {
  const now = microTime(atMs);
  const { spec = {} } = lease;
  return {
    ...lease,
    spec: {
      ...spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    },
  };
}
