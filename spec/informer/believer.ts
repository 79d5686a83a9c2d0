/** A handler that believes what it is told, and fails on what contradicts it. */
import type { ResourceEventHandler } from 'rx-informer';
import { expect } from 'vitest';
import type { Pod } from '../delta/pods.ts';

/** Keeps in `had` what it was told; `answer` is what each callback returns. */
export function believer(had: Map<string, Pod>, answer: () => unknown): ResourceEventHandler<Pod> {
  return {
    onAdd: (object, { key }) => {
      expect(had.has(key)).toBe(false);
      had.set(key, object);
      return answer();
    },
    onUpdate: (previous, object, { key }) => {
      expect(had.get(key)).toBe(previous);
      had.set(key, object);
      return answer();
    },
    onDelete: ({ previous }, { key }) => {
      expect(had.get(key)).toBe(previous);
      had.delete(key);
      return answer();
    },
  };
}
