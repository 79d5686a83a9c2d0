/** Tests the overlay of edits between informers and queries: that its sets are correct, and when it ends. */

import {
  type ChangeSet,
  createClient,
  createInformerFactory,
  type KubernetesObject,
  liveQuery,
  type Stored,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { changeSet, createFakeApiServer, inTurn } from 'rx-informer/testing';
import { Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EditableLayer } from '../../../lib/factory/edits/editable-layer.ts';
import { Overlay, type ShownDraft } from '../../../lib/factory/edits/overlay.ts';
import { overlayOf } from '../../../lib/react/edit/provided-edits.ts';
import { createProvided } from '../../../lib/react/provided.ts';
import { querySourcesOf } from '../../../lib/react/query-sources.ts';
import * as fc from '../../support/fast-check.ts';
import { eventually } from '../../support/patience.ts';
import { projections } from '../../support/projections.ts';

type Scaled = Stored<KubernetesObject> & { readonly spec: { readonly replicas: number } };

const scaled = (uid: string, resourceVersion: number, replicas: number): Scaled =>
  ({
    metadata: { name: uid, uid, resourceVersion: String(resourceVersion) },
    spec: { replicas },
  }) as never;

/** A source with its own copy, and a consumer that applies the sets that pass the overlay. */
function createSource(layer: EditableLayer) {
  const changes$ = new Subject<ChangeSet<KubernetesObject>>();
  const store = new Map<string, Scaled>();
  const shown = new Map<string, Scaled>();
  const changed: string[] = [];
  let sets = 0;
  const subscription = layer
    .pass(changes$, (key) => store.get(key))
    .subscribe(({ reset, changes }) => {
      sets++;
      if (reset) shown.clear();
      for (const { id, previous, object } of changes) {
        if (!reset) expect(previous).toBe(shown.get(id));
        if (object === undefined) shown.delete(id);
        else {
          shown.set(id, object as Scaled);
          changed.push(`${id}=${(object as Scaled).spec.replicas}`);
        }
      }
    });
  const put = (object: Scaled) => {
    const { uid } = object.metadata as { uid: string };
    const previous = store.get(uid);
    store.set(uid, object);
    changes$.next(
      previous === undefined
        ? changeSet({ added: [object] })
        : changeSet({ updated: [{ previous, object }] }),
    );
  };
  return {
    store,
    put,
    remove(uid: string) {
      const object = store.get(uid);
      if (!store.delete(uid) || object === undefined) return;
      changes$.next(changeSet({ deleted: [object] }));
    },
    reset: () => changes$.next(changeSet({ added: [...store.values()], reset: true })),
    replicas: () => [...shown].map(([uid, { spec }]) => `${uid}=${spec.replicas}`).join(),
    shown,
    changes: changed,
    sets: () => sets,
    subscription,
  };
}

describe('the overlay', () => {
  const create = () => {
    const overlay = new Overlay();
    const layer = new EditableLayer();
    layer.cover(overlay);
    return { overlay, layer };
  };
  const start = () => {
    const { overlay, layer } = create();
    const source = createSource(layer);
    source.reset();
    source.put(scaled('a', 5, 1));
    const draft = overlay.begin(scaled('a', 5, 1), scaled('a', 5, 4));
    return { overlay, layer, source, draft };
  };

  it('V12: an echo before the answer does not apply the draft twice', () => {
    const { overlay, source, draft } = start();
    source.put(scaled('a', 7, 4));
    const sets = source.sets();
    draft.written(scaled('a', 7, 4));
    expect(source.replicas()).toBe('a=4');
    expect(source.sets()).toBe(sets);
    expect(overlay.isEmpty).toBe(true);
  });

  it('V12: a draft of an object is not shown by a source that has another object of its name already', () => {
    const { overlay, layer } = create();
    const [source, ahead] = [createSource(layer), createSource(layer)];
    for (const each of [source, ahead]) each.reset();
    source.put(scaled('a', 5, 1));
    // Its UID is another one, and its key the same.
    const other = scaled('b', 6, 1);
    ahead.store.set('a', { ...other, metadata: { ...other.metadata, name: 'a' } } as Scaled);
    ahead.reset();
    const sets = ahead.sets();
    const draft = overlay.begin(scaled('a', 5, 1), scaled('a', 5, 4));
    expect([source.replicas(), ahead.replicas()]).toEqual(['a=4', 'b=1']);
    draft.end();
    expect([source.replicas(), ahead.replicas()]).toEqual(['a=1', 'b=1']);
    expect(ahead.sets()).toBe(sets);
  });

  it('V12: each source shows the draft until it has the echo itself', () => {
    const { overlay, layer, source, draft } = start();
    const later = createSource(layer);
    later.reset();
    later.put(scaled('a', 5, 1));
    expect(later.replicas()).toBe('a=4');
    draft.written(scaled('a', 7, 4));
    source.put(scaled('a', 7, 4));
    later.put(scaled('a', 6, 1));
    expect(later.replicas()).toBe('a=4');
    expect(overlay.isEmpty).toBe(false);
    later.subscription.unsubscribe();
    expect(overlay.isEmpty).toBe(true);
  });

  it('V12: a source that joins after the only one has left shows the draft, too', () => {
    const { layer, source } = start();
    source.subscription.unsubscribe();
    const later = createSource(layer);
    later.reset();
    later.put(scaled('a', 5, 1));
    expect(later.replicas()).toBe('a=4');
  });

  it('V12: an answered edit ends with a reset without its object', () => {
    const { overlay, source, draft } = start();
    draft.written(scaled('a', 7, 4));
    source.store.delete('a');
    source.reset();
    expect([source.replicas(), overlay.isEmpty]).toEqual(['', true]);
  });

  it('V3, V12: a row of an edit stays the same object until it changes, also with the answer, another edit and a repeated state', () => {
    const { overlay, layer, source, draft } = start();
    const later = createSource(layer);
    later.reset();
    later.put(scaled('a', 5, 1));
    const shown = source.shown.get('a');
    draft.written(scaled('a', 7, 4));
    source.put(source.store.get('a') as Scaled);
    const other = overlay.begin(scaled('a', 5, 4), scaled('a', 5, 4));
    other.end();
    expect(source.shown.get('a')).toBe(shown);
    const echo = scaled('a', 7, 4);
    for (let times = 0; times < 2; times++) source.put(echo);
    expect(source.shown.get('a')).toBe(echo);
    expect(source.changes).toEqual(['a=1', 'a=4', 'a=4']);
  });

  it('V12: an edit of an object that no source has leaves nothing', () => {
    const { overlay, layer } = create();
    const source = createSource(layer);
    source.reset();
    overlay.begin(scaled('x', 5, 1), scaled('x', 5, 2)).written(scaled('x', 6, 2));
    expect(overlay.isEmpty).toBe(true);
    expect(source.sets()).toBe(1);
  });

  it('V12: sets without edits pass as they are, also after an edit has ended', () => {
    const { layer, overlay } = create();
    const changes$ = new Subject<ChangeSet<KubernetesObject>>();
    const passed: unknown[] = [];
    const [object, written] = [scaled('a', 1, 1), scaled('a', 2, 2)];
    layer.pass(changes$, () => object).subscribe((set) => passed.push(set));
    const set = changeSet({ added: [object] });
    changes$.next(set);
    expect(passed).toEqual([set]);
    const draft = overlay.begin(object, scaled('a', 1, 2));
    draft.written(written);
    changes$.next(changeSet({ updated: [{ previous: object, object: written }] }));
    expect(overlay.isEmpty).toBe(true);
    const next = changeSet({ added: [scaled('b', 3, 1)] });
    changes$.next(next);
    expect(passed.at(-1)).toBe(next);
  });

  it('V12: random events, edits, answers and resets: consumers have the state of the source with the edits', () => {
    const uid = fc.constantFrom('a', 'b');
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom('put', 'remove', 'begin'), uid, replicas: fc.nat(5) }),
      fc.record({ type: fc.constantFrom('written', 'end'), at: fc.nat(3) }),
      fc.record({ type: fc.constant('reset') }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(20), (steps, coverAt) => {
        const overlay = new Overlay();
        const layer = new EditableLayer();
        const source = createSource(layer);
        source.reset();
        const open: (ShownDraft & { readonly uid: string; readonly replicas: number })[] = [];
        let version = 10;
        for (const [at, each] of steps.entries()) {
          // The first edit brings the overlay, and the source may run for long by then.
          if (at === coverAt) layer.cover(overlay);
          if (each.type === 'reset') source.reset();
          else if ('uid' in each) {
            const known = source.store.get(each.uid);
            if (each.type === 'put') {
              version += 2;
              source.put(scaled(each.uid, version, each.replicas));
            } else if (each.type === 'remove') source.remove(each.uid);
            else if (known !== undefined && at >= coverAt) {
              const base = overlay.shown(known);
              const draft = { ...base, spec: { replicas: each.replicas } };
              const { uid, replicas } = each;
              open.push({ uid, replicas, ...overlay.begin(base, draft) });
            }
          } else if ('at' in each) {
            const [edit] = open.splice(each.at, 1);
            if (edit === undefined) continue;
            if (each.type === 'end') edit.end();
            else edit.written(scaled(edit.uid, version + 1, edit.replicas));
          }
          const wanted = [...source.store].map(([id, object]) => [id, overlay.shown(object)]);
          expect(Object.fromEntries(source.shown)).toEqual(Object.fromEntries(wanted));
        }
        for (const { end } of open) end();
        for (const id of ['a', 'b']) source.put(scaled(id, version + 10, 0));
        expect(overlay.isEmpty).toBe(true);
      }),
    );
  });
});

/** Sources of the values 0 and 1 of an index, of which an object has that of its replicas. */
function createIndexed(layer: EditableLayer) {
  const store = new Map<string, Scaled>();
  const all$ = new Subject<ChangeSet<KubernetesObject>>();
  let following = 0;
  const changes$ = new Observable<ChangeSet<KubernetesObject>>((subscriber) => {
    following++;
    subscriber.add(() => following--);
    subscriber.next(changeSet({ reset: true, added: [...store.values()] }));
    subscriber.add(all$.subscribe(subscriber));
  });
  const values = [0, 1].map((value) => {
    const holds = (object: unknown) => (object as Scaled | undefined)?.spec.replicas === value;
    const find = (key: string) => store.get(key);
    const own = (key: string) => (holds(find(key)) ? find(key) : undefined);
    const own$ = new Subject<ChangeSet<KubernetesObject>>();
    const raw = new Map<string, Scaled>();
    const open = () =>
      layer.pass(own$, own, { changes$, find, holds }).subscribe(({ reset, changes }) => {
        if (reset) raw.clear();
        for (const { id, previous, object } of changes) {
          if (!reset) expect(previous).toBe(raw.get(id));
          if (object === undefined) raw.delete(id);
          else raw.set(id, object as Scaled);
        }
      });
    let subscription = open();
    const reset = () =>
      own$.next(changeSet({ reset: true, added: [...store.values()].filter(holds) }));
    const shown = () => Object.fromEntries([...raw].filter(([, object]) => holds(object)));
    const apply = (previous: Scaled | undefined, object: Scaled | undefined) => {
      const [was, is] = [holds(previous), holds(object)];
      if (was && is) own$.next(changeSet({ updated: [{ previous, object } as never] }));
      else if (was) own$.next(changeSet({ deleted: [previous as Scaled] }));
      else if (is) own$.next(changeSet({ added: [object as Scaled] }));
    };
    return {
      holds,
      reset,
      shown,
      apply,
      leave: () => subscription.unsubscribe(),
      reopen() {
        subscription.unsubscribe();
        raw.clear();
        subscription = open();
        reset();
      },
    };
  });
  const set = (uid: string, object: Scaled | undefined, isFirst: boolean) => {
    const previous = store.get(uid);
    if (object === undefined) store.delete(uid);
    else store.set(uid, object);
    const all = () => {
      if (previous === undefined) all$.next(changeSet({ added: object ? [object] : [] }));
      else if (object) all$.next(changeSet({ updated: [{ previous, object }] }));
      else all$.next(changeSet({ deleted: [previous] }));
    };
    // One turn, in which an informer notifies its subscribers in any order.
    inTurn(() => {
      if (isFirst) all();
      for (const value of values) value.apply(previous, object);
      if (!isFirst) all();
    });
  };
  return { store, values, set, following: () => following };
}

describe('the edits over the values of an index', () => {
  it('V12: an object that has a value only by its edit stays there after a reset of that value', () => {
    const overlay = new Overlay();
    const layer = new EditableLayer();
    const { values, set } = createIndexed(layer);
    const [, one] = values;
    for (const value of values) value.reset();
    layer.cover(overlay);
    set('a', scaled('a', 5, 0), true);
    overlay.begin(scaled('a', 5, 0), scaled('a', 5, 1));
    expect(Object.keys(one?.shown() ?? {})).toEqual(['a']);
    one?.reset();
    expect(Object.keys(one?.shown() ?? {})).toEqual(['a']);
  });

  it('V12: random events, edits, answers and mounts: each value has the objects that have it with the edits', () => {
    const uid = fc.constantFrom('a', 'b');
    const replicas = fc.nat(1);
    const isFirst = fc.boolean();
    const at = fc.nat(3);
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom('put', 'remove', 'begin'), uid, replicas, isFirst }),
      fc.record({ type: fc.constantFrom('echo', 'end', 'reset', 'reopen'), at, isFirst }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const overlay = new Overlay();
        const layer = new EditableLayer();
        const { store, values, set, following } = createIndexed(layer);
        for (const value of values) value.reset();
        layer.cover(overlay);
        const open: (ShownDraft & { readonly uid: string; readonly replicas: number })[] = [];
        let version = 10;
        for (const each of steps) {
          version += 2;
          if ('uid' in each) {
            const known = store.get(each.uid);
            if (each.type === 'put')
              set(each.uid, scaled(each.uid, version, each.replicas), each.isFirst);
            else if (each.type === 'remove') set(each.uid, undefined, each.isFirst);
            else if (known !== undefined) {
              const base = overlay.shown(known);
              const draft = { ...base, spec: { replicas: each.replicas } };
              const { uid, replicas } = each;
              open.push({ uid, replicas, ...overlay.begin(base, draft) });
            }
          } else if (each.type === 'reset') values[each.at % 2]?.reset();
          else if (each.type === 'reopen') values[each.at % 2]?.reopen();
          else {
            const [edit] = open.splice(each.at, 1);
            if (edit === undefined) continue;
            if (each.type === 'end') edit.end();
            else {
              const object = scaled(edit.uid, version, edit.replicas);
              edit.written(object);
              if (store.has(edit.uid)) set(edit.uid, object, each.isFirst);
            }
          }
          for (const { holds, shown } of values) {
            const objects = [...store].map(([id, object]) => [id, overlay.shown(object)] as const);
            const wanted = objects.filter(([, object]) => holds(object));
            expect(shown()).toEqual(Object.fromEntries(wanted));
          }
        }
        for (const { end } of open) end();
        for (const id of ['a', 'b']) set(id, scaled(id, version + 10, 0), true);
        expect([overlay.isEmpty, following()]).toEqual([true, 0]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the queries of a provider', () => {
  it('V12: a draft shows in the queries of complete objects, and not in those of the metadata', async () => {
    const server = createFakeApiServer();
    const made = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const factory = createInformerFactory(client, { lingerMs: 0, projections });
    const provided = createProvided({ client, factory });
    const { queries } = provided.part(querySourcesOf);
    const complete = queries.channelOf(liveQuery({ from: pods })).view;
    const metadata = queries.channelOf(liveQuery({ from: pods, as: 'metadata' })).view;
    const leaves = [complete, metadata].map((view) => view.subscribe(() => undefined));
    factory.start();
    await factory.whenSynced();
    const draft = { ...made, spec: { nodeName: 'node-1' } };
    await eventually(() => expect(metadata.getSnapshot().rows).toHaveLength(1));
    const overlay = provided.part(overlayOf);
    const { end } = overlay.begin(made, draft);
    await eventually(() =>
      expect(complete.getSnapshot().rows[0]).toHaveProperty('spec.nodeName', 'node-1'),
    );
    expect(metadata.getSnapshot().rows[0]).toMatchObject({ kind: 'PartialObjectMetadata' });
    expect(metadata.getSnapshot().rows[0]).not.toHaveProperty('spec');
    end();
    for (const leave of leaves) leave();
    await factory.stop();
  });
});
