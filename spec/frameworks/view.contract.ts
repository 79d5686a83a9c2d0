/**
 * What a page needs of a view, whatever framework draws it. Each framework reads the view with the code of docs/guide/frameworks.md, and
 * must pass the same tests.
 */
import { type ChangeSet, toView, type View } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { Observable, type Subscriber } from 'rxjs';
import { expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';

/** A component that reads a view. */
export interface Mounted {
  /** The rows that the component has drawn last. */
  readonly rows: () => readonly Pod[];
  /** How often the component was drawn. */
  readonly drawn: () => number;
  readonly unmount: () => void;
}

/** Mounts a component. */
export type Mount = (view: View<Pod>) => Mounted;

export interface Framework {
  readonly mount: Mount;
  /** Whether the component can have the rows when it is drawn for the first time; not so with async iteration. */
  readonly isSynchronous?: boolean;
}

export function pod(name: string, phase = 'Running'): Pod {
  return {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' },
    status: { phase },
  };
}

/** A source of change sets that counts its subscribers. */
export function countedSource() {
  const open = new Set<Subscriber<ChangeSet<Pod>>>();
  let begun = 0;
  const held = new Map<string, Pod>();
  const source$ = new Observable<ChangeSet<Pod>>((subscriber) => {
    begun += 1;
    open.add(subscriber);
    subscriber.next(changeSet({ added: [...held.values()], reset: true, synced: true }));
    return () => open.delete(subscriber);
  });
  /** Sends the objects in one change set. */
  const put = (...objects: readonly Pod[]) => {
    const added: Pod[] = [];
    const updated: { previous: Pod; object: Pod }[] = [];
    for (const object of objects) {
      const name = object.metadata?.name ?? '';
      const previous = held.get(name);
      held.set(name, object);
      if (previous === undefined) added.push(object);
      else updated.push({ previous, object });
    }
    for (const subscriber of open) subscriber.next(changeSet({ added, updated }));
  };
  return { view: toView(source$), put, subscribers: () => open.size, begun: () => begun };
}

const names = (mounted: Mounted) => mounted.rows().map(({ metadata }) => metadata?.name);
/** A task after those that are queued: frameworks draw in microtasks, in tasks, or in those of a message channel. */
const nextTask = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      setImmediate(resolve);
    };
    port2.postMessage(undefined);
  });
const settle = async () => {
  for (let turn = 0; turn < 5; turn += 1) await nextTask();
};

/** Declares the tests of one framework. */
export function followsTheContract({ mount, isSynchronous = true }: Framework): void {
  it('V40: shows the rows of a view, and draws again after a change', async () => {
    const { view, put } = countedSource();
    put(pod('a'));
    const component = mount(view);
    await eventually(() => expect(names(component)).toEqual(['a']));
    put(pod('b'));
    await eventually(() => expect(names(component)).toEqual(['a', 'b']));
    component.unmount();
  });

  it.runIf(isSynchronous)('V40: draws the rows of a running view at once', async () => {
    const { view, put } = countedSource();
    put(pod('a'));
    const leave = view.subscribe(() => undefined);
    const component = mount(view);
    expect(names(component)).toEqual(['a']);
    component.unmount();
    leave();
  });

  it('V41: an unchanged row stays the same object, and a changed one is another', async () => {
    const { view, put } = countedSource();
    for (const name of ['a', 'b']) put(pod(name));
    const component = mount(view);
    await eventually(() => expect(names(component)).toEqual(['a', 'b']));
    const [a, b] = component.rows();
    put(pod('b', 'Failed'));
    await eventually(() => expect(component.rows()[1]?.status?.phase).toBe('Failed'));
    expect(component.rows()[0]).toBe(a);
    expect(component.rows()[1]).not.toBe(b);
    component.unmount();
  });

  it('V41: draws once for all changes of a change set, and not at all without a change', async () => {
    const { view, put } = countedSource();
    const all = Array.from({ length: 50 }, (_, at) => `pod-${at}`);
    put(...all.map((name) => pod(name)));
    const component = mount(view);
    await eventually(() => expect(names(component)).toEqual(all));
    await settle();
    const before = component.drawn();
    await settle();
    expect(component.drawn()).toBe(before);
    put(...all.map((name) => pod(name, 'Failed')));
    await eventually(() => expect(component.rows()[49]?.status?.phase).toBe('Failed'));
    await settle();
    expect(component.drawn()).toBe(before + 1);
    component.unmount();
  });

  it('V43: two components subscribe to the source once, and the last that leaves unsubscribes', async () => {
    const { view, put, subscribers, begun } = countedSource();
    put(pod('a'));
    const [first, second] = [mount(view), mount(view)];
    await eventually(() => expect([names(first), names(second)]).toEqual([['a'], ['a']]));
    expect([subscribers(), begun()]).toEqual([1, 1]);
    first.unmount();
    await settle();
    expect(subscribers()).toBe(1);
    put(pod('b'));
    await eventually(() => expect(names(second)).toEqual(['a', 'b']));
    second.unmount();
    await eventually(() => expect(subscribers()).toBe(0));
    put(pod('c'));
    await settle();
    expect(names(second)).toEqual(['a', 'b']);
  });

  it('V43: a component that is mounted again shows what changed in between', async () => {
    const { view, put } = countedSource();
    put(pod('a'));
    const first = mount(view);
    await eventually(() => expect(names(first)).toEqual(['a']));
    first.unmount();
    await settle();
    put(pod('b'));
    const second = mount(view);
    await eventually(() => expect(names(second)).toEqual(['a', 'b']));
    second.unmount();
  });
}
