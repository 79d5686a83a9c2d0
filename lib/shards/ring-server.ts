/** The requests of one membership: its own Lease, the list of all Leases of the ring, and the ring, which is a Lease, too. */
import type { SchedulerLike } from 'rxjs';
import { limitedCall } from '../election/lease-lock.ts';
import { LEASES, type LeaseObject, microTime } from '../election/lease-record.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesList } from '../meta/kubernetes-object.ts';
import { resourcePath } from '../meta/resource.ts';
import type { ShardBy } from '../meta/shard-ranges/shard-filter.ts';
import type { KubeRequest } from '../transport/call.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { RingEffect, RingInput, RingPeriods, SeenLease, SeenRing } from './ring-member.ts';
import { NEW_RING, namedIn, parseRing, type RingRecord, ringText } from './ring-record.ts';

/** The label of all Leases of a ring, with the ring's name. */
export const RING_LABEL = 'rx-informer/ring';
/** The annotation with the ring's record. */
export const RING_ANNOTATION = 'rx-informer/ring';
/** The annotation of the ring and of each member's Lease that says what is hashed. */
const BY = 'rx-informer/shards-by';
/** Counts the renewals, because a server does not store a renewal that changes nothing, as after the clock was set back. */
const RENEWALS = 'rx-informer/renewals';

/** The effects that are requests and have answers. */
type RingRequest = Extract<RingEffect, { type: 'renew' | 'list' | 'write' }>;

/** The input for a request whose answer did not arrive. */
export function unanswered({ type }: RingRequest): RingInput {
  if (type === 'renew') return { type: 'renewed', ok: false };
  return { type: type === 'list' ? 'listed' : 'wrote' };
}

/** Where a ring is, and how long its requests may take. */
export interface RingPlace {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  readonly name: string;
  /** What is hashed: the same for all members. */
  readonly by: ShardBy;
  readonly periods: RingPeriods;
  readonly scheduler: SchedulerLike;
}

/** Another text whenever the Lease was written or created again. */
function writingOf({ metadata }: LeaseObject): string {
  return `${metadata?.uid}/${metadata?.resourceVersion}`;
}

function isRefused(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof ApiError && codes.includes(error.code);
}

/** The requests of the member `id`. Each rejects with an `ApiError`. */
export class RingServer {
  readonly #place: RingPlace;
  readonly #id: string;
  readonly #signal: AbortSignal;
  /** This member's Lease, as last written or read. */
  #own: LeaseObject | undefined;
  /** The ring, as last read or written: fields and labels of other writers are kept. */
  #ring: LeaseObject | undefined;
  #renewals = 0;

  constructor(place: RingPlace, id: string, signal: AbortSignal) {
    this.#place = place;
    this.#id = id;
    this.#signal = signal;
  }

  get #leaseName(): string {
    return `${this.#place.name}.${this.#id}`;
  }

  async #call<R>(
    method: string,
    name: string | undefined,
    rest: Pick<KubeRequest, 'body' | 'query'> = {},
  ): Promise<R> {
    const { client, namespace, periods, scheduler } = this.#place;
    const path = resourcePath(LEASES, name === undefined ? { namespace } : { namespace, name });
    const limits = { limitMs: periods.renewDeadlineMs / 2, scheduler, signal: this.#signal };
    return await limitedCall<R>(client, { method, path, ...rest }, limits);
  }

  /** Sends a request. */
  async answer(request: RingRequest): Promise<RingInput> {
    if (request.type === 'renew') {
      await this.renew();
      return { type: 'renewed', ok: true };
    }
    if (request.type === 'list') return { type: 'listed', found: await this.list() };
    const ring = await this.write(request.record, request.over);
    return ring === 'conflict' ? { type: 'wrote', conflict: true } : { type: 'wrote', ring };
  }

  /** Renews this member's Lease, and creates it if it does not exist. */
  async renew(): Promise<void> {
    try {
      this.#own = await this.#sendRenewal();
    } catch (error) {
      // The response to an earlier renewal was lost, or the Lease was changed or deleted.
      if (!isRefused(error, 404, 409)) throw error;
      this.#own = await this.#read(this.#leaseName);
      this.#own = await this.#sendRenewal();
    }
  }

  async #sendRenewal(): Promise<LeaseObject> {
    const { namespace, name, by, periods, scheduler } = this.#place;
    const { apiVersion, kind } = LEASES;
    const { metadata } = this.#own ?? {};
    this.#renewals++;
    const body: LeaseObject = {
      ...{ apiVersion, kind },
      metadata: {
        ...(metadata ?? { namespace, name: this.#leaseName }),
        labels: { ...metadata?.labels, [RING_LABEL]: name },
        annotations: { ...metadata?.annotations, [RENEWALS]: String(this.#renewals), [BY]: by },
      },
      spec: {
        holderIdentity: this.#id,
        leaseDurationSeconds: Math.ceil(periods.leaseDurationMs / 1000),
        renewTime: microTime(scheduler.now()),
      },
    };
    if (metadata === undefined) return await this.#call('POST', undefined, { body });
    return await this.#call('PUT', this.#leaseName, { body });
  }

  async #read(name: string): Promise<LeaseObject | undefined> {
    try {
      return await this.#call<LeaseObject>('GET', name);
    } catch (error) {
      if (isRefused(error, 404)) return undefined;
      throw error;
    }
  }

  /** Lists the ring and all Leases of its members. The list is consistent, because it names no version. */
  async list(): Promise<{ ring: SeenRing | undefined; leases: readonly SeenLease[] }> {
    const { name } = this.#place;
    const query = { labelSelector: `${RING_LABEL}=${name}` };
    const { items } = await this.#call<KubernetesList<LeaseObject>>('GET', undefined, { query });
    const leases: SeenLease[] = [];
    this.#ring = undefined;
    for (const lease of items) {
      const own = lease.metadata?.name ?? '';
      if (own === name) this.#ring = lease;
      // Whoever hashes something else takes no part in this ring.
      if (!own.startsWith(`${name}.`) || this.#byOf(lease) !== this.#place.by) continue;
      const durationMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
      leases.push({ id: own.slice(name.length + 1), version: writingOf(lease), durationMs });
    }
    if (this.#ring === undefined) return { ring: undefined, leases };
    const ring = this.#seen(this.#ring);
    this.#checkBy(this.#ring, ring.record);
    return { ring, leases };
  }

  /** Leases of earlier versions do not say it. */
  #byOf({ metadata }: LeaseObject): string {
    return metadata?.annotations?.[BY] ?? this.#place.by;
  }

  /** Throws if the members of the ring hash something else, because an object would have two owners or none. An empty ring is taken over. */
  #checkBy(ring: LeaseObject, record: RingRecord): void {
    const { namespace, name, by } = this.#place;
    const others = this.#byOf(ring);
    if (others === by || namedIn(record).size === 0) return;
    const message = `the ring ${namespace}/${name} divides by '${others}', and this member by '${by}': give all replicas the same, or the ring another name; if no member of it runs any more, delete the Lease ${namespace}/${name}`;
    throw ApiError.local('Unexpected', message);
  }

  #seen(ring: LeaseObject): SeenRing {
    this.#ring = ring;
    const { uid = '', resourceVersion = '', annotations } = ring.metadata ?? {};
    // A record that cannot be read ends all memberships, as a new ring does, and is then replaced.
    const record = parseRing(annotations?.[RING_ANNOTATION] ?? '') ?? NEW_RING;
    return { uid, version: resourceVersion, record };
  }

  /** Replaces the ring if it is unchanged, or creates it. Resolves with `conflict` if the server refused that. */
  async write(record: RingRecord, over: SeenRing | undefined): Promise<SeenRing | 'conflict'> {
    const { namespace, name, by } = this.#place;
    const { apiVersion, kind } = LEASES;
    const before = over === undefined ? undefined : this.#ring;
    const metadata = before?.metadata ?? { namespace, name };
    const body: LeaseObject = {
      ...{ apiVersion, kind, spec: {} },
      ...before,
      metadata: {
        ...metadata,
        // With the UID, a PUT does not create a ring that was deleted in the meantime.
        ...(over === undefined ? {} : { uid: over.uid, resourceVersion: over.version }),
        labels: { ...metadata.labels, [RING_LABEL]: name },
        annotations: { ...metadata.annotations, [RING_ANNOTATION]: ringText(record), [BY]: by },
      },
    };
    const isNew = over === undefined;
    try {
      const written = await this.#call<LeaseObject>(
        isNew ? 'POST' : 'PUT',
        isNew ? undefined : name,
        { body },
      );
      return this.#seen(written);
    } catch (error) {
      if (!isRefused(error, 404, 409)) throw error;
      if (isNew) await this.#checkName();
      return 'conflict';
    }
  }

  /** Throws if the name of the ring is taken, for example by a leader election, because lists would never show that Lease. */
  async #checkName(): Promise<void> {
    const { namespace, name } = this.#place;
    const found = await this.#read(name);
    if (found === undefined || found.metadata?.labels?.[RING_LABEL] === name) return;
    const message = `the Lease ${namespace}/${name} exists and is no ring, because it has no label ${RING_LABEL}=${name}: give the ring another name, or delete the Lease`;
    throw ApiError.local('Unexpected', message);
  }

  /** Deletes the Lease of a member that is gone, unless it was renewed after all. */
  async forget(id: string, version: string): Promise<void> {
    const [uid, resourceVersion] = version.split('/');
    const body = { preconditions: { uid, resourceVersion } };
    await this.#call('DELETE', `${this.#place.name}.${id}`, { body });
  }

  /** Deletes this member's own Lease. */
  async end(): Promise<void> {
    if (this.#own === undefined) return;
    await this.#call('DELETE', this.#leaseName).catch((error: unknown) => {
      if (!isRefused(error, 404)) throw error;
    });
  }
}
