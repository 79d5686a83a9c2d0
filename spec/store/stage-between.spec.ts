/** Stages of a consumer's own between the queue and the store. */
import {
  applyDeltas,
  createIndexer,
  type Delta,
  deltaFifo,
  type Indexer,
  rememberedObjects,
} from 'rx-informer';
import { type OperatorFunction, observeOn, pipe, Subject, VirtualTimeScheduler } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { added, deleted, type Pod, pod, replaced, replacing } from '../delta/pods.ts';

type Stage = OperatorFunction<readonly Delta<Pod>[], readonly Delta<Pod>[]>;

function run(stage: (known: Indexer<Pod>) => Stage) {
  const store = createIndexer<Pod>();
  const source = new Subject<readonly Delta<Pod>[]>();
  source.pipe(stage(store), applyDeltas(store)).subscribe();
  return { store, source };
}

/** Marks the objects of complete lists, and removes `hidden`. */
const changing: Stage = map((deltas) =>
  deltas.map((delta) => {
    if (delta.type !== 'replaced') return delta;
    const shown = delta.objects.filter(({ metadata }) => metadata.name !== 'hidden');
    return { ...delta, objects: shown.map((each) => ({ ...each, kind: 'Marked' })) };
  }),
);

describe('a stage between the queue and the store', () => {
  it('S61: the store has the objects of a list as the stage has left them', () => {
    const { store, source } = run((known) => pipe(deltaFifo({ known }), changing));
    source.next([added(pod('a', 1)), added(pod('hidden', 2))]);
    source.next([replaced([pod('a', 3), pod('hidden', 2), pod('c', 4)], 5)]);
    expect(store.list().map(({ kind, metadata }) => `${metadata.name} ${kind}`)).toEqual([
      'a Marked',
      'c Marked',
    ]);
  });

  it('S61: a list deletes what was not stored yet when the queue compared the list with the store', () => {
    const scheduler = new VirtualTimeScheduler();
    const { store, source } = run((known) => pipe(deltaFifo({ known }), observeOn(scheduler, 10)));
    source.next([replaced([pod('a', 1), pod('again', 1)], 1)]);
    scheduler.flush();
    source.next([added(pod('b', 2)), deleted(pod('again', 3)), added(pod('again', 4, 'other'))]);
    source.next([replaced([pod('a', 1)], 5)]);
    scheduler.flush();
    expect(store.listKeys()).toEqual(['a']);
  });

  it('S61: a list deletes what the first of two queues does not know', () => {
    const { store, source } = run((known) =>
      pipe(deltaFifo({ known: rememberedObjects() }), deltaFifo({ known })),
    );
    store.add(pod('old', 1));
    source.next([replacing([pod('a', 2)])]);
    source.next([replaced([], 3)]);
    expect(store.listKeys()).toEqual(['a']);
  });
});
