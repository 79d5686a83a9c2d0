/** Every kind of option, refused in one form: by the function and the option, with what was given and what it must be. */
import {
  createClient,
  createController,
  createDiscovery,
  createEventRecorder,
  createInformerFactory,
  createLeaderElector,
  createLiveQueries,
  createRestMapper,
  createShardFilter,
  createShardMember,
  createSharedInformer,
  createWorkQueue,
  defineResource,
  finalizer,
  indexedDbSnapshots,
  liveGroupBy,
  liveJoin,
  liveMap,
  metered,
  namespaceFallback,
  projectedDecoding,
  setCondition,
  shardSelector,
  sum,
  through,
  traced,
  workQueue,
} from 'rx-informer';
import { publishToNats } from 'rx-informer/nats';
import { fileSnapshots, viteProxy } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/errors.ts';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';

const server = createFakeApiServer();
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const informer = createSharedInformer(scriptedListWatch());
const factory = createInformerFactory(client);
const controller = (options: object) =>
  createController({ name: 'jobs', for: informer, reconcile: () => undefined, ...options });
const lease = { client, namespace: 'shop', name: 'billing', identity: 'a' };
const resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const condition = { type: 'Ready', status: 'True', reason: 'Ready' } as const;

const cycle: { self?: unknown } = {};
cycle.self = cycle;
/** What no option is. */
const NOTHING: readonly unknown[] = [5n, true, cycle, 'x'.repeat(100_000)];

const OPTIONS: Readonly<Record<string, (value: never) => unknown>> = {
  'createClient: qps': (qps) => createClient({ baseUrl: '', qps }),
  'createClient: livenessMs': (livenessMs) => createClient({ baseUrl: '', livenessMs }),
  // A meter itself is an object, too.
  'createClient: metrics': (metrics) => createClient({ baseUrl: '', metrics }),
  'createLeaderElector: metrics': (metrics) => createLeaderElector({ ...lease, metrics }),
  'createShardMember: metrics': (metrics) => createShardMember({ ...lease, metrics }),
  'publishToNats: metrics': (metrics) =>
    publishToNats(informer as never, {
      connection: {} as never,
      resource: pods,
      bucket: 'k8s',
      metrics,
    }),
  'indexedDbSnapshots: metrics': (metrics) =>
    indexedDbSnapshots({ identity: 'a', kinds: [], metrics }),
  'workQueue: metrics': (metrics) => workQueue(() => undefined, { metrics }),
  'the queue: metrics': (metrics) => createWorkQueue({ metrics }),
  'jobs: metrics': (metrics) => controller({ metrics }),
  'createFakeApiServer: allows': (allows) => createFakeApiServer({ allows }),
  'createFakeApiServer: resources': (resources) => createFakeApiServer({ resources }),
  'createLiveQueries: ready': (ready) => createLiveQueries(factory, { ready }),
  'createLiveQueries: mutationGuard': (mutationGuard) =>
    createLiveQueries(factory, { mutationGuard }),
  'createInformerFactory: namespaces': (namespaces) =>
    createInformerFactory(client).informer(pods, { namespaces }),
  'createInformerFactory: as': (as) => createInformerFactory(client).informer(pods, { as }),
  'createInformerFactory: namespaceFallback': (fallback) =>
    createInformerFactory(client, { namespaceFallback: fallback }),
  'namespaceFallback: namespaces': (namespaces) => namespaceFallback(namespaces),
  'createShardFilter: by': (by) => createShardFilter(by, []),
  'shardSelector: by': (by) => shardSelector(by, []),
  'createShardMember: by': (by) => createShardMember({ ...lease, by }),
  'createShardMember: identity': (identity) => createShardMember({ ...lease, identity }),
  'createShardMember: leaseDurationMs': (leaseDurationMs) =>
    createShardMember({ ...lease, leaseDurationMs, renewDeadlineMs: 10, retryPeriodMs: 1 }),
  'createLeaderElector: name': (name) => createLeaderElector({ ...lease, name }),
  'createLeaderElector: retryPeriodMs': (retryPeriodMs) =>
    createLeaderElector({ ...lease, retryPeriodMs }),
  'through: owner': (owner) => through(NEVER, { owner }),
  'liveJoin: type': (type) => liveJoin(NEVER, { on: { owner: 'left' }, type }),
  'liveMap: project': (project) => liveMap(project),
  'liveGroupBy: key': (key) => liveGroupBy(key, {}),
  'sum: its argument': (of) => sum(of),
  'defineResource: plural': (plural) =>
    defineResource({ ...resource, plural: typeof plural === 'string' ? '/' : plural }),
  'createEventRecorder: component': (component) => createEventRecorder(client, { component }),
  'finalizer: name': (name) => finalizer({} as never, name, {} as never),
  'setCondition: status': (status) => setCondition({}, { ...condition, status }),
  'traced: the first argument': (tracer) => traced(tracer, () => undefined),
  'metered: the argument': (provider) => metered(provider),
  'createSharedInformer: audit': (audit) => createSharedInformer(scriptedListWatch(), { audit }),
  'projectedDecoding: project': (project) => projectedDecoding({ project }),
  'forPlural: the name': (name) =>
    createRestMapper(createDiscovery(client)).forPlural(
      typeof name === 'string' ? (5 as never) : name,
    ),
  'failNext: status': (status) => server.faults.failNext({}, { status }),
  'whenObserved: the target': (target) =>
    informer.whenObserved('a', typeof target === 'string' ? (5 as never) : target),
  'viteProxy: target': (target) => viteProxy(target),
  'viteProxy: prefix': (prefix) => viteProxy('http://127.0.0.1:8001', prefix),
  'jobs: concurrency': (concurrency) => controller({ concurrency }),
  'jobs: for': (given) => controller({ for: given }),
  'jobs: for.predicates': (predicates) => controller({ for: { informer, predicates } }),
  'jobs: predicates': (predicates) => controller({ predicates }),
  'jobs: predicates[1]': (each) => controller({ predicates: [() => true, each] }),
  'jobs: owns': (owns) => controller({ owns }),
  'jobs: owns[0]': (owned) => controller({ owns: [owned] }),
  'jobs: owns[0].predicates': (predicates) => controller({ owns: [{ informer, predicates }] }),
  'jobs: watches[0]': (watched) => controller({ watches: [watched] }),
  'jobs: watches[0].map': (map) => controller({ watches: [{ informer, map }] }),
  'jobs: sources': (sources) => controller({ sources }),
  'jobs: sources[0]': (keys$) => controller({ sources: [keys$] }),
  'jobs: reconcile': (reconcile) => controller({ reconcile }),
  'jobs: leaderElection': (leaderElection) => controller({ leaderElection }),
};
/** Any text that is not empty, so those of the others are refused. */
const TEXTS: typeof OPTIONS = {
  'createLeaderElector: identity': (identity) => createLeaderElector({ ...lease, identity }),
  'setCondition: reason': (reason) => setCondition({}, { ...condition, reason }),
  'indexedDbSnapshots: name': (name) => indexedDbSnapshots({ name } as never),
  'fileSnapshots: folder': (folder) => fileSnapshots({ folder } as never),
  'forKind: kind': (kind) => createRestMapper(createDiscovery(client)).forKind({ kind }),
};

describe('options of another type or range', () => {
  const all = [
    ...Object.entries(OPTIONS).map(([name, use]) => ({ name, use, values: NOTHING })),
    ...Object.entries(TEXTS).map(([name, use]) => ({
      name,
      use,
      values: [...NOTHING.slice(0, 3), ''],
    })),
    {
      name: 'defineResource: namespaced of pods',
      values: [0, 'false', undefined, cycle],
      use: (namespaced: never) => defineResource({ ...resource, namespaced }),
    },
  ];
  it.each(all)('M18: $name is refused in one form', async ({ name, use, values }) => {
    // The scope and the options of a factory are named as such.
    const named = name.replace(/^createInformerFactory: (namespaces|as)$/, 'informer scope: $1');
    const start = named.replace('createInformerFactory', 'informer factory');
    for (const value of values) {
      const error = await failureOf<Error>(() => use(value as never));
      expect(error, `${name} ${typeof value}`).toBeInstanceOf(TypeError);
      const { message } = error as Error;
      expect(message.slice(0, start.length + 4)).toBe(`${start} is `);
      expect(message).toMatch(/; it must be .{4}/);
      expect(message.length).toBeLessThan(400);
    }
  });

  it('M18: text is shown shortened, and of an object and a list no value, which may be secret', async () => {
    const shownAs = async (value: unknown) =>
      String(await failureOf<Error>(() => liveMap(value as never))).replace(
        /^.* is |; it must.*$/g,
        '',
      );
    const shown = [5, -0, 5n, '5', '', null, undefined, true, {}, { a: 't', b: 1 }, ['t']];
    expect(await Promise.all(shown.map(shownAs))).toEqual([
      ...['5', '0', '5', '"5"', '""', 'null', 'undefined', 'true', '{}', '{a,b}', 'a list'],
    ]);
    expect(await shownAs(Symbol('s'))).toBe('Symbol(s)');
    expect(await shownAs(cycle)).toMatch(/^\{\w+\}$/);
    expect(await shownAs('x'.repeat(61))).toBe(`"${'x'.repeat(60)}"`);
    expect(
      await failureOf<Error>(() => createFakeApiServer({ resources: (() => []) as never })),
    ).toEqual(
      new TypeError('createFakeApiServer: resources is a function; it must be a list of resources'),
    );
  });
});
