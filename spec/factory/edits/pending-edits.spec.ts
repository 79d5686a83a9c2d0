/** Tests the machine of edits that are shown before the watch has them. */
import { describe, expect, it } from 'vitest';
import {
  type EditInput,
  mergeDraft,
  nextEdits,
  type PendingEdit,
  shownObject,
} from '../../../lib/factory/edits/pending-edits.ts';

interface Scaled {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: { readonly replicas: number; readonly paused?: boolean };
}

const scaled = (resourceVersion: string, replicas: number, paused?: boolean): Scaled => ({
  metadata: { name: 'web', uid: 'u1', resourceVersion },
  spec: { replicas, ...(paused === undefined ? {} : { paused }) },
});

const to = (id: number, base: Scaled, draft: Scaled): EditInput => ({
  type: 'begun',
  edit: { id, base, draft },
});
const written = (id: number, object: Scaled): EditInput => ({ type: 'written', id, object });

describe('the edits of an object', () => {
  const at5 = scaled('5', 1);
  const edited = to(1, at5, scaled('5', 4));
  const other = to(2, scaled('5', 4), scaled('5', 4, true));

  const table: readonly (readonly [string, readonly EditInput[], Scaled, unknown])[] = [
    ['no edit', [], at5, { replicas: 1 }],
    ['an edit that was sent', [edited], at5, { replicas: 4 }],
    [
      'an event of another writer before the answer',
      [edited],
      scaled('6', 1, true),
      { replicas: 4, paused: true },
    ],
    ['the echo before the answer', [edited], scaled('7', 4), { replicas: 4 }],
    ['an answer without an echo', [edited, written(1, scaled('7', 4))], at5, { replicas: 4 }],
    [
      'an event that is older than the answer',
      [edited, written(1, scaled('7', 4))],
      scaled('6', 1),
      { replicas: 4 },
    ],
    ['the echo', [edited, written(1, scaled('7', 4))], scaled('7', 4), { replicas: 4 }],
    [
      'a later change of another writer',
      [edited, written(1, scaled('7', 4))],
      scaled('8', 2),
      { replicas: 2 },
    ],
    ['an error', [edited, { type: 'ended', id: 1 }], at5, { replicas: 1 }],
    ['two edits', [edited, other], at5, { replicas: 4, paused: true }],
    [
      'an error of the first of two edits',
      [edited, other, { type: 'ended', id: 1 }],
      at5,
      { replicas: 1, paused: true },
    ],
    [
      'the echo of the first of two edits',
      [edited, other, written(1, scaled('7', 4))],
      scaled('7', 4),
      { replicas: 4, paused: true },
    ],
    [
      'versions that cannot be compared',
      [edited, written(1, scaled('x7', 4))],
      scaled('x5', 1),
      { replicas: 1 },
    ],
  ];
  it.each(table)('V12: %s', (_, inputs, source, spec) => {
    const edits = inputs.reduce(nextEdits, [] as readonly PendingEdit[]);
    expect(shownObject(edits, source as never)).toMatchObject({ metadata: source.metadata, spec });
  });

  it('V12: an edit ends when all sources have its version, or do not have the object, and not before the answer', () => {
    const sent = [edited].reduce(nextEdits, [] as readonly PendingEdit[]);
    const observed = (versions: readonly string[]): EditInput => ({ type: 'observed', versions });
    expect(nextEdits(sent, observed(['9'])).length).toBe(1);
    const answered = nextEdits(sent, written(1, scaled('7', 4)));
    expect(nextEdits(answered, observed(['7', '6'])).length).toBe(1);
    expect(nextEdits(answered, observed(['7', '8']))).toEqual([]);
    expect(nextEdits(answered, observed([]))).toEqual([]);
  });
});

describe('the draft on a newer state', () => {
  it('V12: keeps what others have changed, and the objects that nobody has changed', () => {
    const labels = { app: 'web' };
    const base = { labels, spec: { replicas: 1, image: 'a', list: [1, 2] }, gone: 1 };
    const draft = { labels, spec: { replicas: 2, image: 'a', list: [1, 2, 3] } };
    const now = { labels, spec: { replicas: 1, image: 'b', list: [0] }, gone: 2, added: 1 };
    const merged = mergeDraft<unknown>(base, draft, now);
    expect(merged).toEqual({
      labels,
      spec: { replicas: 2, image: 'b', list: [1, 2, 3] },
      added: 1,
    });
    expect((merged as typeof base).labels).toBe(labels);
  });

  it('V12: is the newer state itself if that has the changes already', () => {
    const now = { spec: { replicas: 2, list: [1, 2] }, more: true };
    const draft = { spec: { replicas: 2, list: [1, 2] } };
    expect(mergeDraft<unknown>({ spec: { replicas: 1, list: [] } }, draft, now)).toBe(now);
  });

  it('V12: a field that is named __proto__ changes no prototype', () => {
    const draft = JSON.parse('{"a": {"__proto__": {"polluted": true}}}');
    const merged = mergeDraft<unknown>({ a: {} }, draft, { a: {}, b: 1 });
    expect(Object.getPrototypeOf((merged as { a: object }).a)).toBe(Object.prototype);
    expect(JSON.stringify(merged)).toContain('__proto__');
  });
});
