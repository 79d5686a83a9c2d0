/**
 * The types of options: one that is `undefined` counts as left out, for the compiler, also under `exactOptionalPropertyTypes`, and at run time
 * (selectors are the exception, law M9); points in time are `EpochMs`, durations are numbers that name their unit.
 */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import {
  type AuditStatus,
  addEventHandler,
  createClient,
  createController,
  createExpirationStore,
  createIndexer,
  createInformerFactory,
  createListWatch,
  createPriorityQueue,
  createRateLimitingQueue,
  createResourceClient,
  createSharedInformer,
  createWorkQueue,
  deltaFifo,
  type EpochMs,
  type HeldBack,
  type IndexerOptions,
  type InformerStatus,
  type ListWatchOptions,
  type ReflectorStatus,
  type ResourceEventHandler,
  type SharedInformerOptions,
  type TimestampedEntry,
  toView,
  type WorkQueueOptions,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { serveUsers } from 'rx-informer/server';
import { changeSet, createFakeApiServer, createFaultMachine } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';

/** The optional fields of `Options` that refuse an explicit `undefined`. */
type Refusing<Options> = {
  [Name in keyof Options]-?: object extends Pick<Options, Name>
    ? { [N in Name]: undefined } extends Pick<Options, Name>
      ? never
      : Name
    : never;
}[keyof Options];

const SELECTORS = ['labelSelector', 'fieldSelector'];
/** Types that callers do not write: optional arguments that the library passes, and data from a server. */
const OWN = ['IdleTimeoutOptions', 'CommitterOptions', 'LeaseElectorOptions'];
const OPTIONS =
  /^(?:export )?(?:interface|type) (\w*Options|\w*Settings|\w+Scope|FilteredSource|DeliveryPolicy|KubeRequest|Timing|ObservedDeletion|ResourceTraits|ChangeSetInit|ResourceEventHandler)\b/gm;

/** Finds each optional field whose type does not include `undefined`, as `Type.field`. */
function refusing(text: string): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(OPTIONS)) {
    const rest = text.slice(match.index + match[0].length);
    const end = rest.search(/^(?:export |interface |type |function |class |const |\/\*\*)/m);
    const body = (end < 0 ? rest : rest.slice(0, end)).replace(/\/\*[\s\S]*?\*\//g, '');
    // A field ends at a semicolon at the end of a line, outside of its own braces.
    for (const field of body.split(/;\n/)) {
      const name = /(?:^|\n)\s+(?:readonly )?(\w+\$?)\?:/.exec(field)?.[1];
      if (name === undefined || SELECTORS.includes(name) || OWN.includes(match[1] ?? '')) continue;
      if (!/\bundefined\s*$/.test(field) && !/\bnever$/.test(field)) {
        found.push(`${match[1]}.${name}`);
      }
    }
  }
  return found;
}

describe('options', () => {
  it('I101: the type of every optional field includes undefined', async () => {
    const wrong: string[] = [];
    for await (const file of glob('lib/**/*.ts')) {
      if (file.includes('generated') || file.includes('page-network')) continue;
      wrong.push(...refusing(readFileSync(file, 'utf8')).map((field) => `${file}: ${field}`));
    }
    expect(wrong).toEqual([]);
    expect(refusing('interface AOptions {\n  readonly a?: number;\n}')).toEqual(['AOptions.a']);
  });

  it('I101: options that are undefined compile, except selectors', () => {
    expectTypeOf<Refusing<SharedInformerOptions<Pod>>>().toBeNever();
    expectTypeOf<Refusing<IndexerOptions<Pod>>>().toBeNever();
    expectTypeOf<Refusing<WorkQueueOptions>>().toBeNever();
    expectTypeOf<Refusing<ResourceEventHandler<Pod>>>().toBeNever();
    expectTypeOf<Refusing<ListWatchOptions<Pod>>>().toEqualTypeOf<
      'labelSelector' | 'fieldSelector'
    >();
    const informer = createSharedInformer(createListWatch({} as never, pods));
    createController({ name: undefined, for: informer, owns: undefined, reconcile: () => {} });
    expect(createIndexer({ keyOf: undefined, indexers: undefined }).size).toBe(0);
  });

  it('I101: options that are undefined count as left out at run time', async () => {
    const server = createFakeApiServer({
      ...{ resources: undefined, scheduler: undefined, random: undefined, historyLimit: undefined },
      ...{ watchList: undefined, latencyMs: undefined, initialResourceVersion: undefined },
    });
    const traits = { status: undefined, generation: undefined, scale: undefined };
    server.removeResource(pods);
    server.addResource(pods, { ...traits, printerColumns: undefined, custom: undefined });
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: server.fetch, transport: undefined, qps: undefined },
      ...{ headers: undefined, burst: undefined, scheduler: undefined, maxBodyBytes: undefined },
    });
    const listWatch = createListWatch(client, pods, {
      ...{ namespace: undefined, tweak: undefined, transform: undefined, decoding: undefined },
      ...{ maxFrameBytes: undefined, maxPageBytes: undefined, watchList: undefined },
    });
    const informer = createSharedInformer(listWatch, {
      ...{ name: undefined, indexers: undefined, resyncPeriodMs: undefined, lingerMs: undefined },
      ...{ audit: undefined, compression: undefined, mutationGuard: undefined, demand: undefined },
      ...{ scheduler: undefined, random: undefined, pageSize: undefined, backoff: undefined },
      ...{ initialList: undefined, requestTimeoutMs: undefined, idleTimeoutMs: undefined },
    });
    const names: string[] = [];
    addEventHandler(
      informer,
      { onAdd: ({ metadata }) => names.push(metadata.name), onUpdate: undefined },
      { name: undefined, delivery: undefined, resyncPeriodMs: undefined, slowPending: undefined },
    );
    const view = informer.changes$.pipe(toView({ status$: undefined }));
    informer.start();
    await informer.whenSynced({ timeoutMs: undefined, whileBlocked: undefined });
    expect([names, informer.name, view.getSnapshot().rows]).toEqual([['web'], 'informer', []]);
    expect(informer.indexer.byIndex('namespace', 'shop')).toHaveLength(1);
    const calls = createResourceClient(client, pods, { scheduler: undefined, random: undefined });
    const edited = await calls.edit(
      { namespace: 'shop', name: 'web' },
      (draft) => {
        draft.metadata.labels = { app: 'web' };
      },
      { attempts: undefined, backoff: undefined, scheduler: undefined, signal: undefined },
    );
    expect(edited.metadata.labels).toEqual({ app: 'web' });
    const merge = { metadata: { labels: { app: 'shop' } } };
    const patched = await calls.patch(edited, { json: undefined as never, merge });
    expect(patched.metadata.labels).toEqual({ app: 'shop' });
    await informer.stop();
    for (const queue of [
      createWorkQueue({ name: undefined, metrics: undefined, backlog: undefined }),
      createRateLimitingQueue({ rateLimiter: undefined, scheduler: undefined }),
      createPriorityQueue({ ageingMs: undefined, scheduler: undefined }),
    ]) {
      queue.add('a');
      expect(queue.len).toBe(1);
      queue.shutDown();
    }
    const factory = createInformerFactory(client, {
      ...{ name: undefined, resources: undefined, indexers: undefined, transform: undefined },
    });
    expect(factory.name).toBe('');
    const users = serveUsers({ createFactory: () => factory, factory: undefined as never });
    expect(users.counts.users).toBe(0);
    expect(createFaultMachine(server, { depths: undefined, seed: undefined }).running).toBe(false);
    expect(createExpirationStore({ ttlMs: 1_000, scheduler: undefined }).size).toBe(0);
    expect(changeSet({ added: undefined, rev: undefined }).rev).toBe(1);
    expect(deltaFifo({ known: createIndexer(), compression: undefined })).toBeTypeOf('function');
  });
});

describe('time', () => {
  const OPTIONS =
    /^(?:export )?(?:interface|type) (\w*(?:Options|Settings)|Timing|DeliveryPolicy)\b/gm;
  const NUMBER = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*^ +(?:readonly )?(\w+)\??: number\b/gm;
  const DURATION = /timeout|delay|interval|period|ttl|linger|duration|deadline|limitMs|afterMs/i;

  /** Finds durations in options whose name does not end in `Ms`, or whose text does not say "in milliseconds". */
  function unclear(text: string): string[] {
    const found: string[] = [];
    for (const match of text.matchAll(OPTIONS)) {
      const rest = text.slice(match.index + match[0].length);
      const end = rest.search(/^(?:export |interface |type |function |class |const )/m);
      for (const [, doc = '', name = ''] of (end < 0 ? rest : rest.slice(0, end)).matchAll(
        NUMBER,
      )) {
        const named = name.endsWith('Ms');
        // Kubernetes names its own fields in seconds.
        if (!named && (!DURATION.test(name) || name.endsWith('Seconds'))) continue;
        if (!named || !/in milliseconds/i.test(doc)) found.push(`${match[1]}.${name}`);
      }
    }
    return found;
  }

  it('I103: points in time are EpochMs, and a number is assignable to EpochMs', () => {
    expectTypeOf<InformerStatus['sinceMs']>().toEqualTypeOf<EpochMs>();
    expectTypeOf<InformerStatus['staleSinceMs']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<ReflectorStatus['nextRetryAtMs']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<HeldBack['sinceMs']>().toEqualTypeOf<EpochMs>();
    expectTypeOf<AuditStatus['lastAt']>().toEqualTypeOf<EpochMs | undefined>();
    expectTypeOf<TimestampedEntry<object>['writtenMs']>().toEqualTypeOf<EpochMs>();
    const nowMs = asyncScheduler.now();
    const sinceMs: EpochMs = nowMs;
    expectTypeOf(nowMs - sinceMs).toEqualTypeOf<number>();
    expect(sinceMs <= nowMs).toBe(true);
    // @ts-expect-error: a string is not a point in time
    const wrong: EpochMs = '2026-01-01T00:00:00Z';
    expect(wrong).toBeTypeOf('string');
  });

  it('I103: each duration of the options ends in Ms and says that it is in milliseconds', async () => {
    const wrong: string[] = [];
    for await (const file of glob('lib/**/*.ts')) {
      if (file.includes('generated')) continue;
      wrong.push(...unclear(readFileSync(file, 'utf8')).map((field) => `${file}: ${field}`));
    }
    expect(wrong).toEqual([]);
    expect(unclear('interface AOptions {\n  readonly timeout?: number;\n}')).toEqual([
      'AOptions.timeout',
    ]);
  });
});
