/**
 * The pictures of the site by name. A page of docs says `<!-- picture: NAME -->` where one belongs. They are drawn from code in each
 * build and never stored, so they cannot differ from it.
 */
import { readFileSync } from 'node:fs';
import type { InformerPhase } from '../../lib/informer/status/status.ts';
import type { ReflectorInput, ReflectorPhase } from '../../lib/reflector/state.ts';
import { type Edge, reflectorEdges, statusEdges } from './explore.ts';
import { box, figure, graph, type Point } from './svg.ts';

/** Why a phase ends, in the words of a reader. */
const WORDS: Readonly<Record<ReflectorInput['kind'], string>> = {
  queued: 'the request waits',
  sending: 'the request is sent',
  opened: 'the server answers',
  alive: 'something arrives',
  doubted: 'the server does not answer a probe',
  part: 'a part of the list arrives',
  restart: 'the list begins again',
  listed: 'the list is complete',
  events: 'events arrive',
  closed: 'the server ends the watch',
  failed: 'a request fails',
  yielded: 'the request gives up its turn',
  awake: 'the network or the machine wakes up',
  elapsed: 'the wait ends',
  tick: 'nothing arrives for a moment after an outage',
  paused: 'the demand stays closed',
  resumed: 'the demand opens',
  refresh: 'a list is requested',
  renew: 'the next watch is due',
  renewed: 'the next watch is answered',
  'renewal-failed': 'the next watch fails',
};

const isKind = (input: string): input is ReflectorInput['kind'] => input in WORDS;

/** One row per pair of phases, with the inputs that lead from one to the other. */
function tableOf(edges: readonly Edge[]): string {
  const pairs = Map.groupBy(edges, ({ from, to }) => `\`${from}\` | \`${to}\``);
  const rows = [...pairs].sort().map(([pair, group]) => {
    const reasons = group.map(({ input }) => (isKind(input) ? WORDS[input] : input)).sort();
    return `| ${pair} | ${reasons.join('; ')} |`;
  });
  return `::: details Why one phase follows another\n\n| from | to | if |\n|---|---|---|\n${rows.join('\n')}\n:::`;
}

function phases(
  name: string,
  label: string,
  nodes: Readonly<Record<string, Point>>,
  edges: readonly Edge[],
): string {
  const arrows = [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()];
  const drawn = graph({ name, label, width: 660, height: 410, nodes, arrows });
  return `${drawn}\n\n${tableOf(edges)}`;
}

/** On a ring, so that no arrow passes through a third phase. */
const REFLECTOR: Readonly<Record<Exclude<ReflectorPhase, 'stopped'> | 'start', Point>> = {
  start: [66, 180],
  streaming: [230, 40],
  watching: [580, 90],
  paused: [594, 270],
  backoff: [340, 370],
  listing: [140, 320],
};
const STATUS: Readonly<Record<Exclude<InformerPhase, 'queued' | 'stopped'>, Point>> = {
  idle: [66, 190],
  streaming: [190, 40],
  connecting: [450, 40],
  watching: [594, 160],
  paused: [540, 310],
  backoff: [330, 370],
  listing: [130, 320],
};

function reflector(): string {
  const label = 'The phases of the reflector, and which of them follows which';
  return phases('reflector', label, REFLECTOR, reflectorEdges());
}

function status(): string {
  const label = 'The phases of a status, and which of them follows which';
  const edges = statusEdges().map((edge) =>
    edge.from === 'start' ? { ...edge, from: 'idle', input: 'the informer starts' } : edge,
  );
  return phases('status', label, STATUS, edges);
}

/** The folders of each row in the table of docs/internals/architecture.md, which a spec compares with the imports. */
export function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  for (const [, row = '', folder = ''] of text.matchAll(/^\| (\d+) \| `([\w-]+)` \|/gm)) {
    rows[Number(row) - 1] = [...(rows[Number(row) - 1] ?? []), folder];
  }
  return rows;
}

function stages(): string {
  const file = new URL('../../docs/internals/architecture.md', import.meta.url);
  const rows = rowsOf(readFileSync(file, 'utf8'));
  const longest = Math.max(...rows.map((folders) => folders.length));
  const [width, step]: Point = [Math.max(640, 150 * longest), 50];
  const shapes = rows.flatMap((folders, row) => {
    const y = 28 + row * step;
    const line = row === 0 ? [] : [`<path d="M${width / 2} ${y - 18 - (step - 36)}V${y - 18}" />`];
    return [
      ...line,
      ...folders.map((folder, at) =>
        box([width / 2 + (at - (folders.length - 1) / 2) * 150, y], [132, 36], folder),
      ),
    ];
  });
  const label =
    'The stages of the library from top to bottom: a stage imports only from those above it';
  return figure(label, [width, rows.length * step + 6], shapes);
}

export const PICTURES: Readonly<Record<string, () => string>> = { reflector, status, stages };
