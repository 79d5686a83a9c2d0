/**
 * How long a key waits before its next try. client-go: util/workqueue/default_rate_limiters.go.
 */

/** Says how long to wait; it schedules nothing itself. */
export interface RateLimiter<K = string> {
  /** The wait before the next try of this key, in milliseconds. Each call counts as one try. */
  when(key: K): number;
  /** The key is done, or given up: its count starts anew. */
  forget(key: K): void;
  /** How often `when` was called since the key was last forgotten. */
  numRequeues(key: K): number;
}
