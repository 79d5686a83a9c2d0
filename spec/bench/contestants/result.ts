/** The result of one process of the benchmark. Every contestant prints it as one line of JSON, in any language. */

/** What a process measures after its first list. */
export type Measurement = 'sync' | 'hot' | 'spread' | 'latency';

/** The figures of a contestant. Those of events are missing after `sync`. */
export interface Figures {
  /** Time from the start until the complete list is held, and CPU time of all threads meanwhile, in milliseconds. */
  readonly syncMs: number;
  readonly syncCpuMs: number;
  /** Resident memory before the start, and after the list and a forced collection, in MB. */
  readonly rssBaseMb: number;
  readonly rssSettledMb: number;
  /** The peak of resident memory during the list, in MB. */
  readonly rssSyncPeakMb: number;
  readonly eventsPerSecond?: number;
  /** Events for each second of CPU time of all threads: steadier than the time on a shared machine. */
  readonly eventsPerCpuSecond?: number;
  /** Bytes allocated on the heap per event. */
  readonly allocatedPerEvent?: number;
  /** How long garbage collections stop the main thread, in microseconds per event. */
  readonly gcUsPerEvent?: number;
  /** The peak of resident memory during the events, in MB. */
  readonly rssPeakMb?: number;
  /** Latency from the server's write to the handler at a steady rate, in microseconds. */
  readonly p50us?: number;
  readonly p99us?: number;
}

export interface Result extends Figures {
  /** What ran the contestant, with its version: `Node v24.21.0`. */
  readonly runtime: string;
  /** Further figures of this contestant, shown below the table. */
  readonly extra?: Readonly<Record<string, number>>;
}
