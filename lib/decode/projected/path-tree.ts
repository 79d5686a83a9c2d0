/** A set of paths as a tree of names, and the reduction of parsed objects to them. */
import { checkedList, refusal } from '../../checks/checked-option.ts';
import { parsePath } from '../../meta/object-path.ts';

/** The paths below a value. A tree without names means the complete value. */
export type PathTree = ReadonlyMap<string, PathTree>;

type Draft = Map<string, Draft>;

/** Values within more arrays than this are left out, so that no text overflows the stack. */
export const DEEPEST = 64;

/** Throws a `TypeError` if a text is not a path. */
export function createPathTree(paths: readonly string[]): PathTree {
  const tree: Draft = new Map();
  const complete = new Set<Draft>();
  for (const path of checkedList(paths, 'projectedDecoding: project', 'an array of paths')) {
    const steps = typeof path === 'string' ? parsePath(path) : undefined;
    const must = "a path such as 'status.phase'";
    if (steps === undefined) throw refusal('projectedDecoding: project', path, must);
    let node = tree;
    for (const step of steps) {
      const next: Draft = node.get(step) ?? new Map();
      // Below a path that is kept completely, there is nothing to select.
      if (!complete.has(node)) node.set(step, next);
      node = next;
    }
    node.clear();
    complete.add(node);
  }
  return tree;
}

/** Returns what the paths keep of a parsed value, which is an object or an array. */
export function reduce(value: unknown, tree: PathTree, depth = 0): unknown {
  if (Array.isArray(value)) {
    const kept = depth < DEEPEST ? value.filter(isContainer) : [];
    return kept.map((each) => reduce(each, tree, depth + 1));
  }
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value as object)) {
    const below = tree.get(name);
    if (below?.size === 0) members.push([name, member]);
    else if (below !== undefined && isContainer(member))
      members.push([name, reduce(member, below, depth + 1)]);
  }
  return Object.fromEntries(members);
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
