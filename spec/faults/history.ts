/** Writes randomly to a fake server and records each write in the truth. */
import { defineResource, type KubernetesObject, type OwnerReference } from 'rx-informer';
import type { FakeApiServer } from 'rx-informer/testing';
import type { Thing, Truth } from './judge.ts';

/** The pods of these histories. */
export interface Pod extends Thing {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

export const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

export const NAMESPACES = ['a', 'b', 'c'] as const;
const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;
const HUGE = 'x'.repeat(5 * 2 ** 20);

export interface HistoryOptions {
  readonly server: FakeApiServer;
  readonly truth: Truth;
  readonly random: () => number;
  /** Restores a backup occasionally, and continues at a later version, as etcd's manual recommends. */
  readonly restores: boolean;
  /** The owners of the objects; an object gets another one, or none, occasionally. */
  readonly owners?: { readonly random: () => number; readonly uids: readonly string[] };
  /** Writes an object of 5 MB occasionally. */
  readonly huge: boolean;
}

export interface History {
  /** Makes one write, or a few together. */
  step(): void;
  readonly writes: number;
}

export function createHistory({ server, truth, random, ...options }: HistoryOptions): History {
  const { objects } = server;
  let writes = 0;
  let backup: ReturnType<typeof objects.snapshot> | undefined;
  let huge: Ref | undefined;
  const below = (bound: number) => Math.floor(random() * bound);
  const of = <V>(values: readonly V[]): V => values[below(values.length)] as V;
  const ref = (): Ref => ({ namespace: of(NAMESPACES), name: of(NAMES) });
  const labels = () => ({ own: of(['yes', 'no']), tier: of(['web', 'db']) });
  const owners = () => {
    if (options.owners === undefined) return undefined;
    const { random, uids } = options.owners;
    const uid = uids[Math.floor(random() * (uids.length + 0.5))];
    if (uid === undefined) return [];
    return [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true }];
  };
  const wrote = (thing: KubernetesObject) => {
    writes++;
    truth.wrote(thing as Thing);
  };
  const create = (at: Ref) => {
    const ownerReferences = owners();
    const metadata = {
      ...{ ...at, labels: labels() },
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    };
    wrote(objects.create(pods, { metadata, status: { phase: 'Pending' } } as unknown as Pod));
  };
  const remove = (at: Ref) => {
    const uid = objects.get(pods, at)?.metadata.uid ?? '';
    objects.delete(pods, at);
    writes++;
    truth.deleted(uid, objects.resourceVersion);
  };
  const modify = (at: Ref, change: (draft: Draft) => void) => {
    const before = objects.get(pods, at);
    const after = objects.modify(pods, at, (draft) => change(draft as Draft));
    if (after !== (before as unknown)) wrote(after);
  };
  const restore = (to: NonNullable<typeof backup>) => {
    const seen = BigInt(objects.resourceVersion);
    objects.restoreSnapshot(to);
    objects.advance(Number(seen - BigInt(objects.resourceVersion)) + 100);
    objects.compact();
    truth.restored(objects.list(pods) as Thing[], objects.resourceVersion);
  };
  const one = () => {
    if (huge !== undefined && objects.get(pods, huge) !== undefined) {
      modify(huge, (draft) => {
        draft.metadata.annotations = {};
      });
    }
    huge = undefined;
    if (options.restores && random() < 0.02) {
      if (backup !== undefined && random() < 0.5) restore(backup);
      else backup = objects.snapshot();
      return;
    }
    const at = ref();
    const there = objects.get(pods, at) !== undefined;
    if (!there) return create(at);
    const what = random();
    if (what < 0.15) remove(at);
    else if (what < 0.25) {
      remove(at);
      create(at);
    } else if (what < 0.5) {
      modify(at, (draft) => {
        draft.metadata.labels = labels();
        const ownerReferences = owners();
        if (ownerReferences !== undefined) draft.metadata.ownerReferences = ownerReferences;
      });
    } else if (options.huge && what < 0.52) {
      huge = at;
      modify(at, (draft) => {
        draft.metadata.annotations = { filling: HUGE };
      });
    } else {
      modify(at, (draft) => {
        draft.spec = { nodeName: `n${below(4)}` };
        draft.status = { phase: of(['Pending', 'Running', 'Failed']) };
      });
    }
  };
  return {
    step() {
      const count = random() < 0.2 ? 2 + below(10) : 1;
      for (let at = 0; at < count; at++) one();
    },
    get writes() {
      return writes;
    },
  };
}

interface Ref {
  readonly namespace: string;
  readonly name: string;
}

interface Draft {
  metadata: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: OwnerReference[];
  };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}
