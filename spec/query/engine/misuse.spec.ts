/** Sources that are no change sets of one source any more. */
import { type ChangeSet, liveFilter } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { debounceTime, filter, merge, type Observable, of, skip, VirtualTimeScheduler } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isProduction } from '../../support/production.ts';
import { type Item, item, World } from '../world.ts';

afterEach(() => vi.unstubAllEnvs());

const all = liveFilter<Item>(() => true);
function errorOf(source: Observable<ChangeSet<Item>>, change?: () => void): string {
  let message = 'none';
  const subscription = all(source).subscribe({ error: (error) => (message = error.message) });
  change?.();
  subscription.unsubscribe();
  return message;
}
function worldOf(): World {
  const world = new World();
  world.reset([{ name: 'a', n: 1 }]);
  return world;
}
const step = { name: 'a', what: 'set', n: 2, group: 'a' } as const;

describe('a source that RxJS operators have damaged', () => {
  it.skipIf(isProduction)('Q24: merge of two sources errors and names liveUnion', () => {
    const mixed = merge(worldOf().changes$, worldOf().changes$);
    expect(errorOf(mixed)).toMatch(/^liveFilter: its source emitted two first sets.*liveUnion/);
  });

  it.skipIf(isProduction)(
    'Q24: an update or a deletion of an unknown id errors and names the id',
    () => {
      for (const [what, name] of [
        ['set', 'an update'],
        ['delete', 'the deletion'],
      ] as const) {
        const world = worldOf();
        const dropped = world.changes$.pipe(filter(({ reset }) => !reset));
        expect(errorOf(world.changes$, () => world.commit([step]))).toBe('none');
        const id = world.items.get('a')?.metadata.uid;
        // The first set of what is left adds another row, so that the operator has an answer.
        const left = merge(of(changeSet({ added: [item('b', 'ub', 1)] })), dropped);
        expect(errorOf(left, () => world.commit([{ ...step, what }]))).toBe(
          `liveFilter: its source emitted ${name} of "${id}", which it had not added. An RxJS operator that drops, delays or mixes sets (filter, debounceTime, merge) may stand before it: use liveFilter, conflateByKey or liveUnion instead`,
        );
      }
    },
  );

  it.skipIf(isProduction)('Q24: a source that lost its first set or sets in between errors', () => {
    const world = worldOf();
    const scheduler = new VirtualTimeScheduler();
    const delayed = world.changes$.pipe(debounceTime(5, scheduler));
    const error = errorOf(delayed, () => {
      scheduler.flush();
      world.commit([{ ...step, name: 'b' }]);
      world.commit([{ ...step, name: 'b', n: 3 }]);
      scheduler.flush();
    });
    expect(error).toMatch(/emitted an update of/);
    expect(errorOf(worldOf().changes$.pipe(skip(1)))).toBe('none');
    const late = worldOf();
    expect(errorOf(late.changes$.pipe(skip(1)), () => late.commit([step]))).toMatch(
      /emitted an update of/,
    );
  });

  it('Q24: in production nothing is checked', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(errorOf(merge(worldOf().changes$, worldOf().changes$))).toBe('none');
  });
});
