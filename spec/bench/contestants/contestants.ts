/** The contestants by name, and how their processes are started. */
import { fileURLToPath } from 'node:url';

interface NodeContestant {
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
}

const inNode: Readonly<Record<string, NodeContestant>> = {
  floor: { file: './floor.ts' },
  'floor-socket': { file: './floor-socket.ts' },
  ours: { file: './ours.ts' },
  /** Ten subscribers that do nothing, besides the one that counts. */
  'ours-idle': { file: './ours.ts', env: { BENCH_IDLE: '10' } },
  'client-node': { file: './client-node.ts' },
};

/** Contestants that run unless others are named. */
export const usual: readonly string[] = ['floor', 'floor-socket', 'ours', 'client-node'];

/** A process to start. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The command of a contestant. Throws a `TypeError` if the name is unknown. */
export function commandOf(name: string, node: string): Command {
  const known = inNode[name];
  if (known === undefined) {
    const names = Object.keys(inNode).join(', ');
    throw new TypeError(`bench: no contestant is called ${name}; there are ${names}`);
  }
  return nodeCommand(node, known.file, known.env);
}

/** The command that runs a file of this folder in a Node. */
export function nodeCommand(
  node: string,
  file: string,
  env: Readonly<Record<string, string>> = {},
): Command {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const flags = [
    '--conditions=rx-informer-source',
    '--expose-gc',
    '--disable-warning=ExperimentalWarning',
  ];
  return { command: node, args: [...flags, path], env };
}
