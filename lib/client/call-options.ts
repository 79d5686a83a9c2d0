/** The options that all calls, and all writing calls, of a client have in common. */

/** The options of every call. */
export interface CallOptions {
  /** Aborting it cancels the request, and the call rejects with an `ApiError` with reason `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** The server validates and processes the request, but stores nothing. @defaultValue false */
  readonly dryRun?: boolean | undefined;
  /** The owner of the written fields. */
  readonly fieldManager?: string | undefined;
  /** How the server treats unknown fields. @defaultValue the server's default, 'Warn' */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
}
