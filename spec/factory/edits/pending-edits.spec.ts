/** Tests the machine of edits that are shown before the watch has them. */
import { describe, expect, it } from 'vitest';
import {
  type EditInput,
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
