/** The command line of the dashboard. What is wrong with it is said in one sentence. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

/** What the command line asks for. */
export interface DashboardOptions {
  /** 0: any free port. Absent: the usual one, or any when it is taken. */
  readonly port?: number;
  readonly open: boolean;
  readonly embedded: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Pods of the embedded cluster. */
  readonly objects: number;
  /** Changes a second in the embedded cluster. */
  readonly rate: number;
  readonly seed: number;
}

/** The command line cannot be followed; the message is one sentence for a person. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Help was asked for and has been printed. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';
}

function whole(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

function command(): Command {
  return (
    new Command('npm start --')
      .description('Shows the pods of a cluster, live. Without a cluster it shows one of its own.')
      .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', whole(0, 65_535))
      .option('--open', 'open the page in a browser', false)
      .addOption(
        new Option('--embedded', 'use the embedded cluster')
          .default(false)
          .conflicts(['kubeconfig', 'context']),
      )
      .option('--kubeconfig <file>', 'kubeconfig of the cluster')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--objects <number>', 'pods of the embedded cluster', whole(1, 100_000), 1000)
      .option('--rate <number>', 'changes a second of the embedded cluster', whole(0, 5000), 20)
      .option('--seed <number>', 'seed of the embedded cluster', whole(0, 2 ** 31), 1)
      .exitOverride()
      .allowExcessArguments(false)
      .showHelpAfterError(false)
      // Errors are printed by the caller, once.
      .configureOutput({ writeErr: () => undefined })
  );
}

/** Reads the arguments after the script's name. Throws {@link UsageError} or {@link HelpShown}. */
export function readArguments(argv: readonly string[]): DashboardOptions {
  try {
    return command().parse(argv, { from: 'user' }).opts<DashboardOptions>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new HelpShown();
    throw new UsageError(error.message.replace(/^error: /, ''));
  }
}
