/** The options that every call and every write of a client take. */

/** What every call takes. */
export interface CallOptions {
  /** Aborting it rejects the call with an `ApiError` whose reason is `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** What calls that write take. */
export interface WriteOptions extends CallOptions {
  /** The server does everything but store it. */
  readonly dryRun?: boolean | undefined;
  /** Who the fields written belong to. */
  readonly fieldManager?: string | undefined;
  /** What becomes of fields that the server does not know. @defaultValue the server's: 'Warn' */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
}
