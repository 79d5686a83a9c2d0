/** The history of a collection: every state that the suite has written, in order, to compare with what is received. */
import type { World, Written } from './world.ts';

/** A state of an object, or its deletion, which has no value. */
export interface State extends Written {
  readonly key: string;
  readonly value?: string;
}

/** Writes to a world, and remembers everything that it has written. */
export class History {
  readonly states: State[] = [];
  readonly #world: World;
  readonly #current = new Map<string, State>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The objects that exist, by key. */
  get current(): ReadonlyMap<string, State> {
    return this.#current;
  }

  /** The objects that exist, as sorted lines. */
  truth(namespace?: string): string[] {
    const own = [...this.#current.values()].filter(
      ({ key }) => namespace === undefined || key.startsWith(`${namespace}/`),
    );
    return own.map(lineOf).sort();
  }

  /** Creates or updates `namespace/name`. */
  async put(key: string, value: string): Promise<State> {
    const [namespace = '', name = ''] = key.split('/');
    const state = { key, value, ...(await this.#world.put(namespace, name, value)) };
    this.states.push(state);
    this.#current.set(key, state);
    return state;
  }

  /** Deletes an object. The version of the state is the one before the deletion. */
  async remove(key: string): Promise<void> {
    const before = this.#current.get(key);
    if (before === undefined) throw new Error(`${key} does not exist`);
    const [namespace = '', name = ''] = key.split('/');
    await this.#world.remove(namespace, name);
    const { value: _value, ...rest } = before;
    this.states.push(rest);
    this.#current.delete(key);
  }
}

/** Describes a state in one line. */
export function lineOf({ key, uid, resourceVersion, value }: State): string {
  return value === undefined ? `-${key} ${uid}` : `${key} ${uid}@${resourceVersion} ${value}`;
}
