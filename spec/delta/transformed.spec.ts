/** A queue of transformed objects: every object that leaves it, also in a tombstone, was transformed once. */
import {
  createClient,
  createListWatch,
  type Delta,
  defineResource,
  deltaFifo,
  reflect,
  rememberedObjects,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief, type Pod } from './pods.ts';

const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

const event = (type: string, name: string, version: number) =>
  JSON.stringify({
    type,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, uid: `u-${name}`, resourceVersion: String(version) },
    },
  });
const expired = JSON.stringify({
  type: 'ERROR',
  object: { kind: 'Status', code: 410, reason: 'Expired' },
});

/** A server with empty lists. Each watch sends its lines and then a 410. */
function server(watches: readonly (readonly string[])[]) {
  let version = 0;
  let watched = 0;
  return async (input: unknown) => {
    version += 20;
    if (!String(input).includes('watch=')) {
      const metadata = { resourceVersion: String(version) };
      return Response.json({ apiVersion: 'v1', kind: 'PodList', metadata, items: [] });
    }
    const lines = watches[watched++];
    if (lines === undefined) return await new Promise<Response>(() => {});
    return new Response([...lines, expired, ''].join('\n'));
  };
}

describe('deltaFifo after a transform', () => {
  it('D4, F4: every emitted state, also that of a tombstone, was transformed once (TestRealFIFO_transformer, TestSharedInformerTransformer, TestTransformingInformerRace)', async () => {
    const time = new VirtualTime();
    const fetch = server([
      [
        event('ADDED', 'foo', 110),
        event('ADDED', 'bar', 111),
        event('MODIFIED', 'foo', 112),
        event('DELETED', 'foo', 115),
      ],
      [event('ADDED', 'bar', 216)],
    ]);
    const client = createClient({ baseUrl: 'http://server', fetch, scheduler: time });
    const times = new Map<string, number>();
    const listWatch = createListWatch(client, pods, {
      scheduler: time,
      watchList: false,
      transform: (pod) => {
        const { name, resourceVersion } = pod.metadata;
        const state = `${name}@${resourceVersion}`;
        times.set(state, (times.get(state) ?? 0) + 1);
        return { ...pod, transformed: ((pod as { transformed?: number }).transformed ?? 0) + 1 };
      },
    });
    const open = new Subject<void>();
    const out: Delta<Pod>[] = [];
    const run = reflect(listWatch, { scheduler: time, random: () => 0, backoff: () => 0 })
      .pipe(deltaFifo({ known: rememberedObjects(), ready: () => open }))
      .subscribe((deltas) => out.push(...deltas));
    await time.advance(5_000);
    open.next();
    run.unsubscribe();
    const withMissing = out.flatMap((delta): readonly Delta<Pod>[] =>
      delta.type === 'replaced' ? (delta.missing ?? []) : [delta],
    );
    const objects = withMissing.flatMap((delta) => ('object' in delta ? [delta.object] : []));
    expect(brief(out)).toBe(
      '[]@20 +foo@110 +bar@111 ~foo@112 -foo@115 -bar@111? []@60 +bar@216 -bar@216? []@100',
    );
    expect(objects.map((pod) => (pod as { transformed?: number })?.transformed)).toEqual(
      objects.map(() => 1),
    );
    expect([...times.values()]).toEqual([1, 1, 1, 1, 1]);
    expect(objects).toHaveLength(7);
  });
});
