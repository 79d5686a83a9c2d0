/**
 * The tests of client-go's own suites whose behaviour is also promised here. The title of a test of ours that checks
 * the same behaviour names each of them, or a law says how ours differs and why.
 */
export const CLIENT_GO_TESTS: Readonly<Record<string, readonly string[]>> = {
  // the queue of deltas: order, deletions implied by a relist, batches, resyncs
  'tools/cache/the_real_fifo_test.go': [
    'TestRealFIFO_replaceWithDeleteDeltaIn',
    'TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue',
    'TestRealFIFO_transformer',
    'TestRealFIFO_ResyncNonExisting',
    'TestRealFIFO_Resync',
    'TestRealFIFO_UpdateResyncRace',
    'TestRealFIFO_ReplaceMakesDeletions',
    'TestRealFIFO_ReplaceMakesDeletionsReplaced',
    'TestRealFIFO_HasSynced',
    'TestRealFIFO_PopShouldUnblockWhenClosed',
    'TestRealFIFO_PopMultipleDeltaInBatch',
    'TestRealFIFO_PopBrokenItemsInBatch',
    'TestRealFIFO_ReplaceAtomic',
    'TestRealFIFO_ReplaceAtomicPop',
    'TestRealFIFO_ResyncAtomic',
  ],
  // the requests to the server, their retries and their ends
  'tools/cache/reflector_test.go': [
    'TestReflectorWatchStoppedBefore',
    'TestReflectorWatchStoppedAfter',
    'TestReflectorHandleWatchStoppedBefore',
    'TestReflectorHandleWatchStoppedAfter',
    'TestReflectorHandleWatchResultChanClosedBefore',
    'TestReflectorHandleWatchResultChanClosedAfter',
    'TestReflectorWatchHandler',
    'TestReflectorListAndWatch',
    'TestReflectorListAndWatchInitConnBackoff',
    'TestBackoffOnTooManyRequests',
    'TestNoRelistOnTooManyRequests',
    'TestRetryInternalError',
    'TestReflectorResync',
    'TestReflectorWatchListPageSize',
    'TestReflectorNotPaginatingNotConsistentReads',
    'TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled',
    'TestReflectorResyncWithResourceVersion',
    'TestReflectorExpiredExactResourceVersion',
    'TestReflectorFullListIfExpired',
    'TestReflectorFullListIfTooLarge',
    'TestWatchTimeout',
    'TestReflectorResourceVersionUpdate',
    'TestReflectorListExtract',
    'TestReflectorRespectStoreTransformer',
  ],
  // the streaming LIST
  'tools/cache/reflector_watchlist_test.go': ['TestWatchListResourceVersion', 'TestWatchList'],
  // handlers: their notifications, also if they are late, leave, resync or throw
  'tools/cache/shared_informer_test.go': [
    'TestIndexer',
    'TestListenerResyncPeriods',
    'TestResyncCheckPeriod',
    'TestSharedInformerInitializationRace',
    'TestSharedInformerStartRace',
    'TestSharedInformerWatchDisruption',
    'TestSharedInformerErrorHandling',
    'TestSharedInformerTransformer',
    'TestSharedInformerRemoveHandler',
    'TestAddWhileActive',
    'TestShutdown',
    'TestEventPanics',
    'TestShutDownEventHandler_Lifecycles',
  ],
  // from deltas to the store and the callbacks, in one order
  'tools/cache/controller_test.go': [
    'TestHammerController',
    'TestUpdate',
    'TestTransformingInformer',
    'TestTransformingInformerRace',
    'TestProcessDeltasInBatch',
    'TestReplaceEvents',
    'TestResetWatch',
    'TestStoreResourceVersion',
    'TestStoreResourceVersionWithNonMetaTransform',
  ],
  // the store, its indices and its version
  'tools/cache/thread_safe_store_test.go': [
    'TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex',
    'TestThreadSafeStoreIndexingFunctionsWithMultipleValues',
    'TestThreadSafeStoreRV',
  ],
  // a write that fails for half of the batch
  'tools/cache/store_test.go': ['TestCacheTransactionShouldIndexErrors'],
  // objects that expire
  'tools/cache/expiration_cache_test.go': ['TestTTLExpirationBasic', 'TestTTLPolicy'],
  // reads of the client's own writes
  'tools/cache/mutation_cache_test.go': [
    'TestMutationCacheOnAddOrUpdate',
    'TestMutationCacheOnDelete',
    'TestMutationCacheUpdateConcurrentDelete',
    'TestMutationCacheUpdateConcurrentRecreate',
  ],
  // deduplication, one worker per key, draining
  'util/workqueue/queue_test.go': [
    'TestBasic',
    'TestAddWhileProcessing',
    'TestReinsert',
    'TestCollapse',
    'TestCollapseWhileProcessing',
    'TestQueueDrainageUsingShutDownWithDrain',
  ],
  // delayed adds
  'util/workqueue/delaying_queue_test.go': ['TestDeduping', 'TestAddTwoFireEarly'],
  // waits that grow and stay finite
  'util/workqueue/default_rate_limiters_test.go': [
    'TestItemExponentialFailureRateLimiter',
    'TestItemExponentialFailureRateLimiterOverFlow',
  ],
};

/** The tests that no title names, because a law says how ours differs. */
export const IN_LAWS_ONLY: readonly string[] = [
  // A resync that fails ends client-go's watch. Ours cannot fail (F7).
  'TestReflectorResync',
];
