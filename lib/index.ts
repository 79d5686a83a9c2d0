/**
 * rx-informer: a live, indexed, always-correct local copy of Kubernetes resources, as RxJS Observables. The exports
 * are grouped by folder, in alphabetical order.
 */

// audit: compares the store with the server
export type { AuditStatus } from './audit/status.ts';
export type { CallOptions, WriteOptions } from './client/call-options.ts';
// client: calls of resources
export {
  createResourceClient,
  type ResourceClientOptions,
} from './client/create-resource-client.ts';
export {
  createDiscovery,
  type DiscoveredResource,
  type Discovery,
  type ServedApi,
} from './client/discovery.ts';
export {
  createDynamicClient,
  type DynamicClient,
  type DynamicClientOptions,
  type DynamicObject,
} from './client/dynamic-client.ts';
export { type Draft, type EditOptions, editPatch } from './client/edit.ts';
export { type JsonDifferenceOptions, jsonDifference } from './client/json-difference.ts';
export type { ObjectTarget } from './client/object-target.ts';
export {
  type DeepPartial,
  type JsonPatchOperation,
  jsonPointer,
  type Patch,
  type StrategicPatch,
} from './client/patch.ts';
export type {
  Applied,
  ApplyOptions,
  ClientOf,
  DeleteCollectionOptions,
  DeleteOptions,
  EvictOptions,
  GetOptions,
  ListCallOptions,
  PodClient,
  PodLogOptions,
  ResourceClient,
  Scale,
  SelectionOptions,
  WatchCallOptions,
} from './client/resource-client.ts';
export {
  createRestMapper,
  type KindName,
  type PluralName,
  type RestMapper,
  type RestMapperOptions,
} from './client/rest-mapper.ts';
export { type RetryOnConflictOptions, retryOnConflict } from './client/retry-on-conflict.ts';
// controller: reconciles objects when they change
export {
  type AccessCall,
  type AccessedCalls,
  type AccessedResource,
  type AccessRole,
  type AccessRoleRule,
  type DeclaredAccess,
  rolesFor,
} from './controller/access.ts';
export { and, not, or, type Test } from './controller/combine.ts';
export type {
  Controller,
  ControllerErrorContext,
  ControllerOptions,
  ControllerOutcome,
  ControllerPhase,
  ControllerStatus,
  ReconcileObject,
  ReconcileRequest,
  StopOptions,
} from './controller/controller.ts';
export { createController } from './controller/create-controller.ts';
export {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
} from './controller/events/event-recorder.ts';
export type { RecordedEvent } from './controller/events/event-series.ts';
export {
  addFinalizer,
  type FinalizerHandlers,
  finalizer,
  removeFinalizer,
} from './controller/finalizer.ts';
export {
  controllerOf,
  isControlledBy,
  type OwnerReferenceOptions,
  ownerReferenceOf,
  setControllerReference,
} from './controller/owner-references.ts';
export type { ChangeCause, ObjectChange } from './controller/predicates.ts';
export {
  annotationsChanged,
  generationChanged,
  labelsChanged,
  type Predicate,
  resourceVersionChanged,
  resynced,
} from './controller/predicates.ts';
export { liveness, type Probed, type ProbeResult, readiness } from './controller/probes.ts';
export {
  type ClusterReconcileRequest,
  type ReconcileInCluster,
  reconcileInCluster,
} from './controller/reconcile-in-cluster.ts';
export {
  type NewCondition,
  setCondition,
  type WrittenCondition,
} from './controller/set-condition.ts';
export type { FilteredSource, MappedSource, WatchedInformer } from './controller/sources.ts';
export {
  type ReconcileSpan,
  type ReconcileTracer,
  type SpanAttributes,
  type TracedOptions,
  traced,
} from './controller/traced.ts';
export {
  type Condition,
  ConditionTimeout,
  conditionTrue,
  deleted,
  exists,
  type StatusCondition,
  type UntilConditionOptions,
  untilCondition,
} from './controller/until-condition.ts';
// decode: turns bytes into events
export type { DecodeContext, Decoder, Decoding, Refusal, Transform } from './decode/decoding.ts';
export {
  type DifferentialDecoding,
  type DifferentialDecodingOptions,
  differentialDecoding,
} from './decode/differential/differential-decoding.ts';
export { jsonDecoding } from './decode/json-decoding.ts';
export type { Projected } from './decode/projected/projected-decoding.ts';
export {
  type ProjectedDecoding,
  type ProjectedDecodingOptions,
  type ProjectionOptions,
  projectedDecoding,
} from './decode/projected/projected-decoding.ts';
export type {
  PartialObjectMetadata,
  Projection,
  TableColumn,
  TableReading,
  TableRow,
} from './decode/projection.ts';
export type { ListMeta, ListPart, Refused, WatchEvent } from './decode/watch-event.ts';
// delta: the queue of changes
export { type DeltaFifoOptions, deltaFifo } from './delta/delta-fifo.ts';
export type { QueueMemory } from './delta/delta-queue.ts';
export { latestPerKey } from './delta/latest-per-key.ts';
export type { Change, DeletedObject } from './delta/net-change.ts';
export type { Compression, Folding } from './delta/pending-deltas.ts';
export { rememberedObjects } from './delta/remembered-objects.ts';
export {
  createLeaderElector,
  type LeaderElector,
  type LeaderElectorOptions,
} from './election/leader-elector.ts';
export type { ClustersInformer } from './factory/clusters/clusters-informer.ts';
// factory: creates and shares informers
export {
  type Cluster,
  type Clusters,
  type ClustersHandle,
  type ClustersOptions,
  createClusters,
} from './factory/clusters/create-clusters.ts';
export type { ClientsByName } from './factory/clusters/members.ts';
export type { ClusterStatus, ClustersStatus } from './factory/clusters/merged-status.ts';
export {
  createDynamicInformerFactory,
  createInformerFactory,
  type DynamicInformerFactory,
} from './factory/create-informer-factory.ts';
// lister: reads from the store
export { createLister } from './factory/create-lister.ts';
export type {
  InformerFactory,
  InformerHandle,
  TableInformer,
} from './factory/informer-factory.ts';
export type {
  AtLeast,
  ListedAs,
  Lister,
  ListerInformer,
  ListerOptions,
  ListSelection,
  NamespaceLister,
} from './factory/lister.ts';
export { type NamespaceFallback, namespaceFallback } from './factory/namespace-fallback.ts';
export {
  type CollectionPart,
  forResource,
  type InformerFactoryOptions,
  type ProjectionMakers,
  type ResourceSettings,
} from './factory/options.ts';
export {
  createLiveQueries,
  type LiveQueries,
  type QueryStream,
} from './factory/queries/create-live-queries.ts';
export { type ExplainedSource, explain, type QueryExplanation } from './factory/queries/explain.ts';
export type { IndexRead } from './factory/queries/plan.ts';
export type { LiveQueriesOptions } from './factory/queries/query-channel.ts';
export { type MissingInformer, NotSyncedError } from './factory/readiness.ts';
export type { InformerProjection, InformerScope } from './factory/scope.ts';
export { type AuditOptions, audit } from './informer/audit-part.ts';
// informer: informers, shared and unshared
export {
  createInformer,
  type Informer,
  type UnsharedInformerOptions,
} from './informer/create-informer.ts';
export { createSharedInformer } from './informer/create-shared-informer.ts';
export { addEventHandler } from './informer/handlers/add-event-handler.ts';
export {
  type Delivery,
  type DeliveryPolicy,
  deliver,
  type Ready,
} from './informer/handlers/deliver.ts';
export type {
  EventHandlerOptions,
  EventHandlerRegistration,
  EventNotification,
  NotificationCause,
  RemoveOptions,
  ResourceEventHandler,
} from './informer/handlers/event-handler.ts';
export {
  type FilteringEventHandlerOptions,
  filteringEventHandler,
} from './informer/handlers/event-handler.ts';
export type { InformerMetrics } from './informer/instruments.ts';
export {
  type InformerMetricsReader,
  type MeteredOptions,
  metered,
  metricsOf,
} from './informer/metrics-part.ts';
export type { InformerOptions, SharedInformerOptions } from './informer/options.ts';
export type { InformerPartMaker } from './informer/part.ts';
export type { SharedInformer } from './informer/shared-informer.ts';
export type { LimitedAccess } from './informer/sources.ts';
export {
  type DescribedStatus,
  type DescribeStatusOptions,
  describeStatus,
  type StatusTone,
  type StatusWords,
} from './informer/status/describe-status.ts';
export type { InformerWarning, UnhandledErrorContext } from './informer/status/reporter.ts';
export type { InformerPhase, InformerStatus } from './informer/status/status.ts';
export type { ObservedDeletion, SyncWaitOptions, WaitOptions } from './informer/waits.ts';
// list-watch: single LIST and WATCH requests
export type { ListOptions, ListWatchOptions } from './list-watch/collection-requests.ts';
export { createListWatch } from './list-watch/create-list-watch.ts';
export {
  createPollingListWatch,
  type PollingOptions,
} from './list-watch/create-polling-list-watch.ts';
export { type ListSignal, listPages } from './list-watch/list-pages.ts';
export type {
  ListerWatcher,
  ListRequest,
  ReadCollection,
  RequestTurn,
  WatchRequest,
  WatchSignal,
} from './list-watch/lister-watcher.ts';
export {
  createMetadataListWatch,
  createTableListWatch,
  type TableListerWatcher,
} from './list-watch/projected-list-watch.ts';
// meta: objects, resources, selectors, versions, errors
export {
  ApiError,
  type ApiErrorInit,
  type LocalReason,
  parseRetryAfterMs,
  type Status,
} from './meta/api-error.ts';
export {
  type FieldRequirement,
  type FieldSelector,
  parseFieldSelector,
} from './meta/field-selector.ts';
export {
  joinMetaNamespaceKey,
  type KeyFunc,
  metaNamespaceKeyFunc,
  type ObjectName,
  splitMetaNamespaceKey,
} from './meta/key.ts';
export type { KnownObjects, RefusedState } from './meta/known-objects.ts';
export type {
  KubernetesList,
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
  Stored,
  Time,
} from './meta/kubernetes-object.ts';
export {
  formatLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
  selectEverything,
  selectNothing,
} from './meta/label-selector.ts';
export type {
  GaugeCallback,
  GaugeResult,
  MeasuredController,
  MeasuredEnd,
  MeasuredEvent,
  MeasuredPublisher,
  MeasuredQueue,
  MeasuredResult,
  MeasuredSlots,
  MeasureEvents,
  Metered,
  MetricAttributes,
  MetricCounter,
  MetricHistogram,
  MetricObservableGauge,
  MetricOptions,
  MetricsProvider,
  QueueInstruments,
  ReconcileFigures,
  SnapshotFigures,
} from './meta/metrics.ts';
export {
  type PodRequestsOptions,
  podRequests,
  type RequestingPod,
  type ResourceAmounts,
} from './meta/pod-requests.ts';
export { type ParsedQuantity, parseQuantity } from './meta/quantity.ts';
export {
  defineResource,
  type GroupVersionResource,
  type Resource,
  type ResourceDefinition,
  resourceName,
  resourcePath,
  type UntypedResource,
} from './meta/resource.ts';
export {
  compareResourceVersion,
  isResourceVersion,
  type ResourceVersion,
} from './meta/resource-version.ts';
export {
  SHARD_SLOTS,
  type ShardRange,
  shardHash,
  shardRanges,
} from './meta/shard-ranges/ranges.ts';
export {
  createShardFilter,
  type RefusedKey,
  type ShardBy,
  type ShardFilter,
  type ShardFilterBy,
  shardSelector,
  shardSlot,
  shardSlotOf,
} from './meta/shard-ranges/shard-filter.ts';
export type { QueryPath, ValueAt } from './meta/typed-path.ts';
// persist: starts informers from a store on disk
export {
  type IndexedDbSnapshotOptions,
  indexedDbSnapshots,
} from './persist/indexed-db/indexed-db-snapshots.ts';
export type { SnapshotOptions } from './persist/snapshot-options.ts';
export type { SnapshotChange, SnapshotStore, StoredSnapshot } from './persist/snapshot-store.ts';
export { type PersistPart, snapshotsIn } from './persist/snapshots-in.ts';
// query: sorted rows for user interfaces
export type { Aggregate, Aggregates, GroupRow } from './query/aggregates/aggregate.ts';
export {
  avg,
  count,
  distinct,
  max,
  min,
  type RowValue,
  sum,
} from './query/aggregates/built-in.ts';
export type { LiveOptions, Param } from './query/engine/machine.ts';
export type { RefusedRow } from './query/engine/refused-rows.ts';
export { type JoinThrough, through } from './query/join/through.ts';
export type { QueryComparison, QueryCondition } from './query/live-query/condition.ts';
export {
  type LiveQuery,
  type LiveQuerySpec,
  liveQuery,
  type MetadataQuerySpec,
} from './query/live-query/live-query.ts';
export type { KeyedOrder, OrderBy, PathOrder, QueryOrder } from './query/live-query/order-by.ts';
export { annotation, label } from './query/live-query/path.ts';
export type {
  Columns,
  KeyedProjection,
  QuerySelection,
  RowOf,
  Select,
} from './query/live-query/select.ts';
export type { CompareAs, IndexCondition, KeyedTest, Where } from './query/live-query/where.ts';
export type { IndexedInformer } from './query/operators/fan-out.ts';
export type { GroupKey } from './query/operators/group-row.ts';
export {
  type FilterCondition,
  liveFilter,
  type RowPredicate,
} from './query/operators/live-filter.ts';
export {
  type LiveFlatMapOptions,
  liveFlatMap,
  type RowsProjection,
} from './query/operators/live-flat-map.ts';
export { liveDistinct, liveGroupBy } from './query/operators/live-group-by.ts';
export { liveIndex } from './query/operators/live-index.ts';
export {
  type AnySelector,
  type JoinByKeys,
  type JoinByOwner,
  type JoinBySelector,
  type JoinedRight,
  type JoinedRow,
  type JoinKeys,
  type JoinOn,
  type JoinProjection,
  type JoinType,
  type LiveJoinOptions,
  liveJoin,
} from './query/operators/live-join.ts';
export { type LiveMapOptions, liveMap, type RowProjection } from './query/operators/live-map.ts';
export {
  type LiveMergeMapOptions,
  liveMergeMap,
  type StreamProjection,
} from './query/operators/live-merge-map.ts';
export { liveShare, type ShareOperator } from './query/operators/live-share.ts';
export { type Compare, liveSort } from './query/operators/live-sort.ts';
export { liveUnion, type UnionSources, type UnitedRow } from './query/operators/live-union.ts';
export { type DueTime, liveUntil } from './query/operators/live-until.ts';
export {
  liveTop,
  liveWindow,
  type WindowAnchor,
  type WindowOperator,
} from './query/operators/live-window.ts';
export { type SnapshotOf, type Snapshots, snapshotOf } from './query/view/snapshot-of.ts';
export { type ToView, type ToViewOptions, toView } from './query/view/to-view.ts';
export type { RowView, View, ViewSnapshot, ViewStatus } from './query/view/view.ts';
// reflector: an endless stream of deltas from LIST and WATCH
export type { Deletion, Delta, KnownNow, ShardBounds } from './reflector/delta.ts';
export type { ReflectOptions, RefreshOrder } from './reflector/reflect-options.ts';
export { reflect } from './reflector/reflector.ts';
export type { Blocked, InitialList, ReflectorPhase } from './reflector/state.ts';
export type { ReflectorStatus, ShardHolding } from './reflector/status.ts';
// rx: time and demand
export { type Backoff, exponentialBackoff } from './rx/backoff.ts';
export { allOf, type Demand, timeSlice, unlimited } from './rx/demand.ts';
export {
  animationFrames,
  atMostEvery,
  type DrainableStream,
  type DrainableWriter,
  whenDrained,
} from './rx/demands.ts';
export type { EpochMs, Timing } from './rx/timing.ts';
export { createShardMember } from './shards/create-shard-member.ts';
// shards: divides objects between replicas
export { guardedClient } from './shards/guarded-client.ts';
export {
  createShardedInformer,
  type ShardedInformerOptions,
} from './shards/reflect/create-sharded-informer.ts';
export type { OwnedShards } from './shards/reflect/reflect-shards.ts';
export type {
  KeyShards,
  ShardedObjects,
  ShardedRun,
  ShardMember,
  ShardOptions,
  ShardPhase,
  ShardStatus,
} from './shards/shard-member.ts';
export {
  createExpirationStore,
  type ExpirationPolicy,
  type ExpirationStore,
  type ExpirationStoreOptions,
  type TimestampedEntry,
  ttlPolicy,
} from './store/caches/expiration-store.ts';
export {
  createMutationCache,
  type MutationCache,
  type MutationCacheOptions,
} from './store/caches/mutation-cache.ts';
export {
  type AnyChangeSet,
  type Cause,
  type ChangeSet,
  type ChangeSetHead,
  createChangeSet,
  type OrderedChangeSet,
  type RowOrder,
  type SetOf,
  type UpdatedObject,
} from './store/change-set.ts';
export type {
  ChangeStream,
  EndingPipe,
  OrderedChangeStream,
  SetStream,
} from './store/change-stream.ts';
// store: the local copy
export { type ApplyDeltasOptions, applyDeltas } from './store/commit/apply-deltas.ts';
export type { StoreRefusal } from './store/commit/committer.ts';
export { type ConflateByKeyOptions, conflateByKey } from './store/conflate-by-key.ts';
export { createIndexer } from './store/create-indexer.ts';
export {
  byAnnotation,
  byLabel,
  byLabels,
  byNamespace,
  byOwnerUid,
  type Indexers,
  type IndexFunc,
  NAMESPACE_INDEX,
  type ReadIndexers,
} from './store/index-funcs.ts';
export type {
  Indexer,
  IndexerOptions,
  IndexerReader,
  IndexerTransaction,
  Snapshot,
  StoreReader,
} from './store/indexer.ts';
export type { MutationGuard } from './store/mutation-guard.ts';
export type { RefusedObjects, WritableRefusedObjects } from './store/refused-objects.ts';
export type { UnchangedParts } from './store/successor-of.ts';
// transport: HTTP requests as streams of bytes
export type { KubeRequest } from './transport/call.ts';
export {
  createFetchTransport,
  type Fetch,
  type FetchInit,
  type FetchResponse,
} from './transport/fetch-transport.ts';
export type { HeldBack } from './transport/guards/buffering-proxy.ts';
export {
  createClient,
  type KubeClient,
  type KubeClientOptions,
} from './transport/kube-client.ts';
export type { StreamOptions } from './transport/page/stream-options.ts';
export type {
  HttpProtocol,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportTraits,
  TransportUse,
} from './transport/transport.ts';
export { createDelayingQueue } from './work-queue/delaying-queue.ts';
export {
  type CreateWorkQueueOptions,
  createWorkQueue,
  type QueueOptions,
} from './work-queue/key-queue.ts';
export { createPriorityQueue, type PriorityQueueOptions } from './work-queue/priority-queue.ts';
export type { DurationSummary, QueueMetrics } from './work-queue/queue-metrics.ts';
export {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
  withMaxWaitRateLimiter,
} from './work-queue/rate-limiter.ts';
export {
  createRateLimitingQueue,
  type RateLimitingQueueOptions,
} from './work-queue/rate-limiting-queue.ts';
export {
  type Outcome,
  type Reconcile,
  type ReconcileContext,
  type ReconcileResult,
  TerminalError,
} from './work-queue/reconcile-run.ts';
// work-queue: queues of keys to process
export type {
  AddOptions,
  Backlog,
  DelayingQueue,
  PriorityQueue,
  RateLimitingQueue,
  WorkQueue,
} from './work-queue/work-queue.ts';
export { workQueue } from './work-queue/work-queue-operator.ts';
export type { WorkQueueOptions } from './work-queue/work-queue-options.ts';
