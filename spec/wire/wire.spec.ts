/** Tests the messages of a stream: over a link that delays, loses its ends and carries JSON alone, the view is that of the stream. */
import {
  ApiError,
  createClient,
  createInformerFactory,
  createLiveQueries,
  type LiveQueries,
  liveFilter,
  liveGroupBy,
  liveMap,
  liveQuery,
  toView,
  type View,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import {
  changeSet,
  createFakeApiServer,
  createVirtualTime,
  seededRandom,
} from 'rx-informer/testing';
import { fromWire, toWire, type WireMessage } from 'rx-informer/wire';
import {
  concat,
  defer,
  NEVER,
  Observable,
  of,
  type SchedulerLike,
  Subject,
  throwError,
} from 'rxjs';
import { concatMap, delay, map, retry, takeUntil, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const select = { name: 'metadata.name', phase: 'status.phase' } as const;
const STREAMS: Readonly<Record<string, (live: LiveQueries) => Observable<never>>> = {
  rows: (live) => live.stream(liveQuery({ from: pods, select })) as never,
  sorted: (live) =>
    live.stream(
      liveQuery({
        ...{ from: pods, select: { name: 'metadata.name' } },
        ...{ orderBy: [{ path: 'status.phase' }, { path: 'metadata.name', direction: 'desc' }] },
      }),
    ) as never,
  window: (live) =>
    live.stream(
      liveQuery({
        ...{ from: pods, select, where: { path: 'status.phase', ne: 'b' } },
        ...{ orderBy: { path: 'status.phase' }, offset: 1, limit: 3 },
      }),
    ) as never,
  groups: (live) =>
    live
      .stream(liveQuery({ from: pods, select }))
      .pipe(liveGroupBy(({ phase }) => phase, {})) as never,
  refusing: (live) =>
    live.stream(liveQuery({ from: pods, select })).pipe(
      liveFilter(({ phase }) => {
        if (phase === 'c') throw new Error('at /home/ann/secret.ts');
        return true;
      }),
      liveMap(({ name, phase }) => ({ name, since: phase === 'a' ? new Date(0) : 0 })),
    ) as never,
};

type Rows = readonly Readonly<Record<string, unknown>>[];

/** What is compared: rows without an order in one of ours, because another epoch does not know which was added first. */
function shown(view: View<unknown>, isOrdered: boolean) {
  const { rows, total, synced, stale, status } = view.getSnapshot();
  const { phase, live, refusedRows } = status;
  const texts = rows.map((row) => JSON.stringify(row));
  return {
    ...{ rows: isOrdered ? texts : texts.sort(), total, synced, stale, phase, live },
    refused: refusedRows.length,
  };
}

/** What the view of the other side is to show: the rows that JSON would change are refused there. */
function expected(view: View<unknown>, isOrdered: boolean) {
  const all = shown(view, isOrdered);
  const rows = view.getSnapshot().rows as Rows;
  const lost = rows.filter(({ since }) => since instanceof Date).map((row) => JSON.stringify(row));
  return {
    ...all,
    rows: all.rows.filter((row) => !lost.includes(row)),
    total: all.total - lost.length,
    refused: all.refused + lost.length,
  };
}

type Step = readonly [what: (typeof KINDS)[number], which: number];
const KINDS = [
  'create',
  'create',
  'change',
  'change',
  'delete',
  'cut',
  'break',
  'pass',
  'leave',
] as const;

class Link {
  readonly time = createVirtualTime();
  readonly server = createFakeApiServer({
    random: seededRandom(1),
    scheduler: this.time.scheduler,
    resources: [pods],
  });
  readonly #factory = createInformerFactory(
    createClient({
      baseUrl: 'http://fake',
      fetch: this.server.fetch,
      scheduler: this.time.scheduler,
    }),
    { scheduler: this.time.scheduler },
  );
  readonly #here: View<unknown>;
  readonly there: View<unknown>;
  /** What the view here has shown when a message was sent, by epoch and number. */
  readonly #sent = new Map<string, ReturnType<typeof expected>>();
  readonly #cuts = new Subject<void>();
  #leave: () => void;
  checked = 0;
  #made = 0;

  readonly #isOrdered: boolean;

  constructor(name: string) {
    this.#isOrdered = name === 'sorted' || name === 'window';
    const stream = STREAMS[name]?.(createLiveQueries(this.#factory)) as Observable<never>;
    const { scheduler } = this.time;
    this.#here = toView(stream);
    this.#here.subscribe(() => undefined);
    let acknowledge: (n: number) => void = () => undefined;
    let last: WireMessage | undefined;
    // Each connection has a subscription of its own, and what is on its way when it is cut is lost.
    const messages$ = defer(() => {
      const acks$ = new Subject<number>();
      let unacknowledged = 0;
      acknowledge = (n) => {
        this.#check(last as WireMessage);
        of(n)
          .pipe(delay(5, scheduler))
          .subscribe((each) => {
            unacknowledged--;
            acks$.next(each);
          });
      };
      return toWire(stream, { acks$, scheduler }).pipe(
        tap((message) => {
          expect(++unacknowledged).toBe(1);
          this.#send(message);
        }),
        map((message) => JSON.stringify(message)),
        concatMap((text) => of(JSON.parse(text) as WireMessage).pipe(delay(5, scheduler))),
        takeUntil(this.#cuts),
        (source) =>
          new Observable<WireMessage>((subscriber) => {
            subscriber.add(
              source.subscribe({
                next: (each) => subscriber.next(each),
                complete: () => subscriber.error(new Error('cut')),
              }),
            );
          }),
      );
    }).pipe(
      retry({ delay: () => of(0).pipe(delay(20, scheduler)) }),
      tap((each) => {
        last = each;
      }),
    );
    this.there = fromWire(messages$, { acknowledge: (n) => acknowledge(n), scheduler });
    this.#leave = this.there.subscribe(() => undefined);
  }

  #send(message: WireMessage): void {
    expect(JSON.stringify(message)).not.toMatch(/secret|\.ts/);
    if (!message.more)
      this.#sent.set(`${message.epoch} ${message.n}`, expected(this.#here, this.#isOrdered));
  }

  /** The view there shows what the view here has shown when the message was sent. */
  #check({ epoch, n, more }: WireMessage): void {
    if (more) return;
    const then = this.#sent.get(`${epoch} ${n}`);
    const now = shown(this.there, this.#isOrdered);
    // A later answer of a new epoch takes the place of former rows when it is complete.
    if (then?.synced === false && now.stale) return;
    expect(now).toEqual(then);
    this.checked++;
  }

  async step([what, which]: Step): Promise<void> {
    const { objects, faults } = this.server;
    const all = objects.list(pods);
    const one = all[which % Math.max(1, all.length)];
    const phase = ['a', 'b', 'c'][which % 3] as string;
    if (what === 'create') {
      const metadata = { namespace: 'shop', name: `p${(this.#made * 7) % 10}-${this.#made++}` };
      objects.create(pods, { metadata, status: { phase } });
    } else if (what === 'change' && one) objects.update(pods, { ...one, status: { phase } });
    else if (what === 'delete' && one) objects.delete(pods, one.metadata as never);
    else if (what === 'cut') this.#cuts.next();
    else if (what === 'break') faults.closeWatches();
    else if (what === 'leave') {
      this.#leave();
      this.#leave = this.there.subscribe(() => undefined);
    } else if (what === 'pass') await this.time.advance(which * 7);
  }

  async settle(): Promise<void> {
    await this.time.advance(10_000);
    expect(shown(this.there, this.#isOrdered)).toEqual(expected(this.#here, this.#isOrdered));
  }
}

describe('messages of a stream', () => {
  it.each(Object.keys(STREAMS))(
    'E1: the view of the messages of "%s" shows what a view of the stream showed when they were sent, over any cuts',
    async (name) => {
      const steps = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(9)), {
        ...{ minLength: 5, maxLength: 30, size: 'max' },
      });
      await fc.assert(
        fc.asyncProperty(steps, async (all: readonly Step[]) => {
          const link = new Link(name);
          for (let at = 0; at < 4; at++) await link.step(['create', at]);
          for (const each of all) await link.step(each);
          await link.settle();
          expect(link.checked).toBeGreaterThan(0);
        }),
        { numRuns: 60 },
      );
    },
    600_000,
  );
});

const read = (source: Observable<never>, options: object = {}) => {
  const messages: WireMessage[] = [];
  let end = '';
  toWire(source, options).subscribe({
    next: (each) => messages.push(JSON.parse(JSON.stringify(each))),
    error: () => {
      end = 'error';
    },
    complete: () => {
      end = 'complete';
    },
  });
  return { messages, end: () => end };
};
const rowOf = (at: number, text = '') => ({
  metadata: { name: `w${at}`, uid: `u${at}`, resourceVersion: '5' },
  text,
});

describe('the size of messages', () => {
  it('E2: a large difference comes in parts of about 65,536 characters, of which none is shown before the last', () => {
    const added = Array.from({ length: 40 }, (_, at) => rowOf(at, 'x'.repeat(10_000)));
    const parts = new Subject<WireMessage>();
    const view = fromWire<{ metadata: { name: string } }>(parts);
    view.subscribe(() => undefined);
    const { messages } = read(of(changeSet({ added })) as never);
    expect(messages.length).toBe(7);
    for (const [at, message] of messages.entries()) {
      expect(JSON.stringify(message).length).toBeLessThan(70_000);
      expect([message.n, message.more === true]).toEqual([at + 1, at < 6]);
      expect(view.getSnapshot().rows).toHaveLength(0);
      parts.next(message);
    }
    expect(view.getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(
      added.map(({ metadata }) => metadata.name),
    );
  });

  it('E2: parts are sent one by one as they are acknowledged', () => {
    const added = Array.from({ length: 40 }, (_, at) => rowOf(at, 'x'.repeat(10_000)));
    const acks$ = new Subject<number>();
    const { messages, end } = read(of(changeSet({ added })) as never, { acks$ });
    for (let at = 1; at <= 7; at++) {
      expect(messages).toHaveLength(at);
      acks$.next(at - 1);
      expect(messages).toHaveLength(at);
      acks$.next(at);
    }
    expect(end()).toBe('complete');
  });

  it('E2: what changes while the parts are sent is sent after them', () => {
    const added = Array.from({ length: 40 }, (_, at) => rowOf(at, 'x'.repeat(10_000)));
    const acks$ = new Subject<number>();
    const changes$ = new Subject<never>();
    const { messages } = read(changes$, { acks$ });
    acks$.next(1);
    changes$.next(changeSet({ added }) as never);
    expect(messages.at(-1)?.more).toBe(true);
    changes$.next(changeSet({ deleted: [rowOf(0)] }) as never);
    for (let n = 2; n <= messages.length; n++) acks$.next(n);
    expect(messages.at(-1)).toMatchObject({ n: 9, gone: ['u0'], total: 39 });
  });

  it('E2: a reset takes the place of the parts that were not sent, and says the status that they would have said', () => {
    const added = Array.from({ length: 40 }, (_, at) => rowOf(at, 'x'.repeat(10_000)));
    const acks$ = new Subject<number>();
    const changes$ = new Subject<never>();
    const { messages } = read(changes$, { acks$ });
    changes$.next(changeSet({ added }) as never);
    acks$.next(1);
    expect(messages.at(-1)?.more).toBe(true);
    changes$.next(changeSet({ reset: true, added: [rowOf(99)] }) as never);
    const before = messages.length;
    for (let n = before; n <= messages.length; n++) acks$.next(n);
    expect(messages.slice(before)).toMatchObject([
      { reset: true, rows: [['u99', 0, {}]], total: 1, status: {} },
    ]);
    const view = fromWire<ReturnType<typeof rowOf>>(of(...messages));
    view.subscribe(() => undefined);
    expect(view.getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(['w99']);
  });

  it('E2: a row of over 262,144 characters is refused until it is deleted, and the others are sent', () => {
    const added = [rowOf(0), rowOf(1, 'x'.repeat(262_144)), rowOf(2)] as const;
    const changes$ = new Subject<never>();
    const { messages } = read(changes$);
    changes$.next(changeSet({ added }) as never);
    expect(messages.at(-1)?.rows?.map(([id]) => id)).toEqual(['u0', 'u2']);
    expect(JSON.stringify(messages.at(-1)?.status)).toMatch(
      /w1 cannot be sent, because its JSON has 2622\d\d characters/,
    );
    changes$.next(changeSet({ deleted: [added[1]] }) as never);
    expect(messages.at(-1)).toMatchObject({ total: 2, status: { refusedRows: [] } });
  });

  it('E2: the rows behind 33,554,432 characters of one difference are refused, and each is sent when it changes', () => {
    const text = 'x'.repeat(262_000);
    const added = Array.from({ length: 140 }, (_, at) => rowOf(at, text));
    const acks$ = new Subject<number>();
    const changes$ = new Subject<never>();
    const { messages } = read(changes$, { acks$ });
    changes$.next(changeSet({ added }) as never);
    for (let n = 1; n <= messages.length; n++) acks$.next(n);
    const ids = messages.flatMap(({ rows = [] }) => rows.map(([id]) => id));
    expect([ids.length, messages.at(-1)?.total]).toEqual([129, 129]);
    const told = messages.findLast(({ status }) => status !== undefined);
    expect(JSON.stringify(told?.status)).toMatch(
      /w129 is not sent, because the rows before it have over 33554432 characters; give the query a limit/,
    );
    const [previous, object] = [rowOf(139, text), rowOf(139, 'short')];
    changes$.next(changeSet({ updated: [{ previous, object }] } as never) as never);
    expect(messages.at(-1)).toMatchObject({ rows: [['u139', 129, object]], total: 130 });
  });
});

describe('the order of messages', () => {
  const two = () => {
    const changes$ = new Subject<never>();
    const { messages } = read(changes$);
    changes$.next(changeSet({ added: [rowOf(0)] }) as never);
    changes$.next(
      changeSet({ updated: [{ previous: rowOf(0), object: rowOf(0, 'a') }] } as never) as never,
    );
    return messages;
  };

  it.each<[string, (all: readonly WireMessage[]) => readonly unknown[], RegExp]>([
    ['is missing', ([, second]) => [second], /message 1 is missing, and \d has come/],
    ['comes twice', ([first]) => [first, first], /message 2 is missing, and 1 has come/],
    [
      'has another version',
      ([first]) => [{ ...first, wire: 9 }],
      /version 9, and this one reads version 1; load the page again/,
    ],
    ['is text', ([first]) => [JSON.stringify(first)], /not one of toWire; parse the JSON first/],
    ['is nothing', () => [null], /not one of toWire/],
    ['has other rows', ([first]) => [{ ...first, rows: [[1]] }], /not those of toWire/],
    ['has another status', ([first]) => [{ ...first, status: 5 }], /not those of toWire/],
    ['has the status null', ([first]) => [{ ...first, status: null }], /not those of toWire/],
  ])('E3: a message that %s is an error of the view', (_what, of, message) => {
    const parts = new Subject<never>();
    const view = fromWire(parts);
    const errors: unknown[] = [];
    view.items$.subscribe({ error: (error: unknown) => errors.push(error) });
    for (const each of of(two())) parts.next(each as never);
    expect(`${errors[0]}`).toMatch(message);
    expect(view.getSnapshot().error).toBe(errors[0]);
    expect(parts.observed).toBe(false);
  });

  it('E3: messages that complete before their stream complete the view, whose rows stay, stale; another subscriber begins again', () => {
    let parts = new Subject<WireMessage>();
    const view = fromWire(defer(() => parts));
    let end = '';
    view.items$.subscribe({
      complete: () => {
        end = 'complete';
      },
    });
    const set = changeSet({ added: [rowOf(0)] });
    const [first] = read(concat(of(set), NEVER) as never).messages;
    parts.next(first as WireMessage);
    const before = view.getSnapshot();
    expect(before).toMatchObject({ synced: true });
    parts.complete();
    const cut = view.getSnapshot();
    expect([end, cut.rows, cut.stale, cut.synced, cut.status.phase]).toEqual([
      'complete',
      before.rows,
      true,
      false,
      'stopped',
    ]);
    expect(cut.status.staleSinceMs).toBeTypeOf('number');
    parts = new Subject();
    view.items$.subscribe();
    parts.next({ ...(first as WireMessage), epoch: 'another' });
    const again = view.getSnapshot();
    expect([again.rows[0] === before.rows[0], again.synced, again.stale]).toEqual([
      true,
      true,
      undefined,
    ]);
  });

  it('E1: a stream that completes after its last set completes the messages and the view', () => {
    const changes$ = new Subject<never>();
    const { messages, end } = read(changes$);
    const parts = new Subject<WireMessage>();
    const view = fromWire(parts);
    let ended = '';
    view.items$.subscribe({
      complete: () => {
        ended = 'complete';
      },
    });
    changes$.next(changeSet({ added: [rowOf(0)] }) as never);
    changes$.complete();
    expect([messages.at(-1)?.run, end()]).toEqual(['ended', 'complete']);
    for (const message of messages) parts.next(message);
    expect([ended, view.getSnapshot().rows.length, view.getSnapshot().synced]).toEqual([
      'complete',
      1,
      true,
    ]);
  });

  it('E3: messages that error are the error of the view', () => {
    const view = fromWire(throwError(() => new Error('the socket has closed')));
    const errors: unknown[] = [];
    view.items$.subscribe({ error: (error: unknown) => errors.push(error) });
    expect(String(errors[0])).toBe('Error: the socket has closed');
  });

  it('E3: messages that error leave stale rows with their age; another subscriber begins again, and equal rows stay the same', () => {
    let parts = new Subject<WireMessage>();
    const view = fromWire(defer(() => parts));
    view.subscribe(() => undefined);
    const set = changeSet({ added: [rowOf(0)] });
    const [first] = read(concat(of(set), NEVER) as never).messages;
    parts.next(first as WireMessage);
    const { rows } = view.getSnapshot();
    const error = new Error('the socket has closed');
    parts.error(error);
    const failed = view.getSnapshot();
    expect(failed).toMatchObject({ rows, synced: false, stale: true, error });
    expect(failed.status).toMatchObject({ phase: 'stopped', live: false, error });
    expect(failed.status.staleSinceMs).toBeTypeOf('number');
    parts = new Subject();
    view.subscribe(() => undefined);
    expect(view.getSnapshot()).toMatchObject({ rows, synced: false, stale: true });
    parts.next({ ...(first as WireMessage), epoch: 'another' });
    const again = view.getSnapshot();
    expect([again.rows[0] === rows[0], again.synced, again.stale, again.error]).toEqual([
      ...[true, true, undefined, undefined],
    ]);
  });

  it.each<[string, Observable<never>]>([
    ['completed', of(changeSet({ added: [rowOf(0)] })) as never],
    [
      'errored',
      concat(
        of(changeSet({ added: [rowOf(0)] })),
        throwError(() => 5),
      ) as never,
    ],
  ])('E3: an error of the messages after their stream has %s changes nothing', (_what, stream) => {
    const parts = new Subject<WireMessage>();
    const view = fromWire(parts);
    view.subscribe(() => undefined);
    for (const message of read(stream).messages) parts.next(message);
    const before = view.getSnapshot();
    expect(before.rows).toHaveLength(1);
    parts.error(new Error('the socket has closed'));
    expect(view.getSnapshot()).toEqual(before);
  });
});

describe('what messages say', () => {
  it('E4: ages travel, and are told by the clock of the other machine', () => {
    const at = (ms: number): SchedulerLike => ({
      now: () => ms,
      schedule: () => {
        throw new Error('no timer');
      },
    });
    const status$ = new Subject<never>();
    const staleSince = 5_000;
    const { messages } = read(of(changeSet({ added: [rowOf(0)] })) as never, {
      scheduler: at(65_000),
    });
    expect(status$.observed).toBe(false);
    const message = {
      ...(messages[0] as WireMessage),
      status: { refusedRows: [], phase: 'backoff', staleSinceMs: staleSince - 65_000 },
    };
    const view = fromWire(of(message), { scheduler: at(1_060_000) });
    view.subscribe(() => undefined);
    expect(view.getSnapshot().status.staleSinceMs).toBe(1_000_000);
  });

  it('E4: an error of a stream says neither its message nor its stack', () => {
    const { messages, end } = read(throwError(() => new Error('password of /etc/shadow')));
    expect(JSON.stringify(messages)).not.toMatch(/password|shadow|stack/);
    expect(messages.at(-1)?.error).toEqual({
      name: 'Error',
      message: 'the query has failed',
    });
    expect(end()).toBe('complete');
  });

  it('E4: an error of a request without an answer says where it failed and why, without its message', () => {
    const silent = ApiError.local('Silent', 'GET https://10.0.0.1/api/v1/pods: no data for 60 s');
    const { messages } = read(throwError(() => silent));
    expect(messages.at(-1)?.error?.message).toBe(
      'the API server has not answered the process that serves this page (Silent), which says more',
    );
  });
});

describe('arguments', () => {
  it('E3: anything but an Observable is refused', () => {
    expect(() => toWire([] as never)).toThrow(
      'toWire: the source is a list; it must be an Observable of change sets',
    );
    expect(() => toWire(NEVER, { acks$: 5 as never })).toThrow(/toWire: acks\$/);
    expect(() => fromWire({} as never)).toThrow(/fromWire: messages\$/);
    expect(() => fromWire(NEVER, { acknowledge: 5 as never })).toThrow(/fromWire: acknowledge/);
  });
});
