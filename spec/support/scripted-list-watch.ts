/** A ListerWatcher that a test controls: lists are answered on demand, watches are subjects. */

import {
  createSharedInformer,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  type ListRequest,
  type SharedInformer,
  type SharedInformerOptions,
  type WatchEvent,
  type WatchRequest,
  type WatchSignal,
} from 'rx-informer';
import { Observable, Subject, type Subscriber } from 'rxjs';
import { onTestFinished } from 'vitest';

export interface Pod extends KubernetesObject {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
  };
}

/** `pod('web', 5)` is shop/web at version 5; its UID is its name. */
export function pod(name: string, version: number | string, uid = name, namespace = 'shop'): Pod {
  return { metadata: { name, namespace, uid, resourceVersion: String(version) } };
}

export const key = (object: Pod): string => `${object.metadata.namespace}/${object.metadata.name}`;
export const added = (object: Pod): WatchEvent<Pod> => ({
  type: 'ADDED',
  key: key(object),
  object,
});
export const modified = (object: Pod): WatchEvent<Pod> => ({
  type: 'MODIFIED',
  key: key(object),
  object,
});
export const deleted = (object: Pod): WatchEvent<Pod> => ({
  type: 'DELETED',
  key: key(object),
  object,
  resourceVersion: object.metadata.resourceVersion,
});
export const bookmark = (version: number, initialEventsEnd = false): WatchEvent<Pod> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd,
});

export interface ScriptedListWatch extends ListerWatcher<Pod> {
  /** The requests in their order, such as `L0` and `W5`. */
  readonly asked: string[];
  /** The number of open requests. */
  readonly open: number;
  /** Answers the oldest waiting list, or the next list if none waits. */
  listed(version: number, ...objects: Pod[]): void;
  /** Sends events to every open watch. */
  send(...events: WatchEvent<Pod>[]): void;
  /** Ends every open watch with this error. */
  fail(error: unknown): void;
  /** Ends the oldest waiting list with this error. */
  failList(error: unknown): void;
  close(): void;
}

export function scriptedListWatch(scope?: string): ScriptedListWatch {
  const asked: string[] = [];
  const ready: ListPart<Pod>[] = [];
  const lists: Subscriber<ListPart<Pod>>[] = [];
  const watches = new Set<Subject<WatchSignal<Pod>>>();
  let open = 0;
  const answer = (subscriber: Subscriber<ListPart<Pod>>, part: ListPart<Pod>) => {
    subscriber.next(part);
    subscriber.complete();
  };
  return {
    ...(scope === undefined ? {} : { scope }),
    watchList: false,
    asked,
    get open() {
      return open;
    },
    list: ({ resourceVersion }: ListRequest<Pod>) =>
      new Observable<ListPart<Pod>>((subscriber) => {
        asked.push(`L${resourceVersion}`);
        open++;
        subscriber.add(() => open--);
        const part = ready.shift();
        if (part === undefined) lists.push(subscriber);
        else answer(subscriber, part);
      }),
    watch: ({ resourceVersion }: WatchRequest<Pod>) =>
      new Observable<WatchSignal<Pod>>((subscriber) => {
        asked.push(`W${resourceVersion}`);
        const subject = new Subject<WatchSignal<Pod>>();
        watches.add(subject);
        open++;
        subscriber.add(() => {
          watches.delete(subject);
          open--;
        });
        subscriber.next({ kind: 'opened' });
        subscriber.add(subject.subscribe(subscriber));
      }),
    listed(version, ...items) {
      const part = { items, metadata: { resourceVersion: String(version) } };
      const waiting = lists.shift();
      if (waiting === undefined) ready.push(part);
      else answer(waiting, part);
    },
    send(...events) {
      for (const watch of [...watches]) watch.next({ kind: 'events', events });
    },
    fail(error) {
      for (const watch of [...watches]) watch.error(error);
    },
    failList(error) {
      lists.shift()?.error(error);
    },
    close() {
      for (const watch of [...watches]) watch.complete();
    },
  };
}

/** An informer that is stopped when the test ends, and the ListerWatcher that the test controls. */
export function scriptedInformer(options?: SharedInformerOptions<Pod>): {
  readonly source: ScriptedListWatch;
  readonly informer: SharedInformer<Pod>;
} {
  const source = scriptedListWatch();
  const informer = createSharedInformer<Pod>(source, options);
  onTestFinished(() => informer.stop());
  return { source, informer };
}
