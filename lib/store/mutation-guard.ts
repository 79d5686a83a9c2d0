/**
 * Finds consumers that change cached objects, which every other consumer holds too. In development and tests what
 * is stored is frozen, so the culprit's own line throws and names the field; in production nothing is done.
 * client-go: tools/cache/mutation_detector.go, which compares copies every second and panics.
 */
import { freeze } from 'immer';

/** `freeze`: deep-freeze what is stored. `off`: trust. */
export type MutationGuard = 'freeze' | 'off';

interface WithProcess {
  process?: { env?: Record<string, string | undefined> };
}

/** `freeze` where NODE_ENV says development or test; freezing costs as much as parsing. */
export function defaultMutationGuard(): MutationGuard {
  const mode = (globalThis as WithProcess).process?.env?.['NODE_ENV'];
  return mode === 'development' || mode === 'test' ? 'freeze' : 'off';
}

/** Freezes an object and all in it. */
export function guardObject<T>(object: T, guard: MutationGuard): T {
  return guard === 'freeze' ? freeze(object, true) : object;
}
