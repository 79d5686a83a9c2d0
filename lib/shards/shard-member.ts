/**
 * The types of a member of a ring: one of several processes that divide objects between them by the hash of a UID or of a namespace. The ring and
 * a Lease of each member are on the server; no clocks are compared.
 */
import type { Observable, Subscription } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Metered } from '../meta/metrics.ts';
import type { ShardRange } from '../meta/shard-ranges/ranges.ts';
import type { ShardBy } from '../meta/shard-ranges/shard-filter.ts';
import type { Timing } from '../rx/timing.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { KubeClient } from '../transport/kube-client.ts';

/** Options of {@link createShardMember}. */
export interface ShardOptions extends Timing {
  readonly client: Pick<KubeClient, 'request'>;
  /** The namespace of the Leases. */
  readonly namespace: string;
  /** The name of the ring, shared by all replicas. The Lease of a member has the name `<name>.<id>`. */
  readonly name: string;
  /**
   * What is hashed. `uid` spreads objects evenly, also those without a namespace. `namespace` keeps all objects of a namespace
   * together, such as owners and the objects that they own, and puts all objects without a namespace into one shard.
   * @defaultValue 'uid'
   */
  readonly by?: ShardBy | undefined;
  /**
   * The name of this process, unique among the members: the name of the pod. A process that joins again under this name gets the
   * slots that it had. @defaultValue a random name
   */
  readonly identity?: string | undefined;
  /** How long the others wait after the last renewal that they saw before they take the slots, in milliseconds. @defaultValue 15000 */
  readonly leaseDurationMs?: number | undefined;
  /** How long slots are owned after the last successful renewal was sent, in milliseconds. @defaultValue two thirds of the lease */
  readonly renewDeadlineMs?: number | undefined;
  /** The time between renewals, in milliseconds. @defaultValue a fifteenth of the lease */
  readonly retryPeriodMs?: number | undefined;
  /**
   * How long running work may delay the release of its slot, in milliseconds. Then its signals are aborted and its writes are
   * refused. @defaultValue 30000
   */
  readonly drainMs?: number | undefined;
  /** Called with the error of each failed request. Failed requests are retried. */
  readonly onError?: ((error: ApiError) => void) | undefined;
  /** Observes the slots of this process, under the name of the ring: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
}

/**
 * `idle`: never started. `joining`: owns nothing yet, or its last membership is over. `member`: takes part in the ring.
 * `leaving`: releases its slots. `stopped`: has left.
 */
export type ShardPhase = 'idle' | 'joining' | 'member' | 'leaving' | 'stopped';

/** The status of a member. Emitted on transitions only. */
export interface ShardStatus {
  readonly phase: ShardPhase;
  /** The id of this membership: the identity with a random suffix. */
  readonly id: string;
  /** The slots that this member owns, without those that it is releasing. */
  readonly owned: readonly number[];
  /** The slots whose running work is ending, so that another member may own them. */
  readonly releasing: readonly number[];
  /** The slots on which no member may begin work, as far as this member knows: they are being released, or the ring is new. */
  readonly vacant: readonly number[];
  /** The ids of all members that share the slots, as far as this member knows. */
  readonly members: readonly string[];
  /** The number of changes of the ring. */
  readonly epoch: number;
  /** The state in words: `owns 17 of 64 slots, releases 2; 4 members`. */
  readonly text: string;
}

/** The objects of a controller, as an informer has them. */
export interface ShardedObjects {
  readonly changes$: Observable<ChangeSet<KubernetesObject>>;
  readonly indexer: { getByKey(key: string): KubernetesObject | undefined };
  /** Returns the part of a key that stands before `namespace/name`. @defaultValue '' */
  prefixOf?(key: string): string;
}

/** One reconcile. */
export interface ShardedRun {
  readonly key: string;
  readonly controller: AbortController;
}

/** The shards of one controller: which keys it may work on. A controller calls these methods. */
export interface KeyShards {
  /** As {@link ShardMember.joined$}. */
  readonly leading$: Observable<boolean>;
  /** Whether the membership lasts. Also compares the time, as {@link ShardMember.owns}. */
  readonly isLeading: boolean;
  readonly lastError: ApiError | undefined;
  /** How many known keys are in {@link ShardStatus.vacant} slots. */
  readonly waiting: number;
  /** The text of the status, now and at each change. */
  readonly text: string;
  readonly text$: Observable<string>;
  start(): void;
  stop(): Promise<void>;
  /** Follows the objects during a term, and calls `wake` with each key of a slot that is gained. */
  follow(wake: (key: string) => void): Subscription;
  /** Whether a key may be queued and its reconcile begin. */
  admits(key: string): boolean;
  /** Begins a reconcile. Its signal aborts when its slot is lost. */
  begin(run: ShardedRun): void;
  /** A reconcile has ended. `isDone`: its key needs no further one. */
  end(run: ShardedRun, isDone: boolean): void;
}

/** One of the processes that divide objects between them. */
export interface ShardMember {
  readonly by: ShardBy;
  readonly identity: string;
  /**
   * Emits the slots on which new work may begin, synchronously and at each change. Empty while this member is not in the ring. Never
   * completes, because a member may be started again.
   */
  readonly slots$: Observable<ReadonlySet<number>>;
  /**
   * Emits the ranges of hashes of all owned slots, also of those that are being released, because running work reads their objects.
   * So a member is the option `shards` of `createShardedInformer`. Never completes, because a member may be started again.
   */
  readonly ranges$: Observable<readonly ShardRange[]>;
  /** Emits whether this member takes part in the ring: false again when its membership is over. Completes on `stop()`. */
  readonly joined$: Observable<boolean>;
  /** Emits the status synchronously, then each transition. Completes on `stop()`. */
  readonly status$: Observable<ShardStatus>;
  readonly status: ShardStatus;
  /** The last failure, until a request succeeds. */
  readonly lastError: ApiError | undefined;
  /**
   * Whether this member owns the slot of an object now. Also compares the time, because the process may have been stopped since the
   * last renewal. Slots that are being released are owned until their work has ended.
   */
  owns(object: KubernetesObject): boolean;
  /** As {@link ShardMember.owns}, for a slot, 0 to 63. */
  ownsSlot(slot: number): boolean;
  /** Whether new work may begin on a slot: it is owned and not being released. */
  admitsSlot(slot: number): boolean;
  /**
   * Registers work that must end before a slot is released. `end` is called with the slot, and returns a promise that resolves when
   * no work on it runs. After `drainMs` it is no longer waited for. If a membership is over without a release, it is called with every
   * slot, and this member joins again when no work runs. Returns a function that removes it.
   */
  onRelease(end: (slot: number) => Promise<unknown>): () => void;
  /** Divides the keys of one controller. `createController` calls it with its name and its informer. */
  divide(name: string, objects: ShardedObjects): KeyShards;
  /** Joins the ring for as long as the returned function is not called. The last release leaves the ring, unless `start` was called. */
  hold(): () => Promise<void>;
  /** Joins the ring. Has no effect if it has joined; during a stop it joins when that stop is done. */
  start(): void;
  /** Releases all slots, leaves the ring and resolves. Never rejects. */
  stop(): Promise<void>;
}
