/** A subcommand of `rx-informer`, and what it needs of the process. */

/** The streams from which a command reads and to which it writes. */
export interface CommandStreams {
  readonly input: AsyncIterable<string | Uint8Array>;
  out(text: string): void;
  error(text: string): void;
  /** Returns a signal that aborts when the process is asked to end. Until it is called, the process ends at once. */
  ended?(): AbortSignal;
}

/** The optional packages of a client of a kubeconfig. */
export const CLUSTER_PACKAGES: readonly string[] = ['@kubernetes/client-node', 'undici'];

/** A subcommand. */
export interface Command {
  readonly usage: string;
  /** The optional packages that the command needs with these arguments, which begin with its own name; those of `run` do not. */
  packages(args: readonly string[]): readonly string[];
  /** Rejects with an error whose message is shown. Exit code 1; 2 for a {@link UsageError} and for unknown options. */
  run(args: readonly string[], streams: CommandStreams): Promise<void>;
}

/** The arguments are wrong. */
export class UsageError extends Error {}
