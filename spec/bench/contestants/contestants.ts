/** The contestants by name, and how their processes are started. */
import { fileURLToPath } from 'node:url';
import { type BuiltBinary, ensureBuiltBinary } from '../../support/built-binary.ts';

type Environment = Readonly<Record<string, string>>;

/** A contestant is a file for Node, or a binary that is built when it is needed. */
interface Contestant {
  readonly run: string | BuiltBinary;
  readonly env?: Environment;
}

const folder = (name: string) => fileURLToPath(new URL(`./${name}/`, import.meta.url));

const clientGo: BuiltBinary = {
  name: 'bench-client-go',
  sources: folder('client-go'),
  what: 'the contestant client-go',
  takes: '2 minutes',
  needsCompiler: 'The contestant client-go needs Go 1.26 or newer in PATH (https://go.dev/dl).',
};

const kubeRs: BuiltBinary = {
  name: 'bench-kube-rs',
  sources: folder('kube-rs'),
  compiler: ['cargo', '--version'],
  what: 'the contestant kube-rs',
  takes: '4 minutes',
  needsCompiler: 'The contestant kube-rs needs Rust 1.89 or newer in PATH (https://rustup.rs).',
};

const contestants: Readonly<Record<string, Contestant>> = {
  floor: { run: './floor.ts' },
  'floor-socket': { run: './floor-socket.ts' },
  ours: { run: './ours.ts' },
  /** Without the comparison that keeps the unchanged parts of objects. */
  'ours-new': { run: './ours.ts', env: { BENCH_PARTS: 'new' } },
  /** With the decoding that parses every object completely. */
  'ours-json': { run: './ours.ts', env: { BENCH_DECODING: 'json' } },
  /** Ten subscribers that do nothing, besides the one that counts. */
  'ours-idle': { run: './ours.ts', env: { BENCH_IDLE: '10' } },
  'client-node': { run: './client-node.ts' },
  /** With a streaming LIST, and with pages. */
  'client-go': { run: clientGo, env: { KUBE_FEATURE_WatchListClient: 'true' } },
  'client-go-list': { run: clientGo, env: { KUBE_FEATURE_WatchListClient: 'false' } },
  'kube-rs': { run: kubeRs },
  'kube-rs-stream': { run: kubeRs, env: { BENCH_STREAMING: '1' } },
};

/** Contestants that run unless others are named. */
export const usual: readonly string[] = [
  'floor',
  'floor-socket',
  'ours',
  'client-node',
  'client-go',
  'kube-rs',
];

/** A process to start. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** Throws a `TypeError` if a contestant is unknown. */
export function checkNames(names: readonly string[]): void {
  for (const name of names) {
    if (contestants[name] === undefined) {
      const known = Object.keys(contestants).join(', ');
      throw new TypeError(`bench: no contestant is called ${name}; there are ${known}`);
    }
  }
}

/** The command of a contestant, built if needed. Rejects with one sentence if its compiler is missing. */
export async function commandOf(name: string, node: string): Promise<Command> {
  checkNames([name]);
  const { run, env = {} } = contestants[name] as Contestant;
  if (typeof run === 'string') return nodeCommand(node, run, env);
  return { command: await ensureBuiltBinary(run), args: [], env };
}

/** The command that runs a file of this folder in a Node. */
export function nodeCommand(node: string, file: string, env: Environment = {}): Command {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
  return { command: node, args: [...flags, path], env };
}
