/** The history of an API server, and a judge of what the informer of a reader tells its consumers. */
import type { KubernetesObject, SharedInformer } from 'rx-informer';

/** Keys with UIDs and versions. */
type State = ReadonlyMap<string, string>;

const stateOf = ({ metadata }: KubernetesObject) => `${metadata?.uid}/${metadata?.resourceVersion}`;
const keyOf = ({ metadata }: KubernetesObject) => `${metadata?.namespace}/${metadata?.name}`;

function words(state: State, namespace = ''): string {
  return [...state]
    .filter(([key]) => namespace === '' || key.startsWith(`${namespace}/`))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(' ');
}

/** The states of a collection by version. */
export class History {
  readonly #states: { readonly version: number; readonly state: State }[] = [];

  /** Notes the present objects, after each change. */
  note(version: string, objects: readonly KubernetesObject[]): void {
    const state = new Map(objects.map((object) => [keyOf(object), stateOf(object)]));
    this.#states.push({ version: Number(version), state });
  }

  get newest(): State {
    return this.#states.at(-1)?.state ?? new Map();
  }

  /** The state at a version, or after the last change before it. */
  at(version: number): State {
    return this.#states.findLast((each) => each.version <= version)?.state ?? new Map();
  }
}

/** What one reader was told, folded. */
export class Judge {
  readonly #history: History;
  readonly #namespace: string;
  readonly #name: string;
  readonly #informer: SharedInformer<KubernetesObject>;
  readonly #folded = new Map<string, string>();
  readonly #told = new Set<string>();
  #version = 0;
  sets = 0;
  readonly mistakes: string[] = [];

  constructor(
    informer: SharedInformer<KubernetesObject>,
    history: History,
    namespace: string,
    name: string,
  ) {
    this.#informer = informer;
    this.#history = history;
    this.#namespace = namespace;
    this.#name = name;
    informer.changes$.subscribe(({ reset, synced, cause, changes, resourceVersion }) => {
      if (reset) this.#folded.clear();
      for (const { key, object } of changes) {
        if (object === undefined) this.#folded.delete(key);
        else this.#tell(key, stateOf(object));
      }
      if (synced) this.#stand(Number(resourceVersion), cause);
    });
  }

  #wrong(why: string): void {
    this.mistakes.push(`${this.#name}: ${why}`);
  }

  #tell(key: string, state: string): void {
    if (this.#told.has(`${key}=${state}`)) this.#wrong(`was told ${key}=${state} twice`);
    this.#told.add(`${key}=${state}`);
    this.#folded.set(key, state);
  }

  #stand(version: number, cause: string): void {
    this.sets++;
    if (version < this.#version) this.#wrong(`fell from version ${this.#version} to ${version}`);
    this.#version = version;
    const mine = words(this.#folded);
    const store = this.#informer.indexer.list();
    const stored = words(new Map(store.map((each) => [keyOf(each), stateOf(each)])));
    if (mine !== stored) {
      this.#wrong(`was told other states than its store has: ${this.#difference(mine, stored)}`);
    }
    const had = words(this.#history.at(version), this.#namespace);
    if (mine !== had) {
      const what = `has not what the API server had (${cause})`;
      this.#wrong(`${what} at version ${version}: ${this.#difference(mine, had)}`);
    }
  }

  /** The states that only one of two texts has. */
  #difference(mine: string, other: string): string {
    const [ours, theirs] = [new Set(mine.split(' ')), new Set(other.split(' '))];
    const more = [...ours].filter((each) => !theirs.has(each)).join(' ');
    const less = [...theirs].filter((each) => !ours.has(each)).join(' ');
    return `more: ${more}; less: ${less}`;
  }

  /** Whether the reader has what the API server has. */
  get isEqual(): boolean {
    return words(this.#folded) === words(this.#history.newest, this.#namespace);
  }
}
