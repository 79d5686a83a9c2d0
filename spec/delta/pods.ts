/** Small pods, their deltas, and a short notation for deltas that keeps the tests readable. */
import {
  ApiError,
  type Deletion,
  type Delta,
  type DeltaFifoOptions,
  deltaFifo,
  type KubernetesObject,
  type Refused,
  rememberedObjects,
} from 'rx-informer';
import { Subject } from 'rxjs';

export interface Pod extends KubernetesObject {
  metadata: { name: string; namespace?: string; uid: string; resourceVersion: string };
}

type Keyed = Extract<Delta<Pod>, { key: string }>;
type Replaced = Extract<Delta<Pod>, { type: 'replaced' }>;
type Replacing = Extract<Delta<Pod>, { type: 'replacing' }>;

/** A pod with the key `a`, or `shop/a` for a pod in a namespace. */
export function pod(key: string, version: number | string, uid = `u-${key}`): Pod {
  const [first = '', name] = key.split('/');
  const resourceVersion = String(version);
  return name === undefined
    ? { metadata: { name: first, uid, resourceVersion } }
    : { metadata: { name, namespace: first, uid, resourceVersion } };
}

export function keyOf({ metadata: { namespace, name } }: Pod): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function added(object: Pod): Keyed {
  return { type: 'added', key: keyOf(object), object };
}

export function updated(object: Pod): Keyed {
  return { type: 'updated', key: keyOf(object), object };
}

export function deleted(object: Pod): Keyed {
  return { type: 'deleted', key: keyOf(object), object, finalStateUnknown: false };
}

/** The refusal of `object`; its `retry` returns the object. */
export function refusal(object: Pod): Refused {
  const { uid, resourceVersion } = object.metadata;
  const key = keyOf(object);
  const reason = ApiError.local('Refused', `${key}: no`);
  return { key, uid, resourceVersion, reason, retry: () => object };
}

export function refused(object: Pod): Keyed {
  return { type: 'refused', key: keyOf(object), refused: refusal(object) };
}

export const retry = { type: 'retry' } as const;

/** A deletion without a known state. */
export function lost(key: string): Keyed {
  return { type: 'deleted', key, finalStateUnknown: true };
}

/** A deletion that was missed. */
export function missed(object: Pod): Deletion<Pod> {
  return { type: 'deleted', key: keyOf(object), object, finalStateUnknown: true };
}

export function replaced(
  objects: readonly Pod[],
  version: number,
  rest: Partial<Replaced> = {},
): Replaced {
  const resourceVersion = String(version);
  return { type: 'replaced', objects, resourceVersion, trustVersions: true, ...rest };
}

export function replacing(objects: readonly Pod[], rest: Partial<Replacing> = {}): Replacing {
  return { type: 'replacing', objects, ...rest };
}

export function bookmark(version: number): Delta<Pod> {
  return { type: 'bookmark', resourceVersion: String(version) };
}

const refusals = (refused: readonly Refused[] = []) =>
  refused.map(({ key, resourceVersion }) => `x${key}@${resourceVersion}`);
const at = (object: Pod) => `${keyOf(object)}@${object.metadata.resourceVersion}`;

function word(delta: Delta<Pod>): string {
  switch (delta.type) {
    case 'added':
      return `+${at(delta.object)}`;
    case 'updated':
      return `~${at(delta.object)}`;
    case 'sync':
      return `=${at(delta.object)}`;
    case 'refused':
      return `x${delta.key}@${delta.refused.resourceVersion}`;
    case 'retry':
      return '*';
    case 'deleted': {
      const what = delta.object === undefined ? delta.key : at(delta.object);
      return `-${what}${delta.finalStateUnknown ? '?' : ''}`;
    }
    case 'replacing':
      return `(${[...delta.objects.map(at), ...refusals(delta.refused)].join(' ')})`;
    case 'replaced':
      return [
        ...(delta.missing ?? []).map(word),
        `[${[...delta.objects.map(at), ...refusals(delta.refused)].join(' ')}]@${delta.resourceVersion}`,
        ...(delta.flowed === undefined ? [] : ['too']),
      ].join(' ');
    case 'replace-abort':
      return '!';
    case 'rebalanced':
      return '/';
    case 'bookmark':
      return `^${delta.resourceVersion}`;
  }
}

/**
 * Writes deltas in the short notation: `+a@1` added, `~a@2` updated, `=a@2` sync, `-a@3` deleted (`-a@3?` if the
 * deletion was missed), `xa@4` refused, `*` retry, `(a@1)` a part, `[a@1]@9` a list (after what it misses, and followed by
 * `too` if its parts were passed on), `!` abort, `/` other shards,
 * `^9` bookmark.
 */
export function brief(deltas: readonly Delta<Pod>[]): string {
  return deltas.map(word).join(' ');
}

/** The known objects of a store with these pods. */
export function knowing(...objects: Pod[]): Map<string, Pod> {
  return new Map(objects.map((object) => [keyOf(object), object]));
}

/** A queue whose demand the test opens, and its output. */
export function gated(options: Partial<DeltaFifoOptions<Pod>> = {}) {
  const source = new Subject<readonly Delta<Pod>[]>();
  const open = new Subject<void>();
  const resync$ = new Subject<void>();
  const out: string[] = [];
  const unknown: string[] = [];
  const subscription = source
    .pipe(
      deltaFifo({
        known: rememberedObjects(),
        ready: () => open,
        resync$,
        onUnknownDeletion: (key) => unknown.push(key),
        ...options,
      }),
    )
    .subscribe({
      next: (deltas) => out.push(brief(deltas)),
      error: (error) => out.push(`error ${error}`),
      complete: () => out.push('|'),
    });
  const send = (...deltas: Delta<Pod>[]) => source.next(deltas);
  const pop = () => {
    open.next();
    return out.splice(0);
  };
  return { source, open, resync$, out, unknown, subscription, send, pop };
}
