/** The measured costs of the servers, which are the parameters of the simulation. */

/** The costs of one server process. CPU times are in milliseconds of one core. */
export interface ServerCosts {
  /** The number of objects of the lists that were measured. */
  readonly objects: number;
  /** The bytes of one list. */
  readonly listBytes: number;
  /** The CPU time of a list without objects. */
  readonly listFixedMs: number;
  /** The CPU time of a list per object. */
  readonly listObjectMs: number;
  /** The CPU time of a change without readers. */
  readonly changeMs: number;
  /** The CPU time of one change for one reader. */
  readonly deliveryMs: number;
  readonly deliveryBytes: number;
  /** The CPU time of a reader for a list, and for a change. All readers were in one process. */
  readonly clientListMs: number;
  readonly clientDeliveryMs: number;
  /** What was measured with many readers at the same time, to compare the simulation with. */
  readonly anchors: {
    readonly readers: number;
    /** From the request of a change until a single reader has it. */
    readonly oneDeliveryMs: number;
    /** From the request of a change until the last of all readers has it. */
    readonly lastDeliveryMs: number;
    /** From the first request until the last of as many lists at the same time has ended. */
    readonly herdMs: number;
    readonly herdCpuMs: number;
  };
}

/** The costs of both servers, measured on one machine. */
export interface Measured {
  readonly cores: number;
  readonly apiServer: ServerCosts;
  readonly nats: ServerCosts;
}
