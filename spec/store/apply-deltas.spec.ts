/** How deltas become commits, change sets and snapshots, also with a stage of the consumer's own between the queue and the store. */
import {
  applyDeltas,
  createIndexer,
  type Delta,
  deltaFifo,
  type Indexer,
  type KubernetesObject,
  rememberedObjects,
} from 'rx-informer';
import { type OperatorFunction, observeOn, of, pipe, Subject, VirtualTimeScheduler } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import {
  added,
  bookmark,
  deleted,
  lost,
  missed,
  type Pod,
  pod,
  refusal,
  replaced,
  replacing,
  updated,
} from '../delta/pods.ts';
import { isProduction } from '../support/production.ts';
import { bad, brief, refusing, storing } from './sets.ts';

const sync = (object: Pod): Delta<Pod> => ({
  type: 'sync',
  key: object.metadata.name,
  object,
});
const doubted = { trustVersions: false };

describe('applyDeltas: change sets', () => {
  it('S5: in a callback the store, its indices and its version show the complete commit (TestReplaceEvents)', () => {
    const indexer = createIndexer<Pod>({ indexers: { byUid: (it) => [it.metadata.uid] } });
    const source = new Subject<readonly Delta<Pod>[]>();
    const seen: unknown[] = [];
    source.pipe(applyDeltas(indexer)).subscribe((set) => {
      const { size, resourceVersion, rev, synced } = indexer;
      const uids = [...indexer.listIndexFuncValues('byUid')].sort().join();
      const same = indexer.snapshot$.value.rev === rev && set.rev === rev;
      seen.push([brief(set), size, resourceVersion, uids, synced, same]);
      expect(set.resourceVersion).toBe(resourceVersion);
    });
    source.next([replaced([pod('a', 1), pod('b', 2)], 5)]);
    source.next([replaced([pod('c', 6), pod('b', 7)], 9)]);
    source.next([added(pod('d', 10)), deleted(pod('c', 11))]);
    expect(seen).toEqual([
      ['initial*i +a@1 +b@2', 2, '5', 'u-a,u-b', true, true],
      ['relist* -a@1? +c@6 ~b@2>7', 2, '9', 'u-b,u-c', true, true],
      ['watch* -c@11 +d@10', 2, '11', 'u-b,u-d', true, true],
    ]);
  });

  it('S13: an empty list reports that the store is synced, in one empty set (TestReflector_ResetWatch)', () => {
    const { send, indexer } = storing(undefined);
    expect(send(replaced([], 5))).toEqual(['initial*i']);
    expect([indexer.synced, indexer.rev, indexer.resourceVersion]).toEqual([true, 1, '5']);
    expect(send(replaced([], 6))).toEqual([]);
    expect(indexer.resourceVersion).toBe('6');
    // Objects that a later list adds do not belong to the first list.
    expect(send(replaced([pod('a', 7)], 8))).toEqual(['relist* +a@7']);
  });

  it('S13: only a complete list makes the store synced, not an event, a part, a bookmark or an aborted list (TestRealFIFO_HasSynced)', () => {
    const { send, indexer } = storing(undefined);
    expect(indexer.synced).toBe(false);
    const deltas = [
      added(pod('a', 1)),
      bookmark(2),
      replacing([pod('b', 3)]),
      { type: 'replace-abort' } as const,
    ];
    for (const delta of deltas) {
      send(delta);
      expect(indexer.synced).toBe(false);
    }
    expect(send(replaced([pod('a', 1), pod('b', 3)], 5))).toEqual(['initial*i']);
    send(replaced([], 6));
    expect(indexer.synced).toBe(true);
  });

  it('S7: in a set deletions are first, and a recreate is a deletion and an addition', () => {
    const { send } = storing([pod('a', 1), pod('b', 1), pod('c', 1)]);
    const set = send(added(pod('n', 2)), updated(pod('a', 3)), deleted(pod('c', 4)));
    expect(set).toEqual(['watch* -c@4 +n@2 ~a@1>3']);
    expect(send(replaced([pod('a', 9, 'a2'), pod('b', 1), pod('n', 2)], 9))).toEqual([
      'relist* -a@3? +a@9',
    ]);
    // The deletion was missed, and the server reports the new object as an update.
    expect(send(updated(pod('b', 10, 'b2')))).toEqual(['watch* -b@1? +b@10']);
  });
});

describe('applyDeltas: effects of deltas', () => {
  it.each<[string, Delta<Pod>[], string[]]>([
    ['added, unknown', [added(pod('n', 5))], ['watch* +n@5']],
    ['added, known', [added(pod('a', 5))], ['watch* ~a@1>5']],
    ['updated, unknown', [updated(pod('n', 5))], ['watch* +n@5']],
    ['updated, known', [updated(pod('a', 5))], ['watch* ~a@1>5']],
    ['updated, unchanged', [updated(pod('a', 1))], []],
    ['updated, another UID', [updated(pod('a', 5, 'a2'))], ['watch* -a@1? +a@5']],
    ['deleted, known', [deleted(pod('a', 5))], ['watch* -a@5']],
    ['deleted, without a state', [lost('a')], ['watch* -a@1?']],
    ['deleted, unknown', [deleted(pod('n', 5))], []],
    ['deletion missed', [missed(pod('a', 1))], ['watch* -a@1?']],
    ['synced, known', [sync(pod('a', 1))], ['resync* ~a@1>1']],
    ['synced, unknown', [sync(pod('n', 1))], []],
    [
      'deleted, then added',
      [deleted(pod('a', 5)), added(pod('a', 6, 'a2'))],
      ['watch* -a@5', 'watch* +a@6'],
    ],
    ['deleted, then missed', [deleted(pod('a', 5)), missed(pod('a', 4))], ['watch* -a@5']],
    ['deleted, another UID', [deleted(pod('a', 5, 'a2'))], ['watch* -a@1?']],
  ])('S8: existence in the store decides, not the verb: %s', (_case, deltas, expected) => {
    const { send, indexer } = storing([pod('a', 1)]);
    expect(send(...deltas)).toEqual(expected);
    const there = deltas.findLast((delta) => 'key' in delta);
    if (there && 'key' in there && there.type !== 'sync') {
      expect(indexer.has(there.key)).toBe(there.type !== 'deleted');
    }
  });

  it('S9: if versions cannot be trusted, the content decides', () => {
    const { send, indexer } = storing([pod('a', 5), pod('b', 5), pod('c', '')]);
    const [a, b, c] = ['a', 'b', 'c'].map((key) => indexer.get(key));
    const other = { ...pod('b', 5), kind: 'Pod' };
    const relist = [pod('a', 5), other, pod('c', '')];
    expect(send(replaced(relist, 6))).toEqual([]);
    expect(indexer.get('b')).toBe(b);
    expect(send(replaced(relist, 3, doubted))).toEqual(['relist* ~b@5>5']);
    expect(indexer.get('b')).toEqual(other);
    expect([indexer.get('a'), indexer.get('c')]).toEqual([a, c]);
    expect(indexer.get('a')).toBe(a);
    // For objects without a version the content always decides.
    const changed = { ...pod('c', ''), kind: 'Pod' };
    expect(send(replaced([pod('a', 5), other, changed], 7))).toEqual(['relist* ~c@>']);
  });

  it.each(['0', '7'])(
    'S9: the content of a watch event decides under the equal version %s',
    (version) => {
      const { send, indexer } = storing([pod('a', version)]);
      const a = indexer.get('a');
      expect(send(updated(pod('a', version)))).toEqual([]);
      expect(indexer.get('a')).toBe(a);
      const changed = { ...pod('a', version), kind: 'Pod' };
      expect(send(updated(changed))).toEqual([`watch* ~a@${version}>${version}`]);
      expect(indexer.get('a')).toEqual(changed);
    },
  );

  it('S9: the version 0 names no state, so the content decides in a list, too', () => {
    const { send, indexer } = storing([pod('a', '0')]);
    const changed = { ...pod('a', '0'), kind: 'Pod' };
    expect(send(replaced([changed], 9))).toEqual(['relist* ~a@0>0']);
    expect(indexer.get('a')).toEqual(changed);
  });

  it('S9, S60: a watch event without a version that changes nothing keeps the stored object and notifies nobody', () => {
    const { send, indexer } = storing([pod('a', '')]);
    const [a, rev] = [indexer.get('a'), indexer.rev];
    expect(send(updated(pod('a', '')))).toEqual([]);
    expect(indexer.get('a')).toBe(a);
    expect(indexer.rev).toBe(rev);
    expect(send(updated({ ...pod('a', ''), kind: 'Pod' }))).toEqual(['watch* ~a@>']);
    expect(indexer.get('a')?.metadata).toBe(a?.metadata);
  });

  it('S9, S60: an object whose versions cannot be trusted and whose members are in another order is unchanged', () => {
    const { send, indexer } = storing([{ kind: 'Pod', ...pod('a', 5) }]);
    const a = indexer.get('a');
    expect(send(replaced([{ ...pod('a', 5), kind: 'Pod' }], 3, doubted))).toEqual([]);
    expect(indexer.get('a')).toBe(a);
  });

  it('S60: an object with the unchanged parts is stored itself, and so is one with another UID; a refused object is merged when it is retried', () => {
    const refuses = { on: false };
    const indexers = {
      kind: (object: Pod) => {
        if (refuses.on) throw new Error('no');
        return [object.kind ?? ''];
      },
    };
    const spec = (size: number) => ({ size, ports: [{ n: 1 }] });
    const make = (version: number, size: number): Pod =>
      Object.assign(pod('a', version), { spec: spec(size) });
    const { send, indexer, refusals } = storing([make(1, 1)], {}, { indexers });
    type Sized = Pod & { spec: ReturnType<typeof spec> };
    const first = indexer.get('a') as Sized;
    const second = { ...make(2, 1), spec: first.spec };
    send(updated(second));
    expect(indexer.get('a')).toBe(second);
    refuses.on = true;
    const third = make(3, 2);
    send(updated(third));
    expect(indexer.get('a')).toBe(second);
    expect(refusals.map(({ object }) => object)).toEqual([third]);
    refuses.on = false;
    send({ type: 'retry' });
    const stored = indexer.get('a') as Sized;
    expect(stored).toEqual(third);
    expect(stored.spec.ports).toBe(first.spec.ports);
    // Another object with the same name is not merged, even if the deletion event was missed.
    const successor = Object.assign(pod('a', 9, 'another'), { spec: spec(2) });
    send(updated(successor));
    expect(indexer.get('a')).toBe(successor);
  });

  it('S9: in a store that an earlier run has filled the content decides, because the server may have been restored since', () => {
    const { indexer } = storing([pod('a', 5), pod('b', 5)]);
    const [a] = [indexer.get('a')];
    const source = new Subject<readonly Delta<Pod>[]>();
    const emitted: string[] = [];
    source.pipe(applyDeltas(indexer)).subscribe((set) => emitted.push(brief(set)));
    const other = { ...pod('b', 5), kind: 'Pod' };
    source.next([replaced([pod('a', 5), other], 6)]);
    source.next([replaced([pod('a', 5), pod('b', 5)], 7)]);
    expect(emitted).toEqual(['initial*i ~b@5>5']);
    expect(indexer.get('a')).toBe(a);
    expect(indexer.get('b')).toEqual(other);
  });

  it('S9, S8: the key identifies objects without a UID', () => {
    const bare = (key: string, kind: string): Pod => ({ ...pod(key, '', ''), kind });
    const { send, sets, indexer, source } = storing([bare('a', 'one')]);
    source.next([updated(bare('a', 'two')), deleted(bare('a', 'two')), added(bare('a', 'three'))]);
    expect(sets.flatMap(({ changes }) => changes.map(({ id }) => id))).toEqual(['a', 'a', 'a']);
    sets.length = 0;
    expect(indexer.get('a')?.kind).toBe('three');
    expect(send(replaced([bare('a', 'three')], 5))).toEqual([]);
  });

  it('S7, T7: if the last state cannot be frozen, the deletion carries the stored state, and the rest of the commit is applied', () => {
    const { send, indexer } = storing([pod('a', 1)]);
    const unreadable = Object.defineProperty({}, 'phase', {
      enumerable: true,
      get: () => {
        throw new Error('unreadable');
      },
    });
    const last = Object.assign(pod('a', 5), { status: unreadable });
    // A production program freezes nothing, so nothing fails.
    const version = isProduction ? 5 : 1;
    expect(send(added(pod('b', 4)), deleted(last))).toEqual([`watch* -a@${version} +b@4`]);
    expect(indexer.listKeys()).toEqual(['b']);
  });

  it('S7, R5: the deletion of an object between two parts of the first list was not missed', () => {
    const { send, indexer } = storing(undefined);
    expect(send(replacing([pod('a', 1), pod('b', 1)]))).toEqual(['initiali +a@1 +b@1']);
    expect(send(replacing([], { removed: ['a'] }))).toEqual(['initiali -a@1']);
    expect(indexer.listKeys()).toEqual(['b']);
  });

  it('F9: a list of some shards deletes no object and releases no refused object of others', () => {
    const indexer = createIndexer<Pod>();
    const source = new Subject<readonly Delta<Pod>[]>();
    const sets: string[] = [];
    source.pipe(applyDeltas(indexer)).subscribe((set) => sets.push(brief(set)));
    const refused = (name: string): Delta<Pod> => ({
      type: 'refused',
      key: name,
      refused: refusal(pod(name, 2)),
    });
    source.next([replaced([pod('mine', 1), pod('lost', 1), pod('other', 1)], 5)]);
    source.next([refused('mine-refused'), refused('other-refused')]);
    sets.length = 0;
    const within = {
      contains: ({ metadata }: KubernetesObject) => metadata?.name !== 'other',
      containsRefused: ({ key }: { readonly key: string }) => key !== 'other-refused',
    };
    source.next([replaced([pod('mine', 1)], 9, { within })]);
    expect(sets).toEqual(['relist* -lost@1?']);
    expect([...indexer.refused.keys()]).toEqual(['other-refused']);
  });
});

describe('applyDeltas: versions', () => {
  it('S11: the version follows the last applied object, bookmark or list, in the order of the queue (TestThreadSafeStoreRV, TestStoreResourceVersion)', () => {
    const { send, indexer } = storing([pod('a', 1)]);
    const versions = (...deltas: Delta<Pod>[]) => {
      send(...deltas);
      return indexer.resourceVersion;
    };
    expect(versions()).toBe('1');
    expect(versions(added(pod('b', 3)))).toBe('3');
    expect(versions(updated(pod('b', 5)), bookmark(8))).toBe('8');
    expect(versions(deleted(pod('b', 9)))).toBe('9');
    // Older events, tombstones, deletions without a state and parts of a list do not move the version.
    expect(versions(updated(pod('a', 4)), missed(pod('a', 99)), lost('a'))).toBe('9');
    expect(versions(replacing([pod('z', 77)]), bookmark(2))).toBe('9');
    expect(versions(replaced([pod('a', 12)], 11))).toBe('11');
    expect(versions(replaced([pod('a', 4)], 5, doubted))).toBe('5');
    expect(versions(updated(pod('a', 6)))).toBe('6');
  });

  it('S11, I62: a refused state and the deletion of one move the version, except of an object whose shard arrives', () => {
    const { send, indexer } = storing([pod('a', 1)]);
    const versions = (...deltas: Delta<Pod>[]) => {
      send(...deltas);
      return indexer.resourceVersion;
    };
    const refused = (version: number, cause?: 'rebalance'): Delta<Pod> => {
      return { type: 'refused', key: 'a', refused: refusal(pod('a', version)), cause };
    };
    expect(versions(refused(3))).toBe('3');
    expect([versions(refused(2)), versions(refused(9, 'rebalance'))]).toEqual(['3', '3']);
    expect(versions({ ...lost('a'), resourceVersion: '10' } as Delta<Pod>)).toBe('10');
    const left = { ...lost('b'), resourceVersion: '12', cause: 'rebalance' };
    expect(versions(left as Delta<Pod>)).toBe('10');
    expect(indexer.size).toBe(0);
  });

  it('S11: a bookmark emits no change set, and an object without a version does not move the version (TestStoreResourceVersionWithNonMetaTransform)', () => {
    let commits = 0;
    const { send, indexer } = storing([pod('a', 1)], { onCommitted: () => commits++ });
    const { rev } = indexer;
    expect(send(bookmark(5))).toEqual([]);
    expect([indexer.resourceVersion, indexer.rev, commits]).toEqual(['5', rev, 2]);
    expect(send(added(pod('b', '')))).toEqual(['watch* +b@']);
    expect(indexer.resourceVersion).toBe('5');
  });

  it('S11, S13: with several scopes the oldest version counts, and the store is synced after the first list of each', () => {
    const { send, indexer } = storing(undefined, { scopes: ['shop', 'lab'] });
    expect(send(replaced([pod('shop/a', 3)], 5, { scope: 'shop' }))).toEqual([
      'initiali +shop/a@3',
    ]);
    expect([indexer.resourceVersion, indexer.synced]).toEqual(['', false]);
    expect(send(updated(pod('shop/a', 6)))).toEqual(['watch ~shop/a@3>6']);
    expect(send(replaced([], 4, { scope: 'lab' }))).toEqual(['initial*i']);
    expect([indexer.resourceVersion, indexer.synced]).toEqual(['4', true]);
    send(added(pod('lab/a', 9)));
    expect(indexer.resourceVersion).toBe('6');
    send({ ...bookmark(12), scope: 'shop' } as Delta<Pod>);
    expect(indexer.resourceVersion).toBe('9');
    expect(send(replaced([], 13, { scope: 'shop' }))).toEqual(['relist* -shop/a@6?']);
    expect(indexer.listKeys()).toEqual(['lab/a']);
  });
});

describe('applyDeltas: refused objects', () => {
  const strict = { indexers: { refusing } };

  it.each<[string, Delta<Pod>[], string[], string[]]>([
    ['no object', [added(pod('b', 2)), added(pod('c', 3))], ['watch* +b@2 +c@3'], []],
    ['all objects', [added(bad('b', 2)), added(bad('c', 3))], [], ['b', 'c']],
    [
      'some objects',
      [added(bad('b', 2)), added(pod('c', 3)), added(bad('d', 4))],
      ['watch* +c@3'],
      ['b', 'd'],
    ],
    ['a stored object, whose stored state stays', [updated(bad('a', 2))], [], ['a']],
    [
      'some objects of a list',
      [replaced([bad('a', 2), bad('b', 2), pod('c', 2)], 5)],
      ['relist* +c@2'],
      ['a', 'b'],
    ],
  ])(
    'S12: if the index function refuses %s, the refused ones are reported and the others are stored (TestProcessDeltasInBatch)',
    (_case, deltas, emitted, refused) => {
      const { send, refusals, indexer } = storing([pod('a', 1)], {}, strict);
      expect(send(...deltas)).toEqual(emitted);
      expect(refusals.map(({ key }) => key)).toEqual(refused);
      for (const { object, error } of refusals) {
        expect(object.metadata.uid).toBe('bad');
        expect(error).toEqual(new Error('bad object'));
      }
      expect(indexer.get('a')).toEqual(pod('a', 1));
      expect(indexer.listIndexFuncValues('refusing')).toEqual(indexer.listKeys());
    },
  );

  it('S12: an object without a name is refused at any place in a batch, and the others are stored in order (TestRealFIFO_PopBrokenItemsInBatch)', () => {
    const broken = { metadata: { uid: 'x', resourceVersion: '2' } } as Pod;
    const delta = { type: 'added', key: '', object: broken } as const;
    const [b, c] = [added(pod('b', 3)), added(pod('c', 4))];
    for (const deltas of [
      [delta, b, c],
      [b, delta, c],
      [b, c, delta],
    ]) {
      const { send, refusals } = storing([pod('a', 1)]);
      expect(send(...deltas)).toEqual(['watch* +b@3 +c@4']);
      expect(refusals.map(({ object }) => object)).toEqual([broken]);
    }
    const { send, refusals } = storing([pod('a', 1)]);
    expect(send(replaced([broken, pod('a', 1), pod('b', 2)], 9))).toEqual(['relist* +b@2']);
    expect(refusals).toHaveLength(1);
  });

  it.each([[[null]], [[{}]], [{}], [{ find: 1 }], ['x'], [null]])(
    'S12: an object that an index function refuses does not affect its batch if its owner references are %j',
    (ownerReferences) => {
      const broken = pod('b', 2);
      Object.assign(broken.metadata, { ownerReferences });
      const picky = () => {
        throw new Error('bad object');
      };
      const index = (object: Pod) => (object === broken ? picky() : []);
      const { send, indexer } = storing([pod('a', 1)], {}, { indexers: { index } });
      expect(send(added(broken), added(pod('c', 3)))).toEqual(['watch* +c@3']);
      expect(indexer.refused.get('b')?.controllerUid).toBe('');
    },
  );

  it('S22: a commit that fails as a whole is undone and ends the stream, and no later one is applied', () => {
    const unreadable = Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no message');
      },
    });
    const index = ({ metadata }: Pod) => {
      if (metadata.name === 'b') throw unreadable;
      return [];
    };
    const indexer = createIndexer<Pod>({ indexers: { index } });
    const source = new Subject<readonly Delta<Pod>[]>();
    const seen: string[] = [];
    source.pipe(applyDeltas(indexer)).subscribe({
      next: (set) => seen.push(brief(set)),
      error: (error: Error) => seen.push(error.message),
    });
    source.next([replaced([pod('a', 1)], 1)]);
    source.next([added(pod('c', 2)), added(pod('b', 3))]);
    source.next([added(pod('d', 4))]);
    expect(seen).toEqual(['initial*i +a@1', 'no message']);
    expect([indexer.listKeys(), indexer.resourceVersion]).toEqual([['a'], '1']);
  });

  it('S12: a refused object is not stored, also without `onRefused`', () => {
    const indexer = createIndexer<Pod>(strict);
    of([added(bad('a', 1)), added(pod('b', 2))])
      .pipe(applyDeltas(indexer))
      .subscribe();
    expect(indexer.listKeys()).toEqual(['b']);
  });
});

describe('applyDeltas and keys', () => {
  it('F12: a store with another key function is refused', () => {
    const byUid = createIndexer<{ metadata: { uid: string } }>({
      keyOf: ({ metadata }) => metadata.uid,
    });
    expect(() => applyDeltas(byUid)).toThrow(/applyDeltas: deltas are keyed by namespace\/name/);
    expect(() => deltaFifo({ known: byUid })).toThrow(/deltaFifo: deltas are keyed/);
    expect(() => applyDeltas(createIndexer())).not.toThrow();
  });
});

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
