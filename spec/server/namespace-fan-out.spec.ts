import { describe, expect, it } from 'vitest';
import { namespacedRows } from '../../lib/server/shared/namespace-fan-out.ts';
import { Mirror } from '../query/mirror.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
} from '../support/scripted-list-watch.ts';

const NAMESPACES = ['a', 'b', 'c', 'd'];

function within(
  namespace: string,
  name: string,
  version: number,
  uid = `${namespace}/${name}`,
): Pod {
  const { metadata } = pod(name, version);
  return { metadata: { ...metadata, namespace, uid } };
}

function informed() {
  const { source, informer } = scriptedInformer();
  const read = (namespaces: readonly string[]) =>
    new Mirror(namespacedRows(informer as never, namespaces));
  return { source, informer, read };
}

const versions = (mirror: Mirror<unknown>) =>
  (mirror.objects() as Pod[])
    .map(
      ({ metadata: { namespace, name, resourceVersion } }) =>
        `${namespace}/${name}@${resourceVersion}`,
    )
    .sort();

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(
          fc.record({
            namespace: fc.constantFrom(...NAMESPACES),
            name: fc.constantFrom('x', 'y', 'z'),
            what: fc.constantFrom('set', 'set', 'delete', 'recreate'),
          }),
          { minLength: 1, maxLength: 5 },
        )
        .map((events) => ({ events })),
    },
    { weight: 3, arbitrary: fc.subarray(NAMESPACES, { minLength: 1 }).map((read) => ({ read })) },
    {
      weight: 2,
      arbitrary: fc.subarray(NAMESPACES, { minLength: 1 }).map((within) => ({ within })),
    },
    { weight: 2, arbitrary: fc.nat(5).map((left) => ({ left })) },
  ),
  { minLength: 5, maxLength: 30 },
);

describe('the objects of some namespaces', () => {
  it('E11: each reader has the objects of its namespaces after each commit, also one that begins while a commit is delivered', async () => {
    const seen = { sets: 0, within: 0 };
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, isAhead) => {
        const { source, informer, read } = informed();
        const objects = new Map<string, Pod>();
        const open: { readonly namespaces: readonly string[]; readonly mirror: Mirror<unknown> }[] =
          [];
        const begin = (namespaces: readonly string[]) =>
          open.push({ namespaces, mirror: read(namespaces) });
        let next: readonly string[] | undefined;
        const join = () => {
          if (next === undefined) return;
          seen.within++;
          begin(next);
          next = undefined;
        };
        // Served before the fan-out, so that the store is ahead of it; or by the fan-out, in the middle of a commit.
        const first = isAhead ? informer.changes$.subscribe(join) : undefined;
        const other = isAhead
          ? undefined
          : namespacedRows(informer as never, NAMESPACES).subscribe(join);
        source.listed(1);
        let version = 1;
        for (const step of all) {
          if ('read' in step) begin(step.read);
          else if ('within' in step) next = step.within;
          else if ('left' in step) {
            for (const { mirror } of open.splice(step.left, 1)) mirror.subscription.unsubscribe();
          } else {
            const sent: Parameters<typeof source.send>[0][] = [];
            for (const { namespace, name, what } of step.events) {
              const key = `${namespace}/${name}`;
              const before = objects.get(key);
              if (what !== 'set') {
                if (before === undefined) continue;
                objects.delete(key);
                sent.push(
                  deleted({ metadata: { ...before.metadata, resourceVersion: String(++version) } }),
                );
                if (what === 'delete') continue;
              }
              const uid = objects.get(key)?.metadata.uid ?? `${key}/${version}`;
              const now = within(namespace, name, ++version, uid);
              sent.push(objects.has(key) ? modified(now) : added(now));
              objects.set(key, now);
            }
            source.send(...sent);
          }
          for (const { namespaces, mirror } of open) {
            if (mirror.error !== undefined) throw mirror.error;
            const wanted = [...objects.values()]
              .filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ''))
              .map(
                ({ metadata: { namespace, name, resourceVersion } }) =>
                  `${namespace}/${name}@${resourceVersion}`,
              );
            expect(versions(mirror)).toEqual(wanted.sort());
            expect(mirror.sets.at(-1)?.synced).toBe(true);
          }
        }
        for (const { mirror } of open) seen.sets += mirror.sets.length;
        first?.unsubscribe();
        other?.unsubscribe();
        await informer.stop();
        for (const { mirror } of open) expect(mirror.completed).toBe(true);
      }),
      { numRuns: 150 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });

  it('E11: a commit reaches the readers of its namespaces alone, and all of them hear when the list is complete', async () => {
    const { source, informer, read } = informed();
    const mirrors = [['a'], ['b', 'a'], ['c'], ['c', 'd']].map(read);
    const sets = () => mirrors.map((mirror) => mirror.sets.length);
    source.listed(1, within('a', 'x', 1), within('c', 'x', 1));
    expect(mirrors.map((mirror) => mirror.sets.at(-1)?.synced)).toEqual([true, true, true, true]);
    const before = sets();
    source.send(modified(within('a', 'x', 2)), added(within('a', 'y', 3)));
    const after = sets();
    expect(after.map((count, at) => count - (before[at] ?? 0) > 0)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    source.send(added(within('e', 'x', 4)));
    expect(sets()).toEqual(after);
    await informer.stop();
    // A later reader belongs to the next run.
    const again = read(['c']);
    source.listed(9, within('c', 'z', 9), within('a', 'z', 9));
    expect(versions(again)).toEqual(['c/z@9']);
    again.subscription.unsubscribe();
  });
});
