/**
 * The `Lease` object by which processes agree who leads, in the form of the API. client-go:
 * tools/leaderelection/resourcelock/leaselock.go.
 */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { knownResource, type Resource } from '../meta/resource.ts';

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
  spec?: LeaseSpec | null;
}

/** How much longer than `retryPeriodMs` a candidate may wait. client-go: leaderelection.JitterFactor */
export const JITTER = 1.2;

/** A Lease counts seconds in 32 bits. */
export const LONGEST_LEASE_MS = 2_147_483_647_000;

export const LEASES: Resource<LeaseObject> = /* @__PURE__ */ knownResource<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

/** Formats a time as `metav1.MicroTime`. */
export function microTime(atMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: formats a time, reads no clock
  return new Date(atMs).toISOString().replace('Z', '000Z');
}

/**
 * The time of a renewal. Its microseconds count the renewals, because a server stores no write that changes nothing, and where the
 * clock stands still the candidates would see none.
 */
function renewalTime(atMs: number, before: string | undefined): string {
  const [, count = '999'] = /(\d{3})Z$/.exec(`${before}`) ?? [];
  const next = `${(Number(count) + 1) % 1000}`.padStart(3, '0');
  return microTime(atMs).replace('000Z', `${next}Z`);
}

/** A text that differs whenever the election record differs. */
export function recordText({ spec }: LeaseObject): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } =
    spec ?? {};
  return JSON.stringify([
    ...[holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions],
  ]);
}

/** How long a Lease lasts. One without a usable duration lasts `otherwiseMs`, so that it is not taken at once. */
export function durationOf(lease: LeaseObject, otherwiseMs: number): number {
  const { leaseDurationSeconds: seconds } = lease.spec ?? {};
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : otherwiseMs;
}

/** The Lease as its holder renews it, or as a new holder takes it. Labels and fields of other writers are kept. */
export function heldBy(
  lease: LeaseObject,
  identity: string,
  options: { readonly leaseDurationMs: number; readonly atMs: number },
): LeaseObject {
  const spec = lease.spec ?? {};
  const renewTime = renewalTime(options.atMs, spec.renewTime);
  const keeps = spec.holderIdentity === identity;
  const transitions = spec.leaseTransitions ?? 0;
  return {
    ...lease,
    spec: {
      ...spec,
      holderIdentity: identity,
      // Seconds, rounded up, because with a shorter duration another process could take the Lease too early.
      leaseDurationSeconds: Math.ceil(options.leaseDurationMs / 1000),
      acquireTime: keeps ? (spec.acquireTime ?? renewTime) : renewTime,
      renewTime,
      leaseTransitions: keeps ? transitions : transitions + 1,
    },
  };
}

/** The Lease as it is released: without a holder, and with a duration of a second for candidates that ignore the holder. */
export function released(lease: LeaseObject, atMs: number): LeaseObject {
  const now = microTime(atMs);
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    },
  };
}
