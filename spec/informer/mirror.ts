/** A handler that keeps its own copy of the store, and fails on a notification that contradicts the copy. */
import type { ResourceEventHandler } from 'rx-informer';
import { expect } from 'vitest';
import type { Pod } from '../delta/pods.ts';

/** Applies each notification to the map `had`. Each callback returns the result of `result`. */
export function mirror(had: Map<string, Pod>, result: () => unknown): ResourceEventHandler<Pod> {
  return {
    onAdd: (object, { key }) => {
      expect(had.has(key)).toBe(false);
      had.set(key, object);
      return result();
    },
    onUpdate: (previous, object, { key }) => {
      expect(had.get(key)).toBe(previous);
      had.set(key, object);
      return result();
    },
    onDelete: ({ previous }, { key }) => {
      expect(had.get(key)).toBe(previous);
      had.delete(key);
      return result();
    },
  };
}
