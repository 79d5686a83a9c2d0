/**
 * The world of a ListerWatcher: the adapter between the suite of all ListerWatchers and the server of one kind. All
 * methods are asynchronous, because the server may be another process.
 */
import type { KubernetesObject, ListerWatcher } from 'rx-informer';
import type { SchedulerLike } from 'rxjs';
import { eventually } from '../support/patience.ts';

/** How this kind of ListerWatcher differs from others. The suite skips the scenarios that cannot apply. */
export interface Traits {
  /** Whether `watch()` lists again and again. */
  readonly polls?: boolean;
  /** Whether `list()` obeys `limit` and `continue`. */
  readonly pages?: boolean;
  /** Whether a watch can begin with the list, that is, whether `watchList` is not `false`. */
  readonly streams?: boolean;
  /** Whether a watch shows versions that pass without a change of the collection. */
  readonly bookmarks?: boolean;
  /** Whether a version can be forgotten, so that a watch from it fails with a 410. */
  readonly expires?: boolean;
  /** Whether a watch ends after `timeoutSeconds`. */
  readonly timesOut?: boolean;
  /** Whether a list at a version is at least as new as that version. */
  readonly waitsForVersion?: boolean;
  /** Whether a watch may omit a state that was overwritten before it was read. */
  readonly folds?: boolean;
  /** The number of events that may still arrive after the demand has closed. */
  readonly readAhead: number;
}

/** An object as the server has stored it. */
export interface Written {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** One server with its collection of ConfigMaps, and ListerWatchers of it. Empty at the beginning. */
export interface World {
  readonly traits: Traits;
  /** The virtual time of informers and of the server. Without it the world has real servers. */
  readonly scheduler?: SchedulerLike;
  /** Creates a ListerWatcher of one namespace, or of all. Its objects have labels. */
  listerWatcher(namespace?: string): ListerWatcher<KubernetesObject>;
  /** Creates or updates the ConfigMap with the label `value`. Resolves when the server has stored it. */
  put(namespace: string, name: string, value: string): Promise<Written>;
  /** Deletes a ConfigMap. */
  remove(namespace: string, name: string): Promise<void>;
  /** Lets versions of the server pass that change nothing in the collection. */
  advance(): Promise<void>;
  /** Waits until all writes so far can be listed. Immediate if the ListerWatcher asks the server of the writes. */
  settle(): Promise<void>;
  /** Forgets the history: watches and pages from versions before now get a 410. */
  compact(): Promise<void>;
  /** Breaks the connections of open watches, if they can break. */
  disconnect(): Promise<void>;
  /** The number of LISTs and WATCHes that the server is answering, or consumers that it keeps for them. */
  openRequests(): Promise<number>;
  /**
   * Lets virtual time pass. A world with real servers waits for a round trip instead, after which everything has arrived
   * that the servers had sent before.
   */
  pass(ms: number): Promise<void>;
  /** Ends the world: closes connections and deletes what it has created. */
  close(): Promise<void>;
}

/** How long the suite waits for something that must happen, in virtual milliseconds. */
const PATIENCE_MS = 60_000;
/** How long nothing must happen, in virtual milliseconds. */
const QUIET_MS = 300;

const violations = new WeakMap<World, unknown>();

/** Notes an error of a callback, so that the scenario fails with it. */
export function violated(world: World, error: unknown): void {
  if (!violations.has(world)) violations.set(world, error);
}

/** Throws the first error of a callback, if there was one. */
export function checkViolations(world: World): void {
  if (violations.has(world)) throw violations.get(world);
}

/** Waits until what would happen would have happened. */
export async function quiet(world: World): Promise<void> {
  await world.pass(QUIET_MS);
  checkViolations(world);
}

/** Waits until a condition holds. Throws if that takes too long; `seen` describes what happened instead. */
export async function until(
  world: World,
  what: string,
  condition: () => boolean | Promise<boolean>,
  seen: () => string = () => '',
): Promise<void> {
  if (world.scheduler === undefined) {
    const isOver = async () => violations.has(world) || (await condition());
    await eventually(isOver, what).catch((error: Error) => {
      throw new Error(`${error.message}. ${seen()}`);
    });
    checkViolations(world);
    return;
  }
  const stepMs = 20;
  for (let passedMs = 0; !(await condition()); passedMs += stepMs) {
    checkViolations(world);
    if (passedMs >= PATIENCE_MS) {
      throw new Error(`not within ${PATIENCE_MS} ms: ${what}. ${seen()}`);
    }
    await world.pass(stepMs);
  }
  checkViolations(world);
}
