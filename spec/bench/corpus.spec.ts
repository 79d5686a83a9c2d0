/** Tests what the synthetic server of the benchmark sends. */
import { describe, expect, it } from 'vitest';
import { type CorpusName, corpora, drawCorpus } from './corpus/corpora.ts';
import { type Mode, Plan } from './server/plan.ts';

const names = Object.keys(corpora) as CorpusName[];

interface Sent {
  readonly metadata: { readonly [key: string]: unknown };
}

describe('the corpus of the benchmark', () => {
  it.each(names)('%s: the same seed draws the same bytes, and another seed does not', (name) => {
    const text = (seed: number) => drawCorpus(name, 40, seed).of(3, true).toString();
    expect(text(1)).toBe(text(1));
    expect(text(2)).not.toBe(text(1));
  });

  it.each(names)('%s: managedFields are the only difference if they are dropped', (name) => {
    const objects = drawCorpus(name, 40, 1);
    const { metadata, ...rest }: Sent = JSON.parse(objects.of(1, true).toString());
    const { managedFields, ...others } = metadata;
    expect(managedFields).toHaveLength(2);
    const without = objects.of(1, false).toString();
    expect(JSON.parse(without)).toEqual({ metadata: others, ...rest });
    // The order of the members is also the same.
    expect(Object.keys(JSON.parse(without).metadata)).toEqual(Object.keys(others));
  });

  it.each(names)('%s: a change of the status changes no label and no spec', (name) => {
    const objects = drawCorpus(name, 40, 1);
    const before = JSON.parse(objects.of(2, true).toString());
    objects.values.change(2, 'status', 1_000_000_007, 5);
    const after = JSON.parse(objects.of(2, true).toString());
    expect(after.metadata.resourceVersion).toBe('1000000007');
    expect(after.metadata.labels).toEqual(before.metadata.labels);
    expect(after.spec).toEqual(before.spec);
    expect({ ...after, metadata: null }).not.toEqual({ ...before, metadata: null });
  });

  it('a built-in object ends its metadata with managedFields, and a custom one is sorted', () => {
    const metadataOf = (name: CorpusName): object =>
      JSON.parse(drawCorpus(name, 40, 1).of(1, true).toString()).metadata;
    expect(Object.keys(metadataOf('pods')).at(-1)).toBe('managedFields');
    const keys = Object.keys(metadataOf('widgets'));
    expect(keys).toEqual(keys.toSorted());
    expect(keys).toContain('managedFields');
  });
});

/** Plays events and returns how often each object and each type occurred. */
function played(mode: Mode, events: number, objects: number) {
  const absent: number[] = [];
  const plan = new Plan(objects, 1, absent);
  const perObject = new Map<number, number>();
  const types = { ADDED: 0, MODIFIED: 0, DELETED: 0 };
  const present = new Set(Array.from({ length: objects }, (_, index) => index));
  for (let n = 1; n <= events; n++) {
    const { type, index } = plan.next(mode, n === events);
    types[type]++;
    perObject.set(index, (perObject.get(index) ?? 0) + 1);
    // Nothing is changed or deleted that does not exist, and nothing is added twice.
    expect(present.has(index)).toBe(type !== 'ADDED');
    if (type === 'DELETED') present.delete(index);
    else present.add(index);
  }
  expect(absent).toHaveLength(objects - present.size);
  return { perObject, types, present };
}

describe('the events of the benchmark', () => {
  it('hot: 90 % of the changes concern a twentieth of the objects, and 95 % are MODIFIED', () => {
    const { perObject, types } = played('hot', 20_000, 1000);
    const counts = [...perObject.values()].sort((a, b) => b - a);
    const hottest = counts.slice(0, 50).reduce((sum, count) => sum + count);
    expect(hottest / 20_000).toBeCloseTo(0.9, 1);
    expect(types.MODIFIED / 20_000).toBeCloseTo(0.95, 2);
  });

  it('spread: all objects are changed in turn, 80 % are MODIFIED, and their number stays about the same', () => {
    const { perObject, types, present } = played('spread', 20_000, 1000);
    expect(perObject.size).toBe(1000);
    expect(Math.max(...perObject.values())).toBeLessThan(2 * (20_000 / 1000));
    expect(types.MODIFIED / 20_000).toBeCloseTo(0.8, 1);
    expect(present.size).toBeGreaterThan(960);
  });
});
