/** A graph of live operators over two sources: each node reads one or two of the nodes before it. */
import type { World } from '../world.ts';
import { GRAPH_STEPS, type GraphStep } from './graph-steps.ts';
import {
  type NaiveAnswer,
  pick,
  rowsOfWorld,
  type Sets,
  type Surroundings,
  unordered,
} from './step.ts';

export interface NodeChoice {
  readonly which: number;
  readonly start: number;
  readonly one: number;
  readonly other: number;
}

export interface GraphNode {
  /** The node with all that it reads, such as `join(filter(0), 1)`. */
  readonly name: string;
  readonly stream: Sets;
  /** How many rows it may have for each row of a source. */
  readonly rows: number;
  /** Whether it holds no state, so that it passes a later `reset` on. */
  readonly passesResets: boolean;
  naive(answers: ReadonlyMap<GraphNode, NaiveAnswer>): NaiveAnswer;
  turn?(to: number): void;
}

/** Rows that are multiplied again and again would be a long list. */
const MOST_ROWS = 6;
const MULTIPLIES: Readonly<Record<string, number>> = { flatMap: 3, union: 2 };

function sourceNode(world: World, at: number): GraphNode {
  return {
    name: String(at),
    stream: world.changes$ as Sets,
    rows: 1,
    passesResets: true,
    naive: () => unordered(rowsOfWorld(world)),
  };
}

function stepNode(step: GraphStep, one: GraphNode, other: GraphNode): GraphNode {
  const { name, hasOther = false } = step;
  const answerOf = (answers: ReadonlyMap<GraphNode, NaiveAnswer>, node: GraphNode) =>
    answers.get(node) as NaiveAnswer;
  return {
    name: `${name}(${hasOther ? `${one.name}, ${other.name}` : one.name})`,
    stream: step.apply(one.stream, other.stream),
    rows: name === 'both' ? one.rows + other.rows : one.rows * (MULTIPLIES[name] ?? 1),
    passesResets: name === 'conflate' && one.passesResets,
    naive: (answers) => step.naive(answerOf(answers, one), answerOf(answers, other)),
    turn: (to) => step.turn(to),
  };
}

/** The nodes, sources first. A node that would multiply the rows too often is left out. */
export function graphOf(
  choices: readonly NodeChoice[],
  worlds: readonly World[],
  around: Surroundings,
): GraphNode[] {
  const nodes = worlds.map(sourceNode);
  for (const { which, start, one, other } of choices) {
    const step = pick(GRAPH_STEPS, which)(start, around);
    // The first source is one of the last nodes, so that graphs become deep.
    const first = nodes.at(-1 - (one % Math.min(3, nodes.length))) as GraphNode;
    const second = nodes.at(-1 - (other % nodes.length)) as GraphNode;
    const node = stepNode(step, first, second);
    if (node.rows <= MOST_ROWS) nodes.push(node);
  }
  return nodes;
}

/** The naive answer of the last node. */
export function naiveOfGraph(nodes: readonly GraphNode[]): NaiveAnswer {
  const answers = new Map<GraphNode, NaiveAnswer>();
  for (const node of nodes) answers.set(node, node.naive(answers));
  return answers.get(nodes.at(-1) as GraphNode) as NaiveAnswer;
}
