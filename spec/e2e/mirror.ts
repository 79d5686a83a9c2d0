/**
 * A consumer that relies on its notifications only. It folds change sets, handler calls and statuses, and records
 * every contradiction to an earlier notification. Store, indices and both folds must equal a GET in the end.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  addEventHandler,
  type ChangeSet,
  compareResourceVersion,
  type InformerStatus,
  type KubernetesObject,
  NAMESPACE_INDEX,
  type Resource,
  resourcePath,
  type SharedInformer,
} from 'rx-informer';
import { firstValueFrom, type Observable } from 'rxjs';
import { filter } from 'rxjs/operators';
import { expect } from 'vitest';
import type { RawApi } from './raw-api.ts';

// Checks the notifications of one consumer for each UID: add → update* → delete, with versions that never decrease.

interface Life {
  readonly version: string;
  readonly epoch: number;
  readonly ended: boolean;
}

/** Records each inconsistent notification. */
class Lives {
  readonly #what: string;
  readonly #wrong: string[];
  readonly #lives = new Map<string, Life>();
  #epoch = 0;

  constructor(what: string, wrong: string[]) {
    this.#what = what;
    this.#wrong = wrong;
  }

  /** Notes that the server restored a backup, after which each UID may begin again. */
  restored(): void {
    this.#epoch++;
  }

  add(object: KubernetesObject): void {
    const known = this.#at(object);
    if (known !== undefined)
      this.#fail(known.ended ? 'added after its deletion' : 'added twice', object);
    this.#put(object, false);
  }

  update(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined) this.#fail('updated, but never added', object);
    else if (known.ended) this.#fail('updated after its deletion', object);
    else if (known.epoch === this.#epoch && known.version === object.metadata?.resourceVersion) {
      this.#fail('updated to the same version', object);
    }
    this.#later(object);
    this.#put(object, false);
  }

  delete(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined) this.#fail('deleted, but never added', object);
    else if (known.ended) this.#fail('deleted twice', object);
    this.#later(object);
    this.#put(object, true);
  }

  /** The known life of an object in this epoch. */
  #at({ metadata }: KubernetesObject): Life | undefined {
    const known = this.#lives.get(metadata?.uid ?? '');
    // An object that was deleted before the restore may exist again.
    return known?.ended && known.epoch < this.#epoch ? undefined : known;
  }

  #later(object: KubernetesObject): void {
    const known = this.#lives.get(object.metadata?.uid ?? '');
    if (known === undefined || known.epoch < this.#epoch) return;
    if (compareResourceVersion(object.metadata?.resourceVersion ?? '', known.version) === -1) {
      this.#fail(`is older than ${known.version}`, object);
    }
  }

  #put({ metadata }: KubernetesObject, ended: boolean): void {
    const version = metadata?.resourceVersion ?? '';
    this.#lives.set(metadata?.uid ?? '', { version, epoch: this.#epoch, ended });
  }

  #fail(what: string, { metadata }: KubernetesObject): void {
    const { namespace, name, uid, resourceVersion } = metadata ?? {};
    this.#wrong.push(`${this.#what}: ${namespace}/${name} ${uid}@${resourceVersion} ${what}`);
  }
}

/** Resolves to the first value that `test` accepts. */
export function until<V>(values: Observable<V>, test: (value: V) => boolean): Promise<V> {
  return firstValueFrom(values.pipe(filter(test)));
}

/** The folded notifications. */
export interface Mirror<T extends KubernetesObject> {
  readonly objects: ReadonlyMap<string, T>;
  /** The folded calls of an event handler. */
  readonly handled: ReadonlyMap<string, T>;
  readonly statuses: readonly InformerStatus[];
  /** The deletions: their keys, and whether the deletion itself was missed. */
  readonly deleted: readonly { readonly key: string; readonly finalStateUnknown: boolean }[];
  /** Contradictions and errors. */
  readonly wrong: readonly string[];
  /** Notes that the server restored a backup, so that versions may decrease once. */
  restored(): void;
  close(): void;
}

/** The parts of a status whose change is worth an emission. The version is not one of them. */
function significant({
  resourceVersion: _version,
  sinceMs: _since,
  ...rest
}: InformerStatus): object {
  return rest;
}

const BLOCKS = {
  unauthorized: 401,
  forbidden: 403,
  'no-such-resource': 404,
  'wrong-kind': 0,
} as const;

/** Describes a contradiction within a status. */
function contradictionIn(status: InformerStatus): string | undefined {
  const { phase, synced, blocked, error, staleSinceMs, nextRetryAtMs } = status;
  const waits = phase === 'backoff';
  if (waits && error === undefined) return 'waits without an error';
  if (waits !== (nextRetryAtMs !== undefined))
    return 'waits without a time for the next try, or has one without a wait';
  if (waits && staleSinceMs === undefined) return 'waits and is not stale';
  if (blocked !== undefined && error?.code !== BLOCKS[blocked])
    return `is ${blocked} without cause`;
  if (synced || phase === 'idle' || phase === 'stopped') return undefined;
  return staleSinceMs === undefined ? 'has no data and is not stale' : undefined;
}

/** Starts to follow an informer. Subscribing to `changes$` starts the informer. */
export function mirror<T extends KubernetesObject>(informer: SharedInformer<T>): Mirror<T> {
  const objects = new Map<string, T>();
  const handled = new Map<string, T>();
  const statuses: InformerStatus[] = [];
  const deleted: { key: string; finalStateUnknown: boolean }[] = [];
  const wrong: string[] = [];
  const lives = new Lives('handler', wrong);
  let rev = -1;

  const fold = (set: ChangeSet<T>) => {
    if (set.reset) objects.clear();
    else if (set.rev !== rev + 1) wrong.push(`rev ${set.rev} after ${rev}`);
    rev = set.rev;
    const ids = new Set<string>();
    let onlyDeletions = true;
    for (const { id, key, previous, object } of set.changes) {
      if (ids.has(id)) wrong.push(`${key}: twice in rev ${rev}`);
      ids.add(id);
      if (!set.reset && objects.get(key) !== previous)
        wrong.push(`${key}: previous is not the last state`);
      if (object === undefined) {
        if (!onlyDeletions) wrong.push(`${key}: deleted after other changes`);
        if (!objects.delete(key)) wrong.push(`${key}: deleted, but not known`);
      } else {
        onlyDeletions = false;
        objects.set(key, object);
      }
    }
    deleted.push(...set.deleted.map(({ key, finalStateUnknown }) => ({ key, finalStateUnknown })));
  };
  const registration = addEventHandler(informer, {
    onAdd: (object) => {
      const key = informer.indexer.keyOf(object);
      if (handled.has(key)) wrong.push(`${key}: added to a handler that has it`);
      handled.set(key, object);
      lives.add(object);
    },
    onUpdate: (previous, object) => {
      const key = informer.indexer.keyOf(object);
      if (handled.get(key) !== previous)
        wrong.push(`${key}: previous is not the last state of the handler`);
      handled.set(key, object);
      lives.update(object);
    },
    onDelete: ({ key, object }) => {
      if (!handled.delete(key)) wrong.push(`${key}: deleted from a handler that lacks it`);
      lives.delete(object);
    },
  });
  const error = (thrown: unknown) => wrong.push(`error on a stream: ${thrown}`);
  const subscription = informer.changes$.subscribe({ next: fold, error });
  subscription.add(
    informer.status$.subscribe({
      next: (status) => {
        const before = statuses.at(-1);
        if (before !== undefined && isDeepStrictEqual(significant(before), significant(status))) {
          wrong.push(`status emitted twice: ${status.phase}`);
        }
        const contradiction = contradictionIn(status);
        if (contradiction !== undefined)
          wrong.push(`status ${contradiction}: ${JSON.stringify(status)}`);
        statuses.push(status);
      },
      error,
    }),
  );
  subscription.add(() => registration.remove());
  return {
    ...{ objects, handled, statuses, deleted, wrong },
    restored: () => lives.restored(),
    close: () => subscription.unsubscribe(),
  };
}

/** Compares objects by key, one by one, so that a failure shows one object only. */
function expectSame<T>(what: string, actual: ReadonlyMap<string, T>, expected: Map<string, T>) {
  const missing = [...expected.keys()].filter((key) => !actual.has(key));
  const surplus = [...actual.keys()].filter((key) => !expected.has(key));
  expect({ missing, surplus }, what).toEqual({ missing: [], surplus: [] });
  for (const [key, object] of expected) {
    if (!isDeepStrictEqual(actual.get(key), object)) {
      expect(actual.get(key), `${what}: ${key}`).toEqual(object);
      throw new Error(`${what}: ${key} differs in a property that is undefined`);
    }
  }
}

/** The collection to compare, and the namespace for markers. */
export interface Place<T extends KubernetesObject> {
  readonly api: RawApi;
  readonly resource: Resource<T>;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Writes one object and waits until the informer shows it, and therefore all earlier writes, too. */
export async function catchUp<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  { api, resource, namespace, labels = {} }: Place<T>,
): Promise<void> {
  const { apiVersion, kind } = resource;
  const body = { apiVersion, kind, metadata: { generateName: 'marker-', labels } };
  const path = resourcePath(resource, { namespace });
  const { metadata } = await api.ok<KubernetesObject>('POST', path, { body });
  const key = `${namespace}/${metadata?.name}`;
  const version = metadata?.resourceVersion ?? '';
  // After a restore the version of the store is ahead of the server's, so only the object itself is proof.
  const object = await informer.whenObserved(key, version);
  if (object?.metadata?.resourceVersion === version) return;
  await until(
    informer.snapshot$,
    (snapshot) => snapshot.get(key)?.metadata?.resourceVersion === version,
  );
}

/** Catches up, then compares the store, the indices and all folded notifications with the server. */
export async function expectSameAsServer<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  mirrored: Mirror<T>,
  place: Place<T>,
): Promise<void> {
  await catchUp(informer, place);
  const { api, resource, labels } = place;
  const labelSelector = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const query = labelSelector.length === 0 ? {} : { labelSelector: labelSelector.join() };
  const { items } = await api.listAll(resource, query);
  const { indexer } = informer;
  const byKey = (objects: readonly T[]) => new Map(objects.map((one) => [indexer.keyOf(one), one]));
  const expected = byKey(items);

  expectSame('indexer', byKey(indexer.list()), expected);
  expect(indexer.size).toBe(expected.size);
  expect([...indexer.listKeys()].sort()).toEqual([...expected.keys()].sort());
  const namespaces = new Set(items.map(({ metadata }) => metadata?.namespace ?? ''));
  expect([...indexer.listIndexFuncValues(NAMESPACE_INDEX)].sort()).toEqual([...namespaces].sort());
  for (const namespace of namespaces) {
    const inside = items.filter(({ metadata }) => metadata?.namespace === namespace);
    const what = `index of ${namespace}`;
    expectSame(what, byKey(indexer.byIndex(NAMESPACE_INDEX, namespace)), byKey(inside));
  }
  expectSame('changes$', mirrored.objects, expected);
  expectSame('handler', mirrored.handled, expected);
  expect(mirrored.wrong).toEqual([]);
}
