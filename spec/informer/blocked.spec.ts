/** Informers that the server refuses: `whenSynced`, and the warning about a failure that blocks. */
import {
  ApiError,
  addEventHandler,
  createClient,
  createInformer,
  createListWatch,
  createSharedInformer,
  type InformerWarning,
  type ListerWatcher,
  type SharedInformerOptions,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { first, NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';
import { type Pod, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';
import { settle } from './handler-rig.ts';

const refusal = (code: number) =>
  ApiError.fromStatus({ code, message: `pods is refused with ${code}` }, code);

/** A collection whose requests fail with the codes in `refused`. */
function guarded(scope?: string) {
  const refused: { list?: number | undefined; watch?: number | undefined } = {};
  const source: ListerWatcher<Pod> = {
    ...(scope === undefined ? {} : { scope }),
    watchList: false,
    list: () =>
      refused.list === undefined
        ? of({ items: [pod('web', 8, 'web', scope)], metadata: { resourceVersion: '10' } })
        : throwError(() => refusal(refused.list as number)),
    watch: () =>
      new Observable((signals) => {
        if (refused.watch !== undefined) return signals.error(refusal(refused.watch));
        signals.next({ kind: 'opened' });
        return undefined;
      }),
  };
  return { source, refused };
}

type Outcome = 'pending' | 'synced' | ApiError;

/** Observes the outcome of a wait. */
function watched(wait: Promise<void>): { outcome: Outcome } {
  const seen: { outcome: Outcome } = { outcome: 'pending' };
  wait.then(
    () => {
      seen.outcome = 'synced';
    },
    (error: ApiError) => {
      seen.outcome = error;
    },
  );
  return seen;
}

function rig(options: SharedInformerOptions<Pod> = {}, scopes: readonly string[] = []) {
  const time = new VirtualTime();
  const parts = scopes.length === 0 ? [guarded()] : scopes.map((scope) => guarded(scope));
  const informer = createSharedInformer(
    parts.map(({ source }) => source),
    {
      ...{ name: 'pods', scheduler: time, random: () => 0 },
      ...{ idleTimeoutMs: Number.POSITIVE_INFINITY, onWarning: () => undefined },
      ...options,
    },
  );
  onTestFinished(() => informer.stop());
  const refuse = (list: number | undefined, at = 0) => {
    (parts[at] as (typeof parts)[number]).refused.list = list;
  };
  const refuseWatches = (watch: number | undefined, at = 0) => {
    (parts[at] as (typeof parts)[number]).refused.watch = watch;
  };
  return { time, informer, refuse, refuseWatches };
}

describe('whenSynced of a blocked informer', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'no-such-resource'],
  ])('I64: whenSynced rejects immediately while the server answers %i', async (code, blocked) => {
    const { time, informer, refuse } = rig();
    refuse(code);
    const registration = addEventHandler(informer, {});
    const before = watched(informer.whenSynced());
    const handler = watched(registration.whenSynced());
    await time.advance(1_000);
    expect(before.outcome).toBe('pending');
    informer.start();
    const after = watched(informer.whenSynced({ timeoutMs: 60_000 }));
    const patient = watched(informer.whenSynced({ whileBlocked: 'wait', timeoutMs: 3_000 }));
    const patientHandler = watched(registration.whenSynced({ whileBlocked: 'wait' }));
    await time.advance(0);
    expect(informer.status.blocked).toBe(blocked);
    for (const { outcome } of [before, handler, after]) {
      expect(outcome).toMatchObject({ code, cause: informer.status.error });
    }
    expect((before.outcome as ApiError).message).toBe(
      `pods is not synced: blocked (${blocked}): pods is refused with ${code}. The informer keeps trying; to wait for that, pass whileBlocked: 'wait'`,
    );
    expect((handler.outcome as ApiError).message).toMatch(/^handler 1 is not synced: blocked/);
    expect([patient.outcome, patientHandler.outcome]).toEqual(['pending', 'pending']);
    // A later call rejects, too, also during the next try.
    const late = watched(informer.whenSynced());
    await time.advance(0);
    expect(late.outcome).toMatchObject({ code });
    await time.advance(3_000);
    expect(patient.outcome).toMatchObject({ code });
    expect((patient.outcome as ApiError).message).toMatch(/is not synced after 3000 ms/);
    refuse(undefined);
    await time.advance(30_000);
    expect(patientHandler.outcome).toBe('synced');
    await informer.whenSynced();
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('I64: whenSynced keeps waiting after a failure that can be retried', async () => {
    const { time, informer, refuse } = rig();
    refuse(500);
    informer.start();
    const wait = watched(informer.whenSynced());
    await time.advance(60_000);
    expect(wait.outcome).toBe('pending');
    refuse(403);
    await time.advance(30_000);
    expect(wait.outcome).toMatchObject({ code: 403 });
  });

  it('I64: whenSynced resolves on a synced informer, also while the watch is forbidden', async () => {
    const { time, informer, refuseWatches } = rig();
    refuseWatches(403);
    const wait = watched(informer.whenSynced());
    informer.start();
    const never = new Promise<void>(() => undefined);
    const registration = addEventHandler(informer, { onAdd: () => never });
    const handler = watched(registration.whenSynced());
    await time.advance(2_000);
    expect(informer.status).toMatchObject({ synced: true, blocked: 'forbidden' });
    expect(wait.outcome).toBe('synced');
    await informer.whenSynced();
    // The handler is busy, not blocked.
    expect(handler.outcome).toBe('pending');
  });

  it('I64: one blocked scope of several is enough to reject, unless that scope was listed', async () => {
    const { time, informer, refuse, refuseWatches } = rig({}, ['shop', 'till']);
    refuseWatches(403, 0);
    refuse(500, 1);
    informer.start();
    const wait = watched(informer.whenSynced());
    await time.advance(2_000);
    expect(informer.status).toMatchObject({ blocked: 'forbidden', synced: false });
    expect(wait.outcome).toBe('pending');
    refuse(404, 1);
    await time.advance(30_000);
    expect(wait.outcome).toMatchObject({ code: 404 });
    expect((wait.outcome as ApiError).message).toMatch(
      /^pods is not synced: namespace till is blocked \(no-such-resource\): pods is refused with 404/,
    );
  });

  it('I9: whenSynced rejects if onError has ended one of several scopes before its first list', async () => {
    const [shop, bank] = [scriptedListWatch('shop'), scriptedListWatch('bank')];
    const informer = createSharedInformer([shop, bank], { name: 'pods', onError: () => 'stop' });
    informer.start();
    const waits = [
      watched(informer.whenSynced()),
      watched(informer.whenSynced({ whileBlocked: 'wait' })),
    ];
    shop.listed(1);
    bank.failList(ApiError.fromStatus({ code: 500, reason: 'InternalError', message: 'no' }, 500));
    await settle();
    for (const { outcome } of waits) {
      expect(outcome).toMatchObject({ code: 500 });
      expect((outcome as ApiError).message).toMatch(
        /^pods is not synced: namespace bank is no longer listed, because onError returned 'stop': /,
      );
    }
    await informer.stop();
  });

  it('I64: a denied streaming list is not a refusal while the plain list is requested instead', async () => {
    const { source } = guarded();
    const time = new VirtualTime();
    const streaming: ListerWatcher<Pod> = {
      ...source,
      watchList: true,
      list: (request) =>
        new Observable((parts) => time.schedule(() => source.list(request).subscribe(parts), 50)),
      watch: (request) =>
        request.sendInitialEvents === true ? throwError(() => refusal(403)) : source.watch(request),
    };
    const informer = createSharedInformer(streaming, { scheduler: time });
    const blocked: unknown[] = [];
    informer.status$.subscribe((status) => blocked.push(status.blocked));
    informer.start();
    const wait = watched(informer.whenSynced());
    await time.advance(10);
    expect(wait.outcome).toBe('pending');
    await time.advance(50);
    expect(wait.outcome).toBe('synced');
    expect(new Set(blocked)).toEqual(new Set([undefined]));
    await informer.stop();
  });

  it('I64: an informer stays blocked while the next streaming list is denied, too', async () => {
    const time = new VirtualTime();
    const denied: ListerWatcher<Pod> = {
      list: () => throwError(() => refusal(403)),
      watch: () => throwError(() => refusal(403)),
    };
    const informer = createSharedInformer(denied, { scheduler: time });
    const states: unknown[] = [];
    informer.status$.subscribe(({ blocked }) => {
      if (states.at(-1) !== blocked) states.push(blocked);
    });
    informer.start();
    await time.advance(60_000);
    expect(states).toEqual(['forbidden']);
    await informer.stop();
  });

  it('I64: an informer is no longer blocked once a list is being received', async () => {
    const { source, refused } = guarded();
    const time = new VirtualTime();
    const paged: ListerWatcher<Pod> = {
      ...source,
      list: (request) => {
        if (refused.list !== undefined) return source.list(request);
        return new Observable((parts) => {
          parts.next({ items: [pod('web', 8)] });
          parts.add(
            time.schedule(() => {
              parts.next({ items: [], metadata: { resourceVersion: '10' } });
              parts.complete();
            }, 50),
          );
        });
      },
    };
    const informer = createSharedInformer(paged, { scheduler: time, random: () => 0 });
    refused.list = 403;
    informer.start();
    await time.advance(0);
    refused.list = undefined;
    await time.advance(810);
    expect(informer.status).toMatchObject({ phase: 'listing', loaded: 1 });
    expect(informer.status.blocked).toBeUndefined();
    const wait = watched(informer.whenSynced());
    await time.advance(100);
    expect(wait.outcome).toBe('synced');
    await informer.stop();
  });
});

describe('the warning about a failure that blocks', () => {
  /** A test setup that collects the warnings. */
  function warned(scopes: readonly string[] = []) {
    const warnings: InformerWarning[] = [];
    return { ...rig({ onWarning: (warning) => warnings.push(warning) }, scopes), warnings };
  }

  it('I64, I65: an error whose text ends with a mark is followed by a sentence, not by another mark', async () => {
    const warnings: InformerWarning[] = [];
    const error = ApiError.fromStatus({ code: 404, message: 'Is this a proxy?' }, 404);
    const source = { watchList: false, list: () => throwError(() => error), watch: () => NEVER };
    const informer = createSharedInformer<Pod>(source, {
      ...{ name: 'pods', scheduler: new VirtualTime(), random: () => 0 },
      onWarning: (warning) => warnings.push(warning),
    });
    informer.start();
    expect(warnings[0]?.message).toContain('Is this a proxy? The informer keeps trying, and');
    const wait = informer.whenSynced();
    await expect(wait).rejects.toThrow('Is this a proxy? The informer keeps trying; to wait');
    await informer.stop();
  });

  it('I64, T3: the default warning has no control characters and no line breaks', async () => {
    const printed: string[] = [];
    const warn = vi.spyOn(console, 'warn').mockImplementation((text) => void printed.push(text));
    onTestFinished(() => warn.mockRestore());
    const source = {
      watchList: false,
      list: () => throwError(() => ApiError.fromStatus({ code: 404, message: 'no' }, 404)),
      watch: () => NEVER,
    };
    const informer = createSharedInformer<Pod>(source, {
      ...{ name: 'pods\u001b]0;x\u0007\nforged: fine', scheduler: new VirtualTime() },
    });
    informer.start();
    expect(printed.map((text) => /[\p{Cc}]/u.test(text))).toEqual([false]);
    await informer.stop();
  });

  it('I65: a failure that blocks causes one warning per run', async () => {
    const { time, informer, refuse, warnings } = warned();
    refuse(403);
    informer.start();
    await time.advance(100);
    expect(warnings).toEqual([
      {
        ...{ type: 'blocked', informer: 'pods', error: informer.status.error },
        message:
          'blocked (forbidden): pods is refused with 403. The informer keeps trying, and nothing listens to its status$',
      },
    ]);
    refuse(404);
    await time.advance(30_000);
    refuse(undefined);
    await time.advance(30_000);
    expect([informer.status.phase, warnings.length]).toEqual(['watching', 1]);
    await informer.stop();
    refuse(401);
    informer.start();
    await time.advance(10);
    expect(warnings.map(({ message }) => message.slice(0, 22))).toEqual([
      'blocked (forbidden): p',
      'blocked (unauthorized)',
    ]);
  });

  it('I65: there is no warning if status$ has a listener, also one that unsubscribes with this status', async () => {
    const { time, informer, refuse, warnings } = warned();
    refuse(403);
    informer.status$.pipe(first(({ blocked }) => blocked !== undefined)).subscribe();
    informer.start();
    await time.advance(30_000);
    expect(warnings).toEqual([]);
    // The listener saw the 403 only, so the 404 causes the warning.
    refuse(404);
    await time.advance(60_000);
    expect(warnings).toHaveLength(1);
  });

  it('I65: onWarning may stop the informer', async () => {
    const { source, refused } = guarded();
    const time = new VirtualTime();
    let warnings = 0;
    const informer = createInformer(
      source,
      {},
      {
        scheduler: time,
        onWarning: () => {
          warnings++;
          void informer.stop();
        },
      },
    );
    refused.list = 403;
    informer.start();
    await time.advance(60_000);
    expect([warnings, informer.isStopped, time.pending]).toEqual([1, true, 0]);
  });

  it('I65: the warning does not contain credentials that the server quotes', async () => {
    const token = 'eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl';
    const message = `the token Bearer ${token} is not known`;
    const fetch = async () =>
      new Response(JSON.stringify({ kind: 'Status', code: 401, message }), { status: 401 });
    const client = createClient({
      baseUrl: 'http://fake',
      fetch,
      headers: { authorization: `Bearer ${token}` },
    });
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const informer = createSharedInformer(createListWatch(client, pods), { name: 'pods' });
    informer.start();
    await eventually(() => expect(printed).toHaveBeenCalled());
    await informer.stop();
    const text = String(printed.mock.calls[0]?.[0]);
    expect(text).toMatch(
      /^pods: blocked \(unauthorized\): LIST v1\/pods: the token Bearer … is not known/,
    );
    expect(text).not.toContain('eyJ');
  });
});
