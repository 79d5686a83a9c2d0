/** Parses the command line of the dashboard. Each mistake is reported in one sentence. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type FaultChoice, faultChoices } from './embedded/seeded-faults.ts';

export interface DashboardOptions {
  /** 0: any free port. Left out: the default port, or any free one if it is taken. */
  readonly port?: number;
  readonly open: boolean;
  readonly embedded: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Shows only this namespace. Left out: all of them. */
  readonly namespace?: string;
  /** Forwards edits to a real cluster. The embedded cluster always takes them. @defaultValue false */
  readonly allowEdits?: boolean;
  /** Lets the browser store the objects of a real cluster, so that a reload shows them at once. @defaultValue false */
  readonly warmStart?: boolean;
  /** Lets users sign in with a token, and answers the queries of all from one list and watch for each kind. @defaultValue false */
  readonly serveUsers?: boolean;
  /** The address of the NATS server from which the page reads the objects. @defaultValue the cluster */
  readonly nats?: string;
  /** The bucket that `rx-informer publish` fills. @defaultValue k8s */
  readonly bucket?: string;
  /** Pods of the embedded cluster. */
  readonly objects: number;
  /** Changes per second in the embedded cluster. */
  readonly rate: number;
  readonly seed: number;
  /** The faults of the embedded cluster. @defaultValue none */
  readonly fault?: FaultChoice;
  /** Prints what the faults are. @defaultValue false */
  readonly explainFaults?: boolean;
}

/** The command line is invalid. The message is one sentence for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class HelpShown extends Error {
  override readonly name = 'HelpShown';
}

function integer(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be an integer from ${from} to ${to}.`);
  };
}

/** The name of a namespace becomes a part of paths, so it is checked like one. */
function namespaceName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the name of a namespace.');
}

/** The page connects to it, so it must be a WebSocket, and its origin becomes a part of the page's policy. */
function webSocket(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^wss?:$/.test(url.protocol) && url.username === '') return url.origin;
  throw new InvalidArgumentError('It must be an address such as ws://localhost:9222.');
}

function bucketName(text: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(text)) return text;
  throw new InvalidArgumentError("It must consist of letters, digits, '-' and '_'.");
}

function command(): Command {
  return (
    new Command('npm start --')
      .description(
        'Shows the objects of a cluster, live. Without a cluster it shows an embedded one.',
      )
      .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', integer(0, 65_535))
      .option('--open', 'open the page in a browser', false)
      .addOption(
        new Option('--embedded', 'use the embedded cluster')
          .default(false)
          .conflicts(['kubeconfig', 'context']),
      )
      .option('--kubeconfig <file>', 'kubeconfig of the cluster')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--namespace <name>', 'show only this namespace', namespaceName)
      .option('--nats <url>', 'read the objects from NATS, over WebSocket', webSocket)
      .option('--bucket <name>', 'bucket of NATS', bucketName, 'k8s')
      .option('--allow-edits', 'forward edits to a real cluster', false)
      .option('--warm-start', 'let the browser store objects of a real cluster, unencrypted', false)
      .addOption(
        new Option('--serve-users', 'let users sign in, each with the own rights')
          .default(false)
          .conflicts(['nats', 'warmStart', 'namespace']),
      )
      .option('--pods <number>', 'pods of the embedded cluster', integer(1, 100_000), 1000)
      .addOption(
        new Option('--objects <number>', 'another name of --pods')
          .argParser(integer(1, 100_000))
          .conflicts('pods')
          .hideHelp(),
      )
      .option('--rate <number>', 'changes per second in the embedded cluster', integer(0, 5000), 20)
      .option('--seed <number>', 'seed of the embedded cluster', integer(0, 2 ** 31), 1)
      .addOption(
        new Option('--fault <name>', 'faults of the embedded cluster')
          .choices(faultChoices)
          .default('mix'),
      )
      .option('--explain-faults', 'print what the faults of the embedded cluster are', false)
      .exitOverride()
      .allowExcessArguments(false)
      .showHelpAfterError(false)
      // The caller prints errors, so that each is printed once.
      .configureOutput({ writeErr: () => undefined })
  );
}

/** The options as the parser returns them. `pods` has a default, and `objects` is its other name. */
type Parsed = Omit<DashboardOptions, 'objects'> & {
  readonly pods: number;
  readonly objects?: number;
};

/** Reads the arguments after the script's name. Throws {@link UsageError} or {@link HelpShown}. */
export function readArguments(argv: readonly string[]): DashboardOptions {
  try {
    const parsed = command().parse(argv, { from: 'user' });
    const { pods, objects = pods, ...options } = parsed.opts<Parsed>();
    return { ...options, objects };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new HelpShown();
    throw new UsageError(error.message.replace(/^error: /, ''));
  }
}
