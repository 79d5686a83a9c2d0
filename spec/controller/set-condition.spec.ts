/** Setting a condition, and comparing before a write. */
import { type NewCondition, setCondition } from 'rx-informer';
import { describe, expect, it } from 'vitest';

const ready: NewCondition = {
  type: 'Ready',
  status: 'True',
  reason: 'Started',
  message: 'all runs',
  transitionAtMs: 1_500,
};
const job = { metadata: { name: 'import', generation: 3 } };
const holding = (conditions: ReturnType<typeof setCondition>) => ({
  ...job,
  status: { conditions },
});
const first = setCondition(job, ready);

describe('setCondition', () => {
  it('N32: adds a condition of a new type at the end, with the time and the generation', () => {
    expect(first).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: 'Started',
        message: 'all runs',
        lastTransitionTime: '1970-01-01T00:00:01Z',
        observedGeneration: 3,
      },
    ]);
    const second = setCondition(holding(first), { type: 'Done', status: 'False', reason: 'Busy' });
    expect(second.map(({ type }) => type)).toEqual(['Ready', 'Done']);
    expect(second[0]).toBe(first[0]);
    expect(second[1]?.message).toBe('');
  });

  it('N32: returns the same array if nothing changes, also at another time', () => {
    expect(setCondition(holding(first), { ...ready, transitionAtMs: 9_000 })).toBe(first);
  });

  it('N32: returns the same array if the server has left an empty message out', () => {
    const { message, ...stored } = { ...first[0], message: '' };
    const object = holding([stored as (typeof first)[0]]);
    expect(setCondition(object, { ...ready, message })).toBe(object.status.conditions);
  });

  it('N32: the transition time changes with the status only, and other fields and entries stay', () => {
    const probed = first.map((each) => ({ ...each, lastProbeTime: '2020-01-01T00:00:00Z' }));
    const other = { type: 'Done', status: 'False' };
    const object = holding([other, ...probed]);
    const [kept, entry] = setCondition(object, {
      ...ready,
      reason: 'Again',
      transitionAtMs: 9_000,
    });
    expect(kept).toBe(other);
    expect(entry).toEqual({ ...probed[0], reason: 'Again' });
    const [, failed] = setCondition(object, { ...ready, status: 'False', transitionAtMs: 9_000 });
    const lastTransitionTime = '1970-01-01T00:00:09Z';
    expect(failed).toEqual({ ...probed[0], status: 'False', lastTransitionTime });
    expect(object.status.conditions[1]).toBe(probed[0]);
  });

  it('N32: each field of the condition is compared', () => {
    for (const change of [{ reason: 'X' }, { message: 'x' }, { observedGeneration: 4 }]) {
      const [entry, ...more] = setCondition(holding(first), { ...ready, ...change });
      expect(entry).toEqual({ ...first[0], ...change });
      expect(more).toEqual([]);
    }
    expect(setCondition({ ...holding(first), metadata: { generation: 4 } }, ready)).not.toBe(first);
  });

  it.each([
    ['type', { type: '' }],
    ['reason', { reason: '' }],
    ['message', { message: 1 }],
    ['status', { status: 'true' }],
  ])('N32: refuses an invalid %s', (field, change) => {
    const wrong = { ...ready, ...change } as NewCondition;
    expect(() => setCondition(job, wrong)).toThrow(
      new RegExp(`^setCondition: ${field} is .*; it must be`),
    );
  });
});
