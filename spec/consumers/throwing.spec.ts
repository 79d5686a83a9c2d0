/** Consumers that throw: the error is reported with their name, and no other consumer is affected. */
import {
  addEventHandler,
  conflateByKey,
  type DeliveryPolicy,
  deliver,
  metered,
  metricsOf,
  type SharedInformer,
  type SharedInformerOptions,
  toView,
} from 'rx-informer';
import { type Observable, of, throwError } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../support/scripted-list-watch.ts';
import { rig, STORY } from './rig.ts';
import { unhandled } from './unhandled.ts';

class ConsumerError extends Error {}

let thrown = 0;
function culprit(): never {
  thrown++;
  throw new ConsumerError('no');
}

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
  thrown = 0;
});
afterEach(() => errors.restore());

type Informer = SharedInformer<Pod>;

const STREAMS = [
  'changes$',
  'added$',
  'updated$',
  'deleted$',
  'snapshot$',
  'status$',
  'synced$',
] as const;

const ready: Record<string, DeliveryPolicy<Pod>> = {
  'a policy’s ready throws': { kind: 'conflate', ready: () => culprit() },
  'a policy’s ready errors': {
    kind: 'buffer',
    limit: 2,
    overflow: 'conflate',
    ready: () =>
      throwError(() => {
        thrown++;
        return new ConsumerError();
      }),
  },
  'a policy’s ready returns undefined': {
    kind: 'drop',
    limit: 2,
    ready: () => {
      thrown++;
      return undefined as unknown as Observable<unknown>;
    },
  },
};

/** The consumers whose errors the informer reports, with the reported name. */
const named: Record<string, [(informer: Informer) => unknown, string]> = {
  ...Object.fromEntries(
    STREAMS.map((name) => [
      name,
      [
        (informer: Informer) => (informer[name] as Observable<unknown>).subscribe(culprit),
        'culprit',
      ],
    ]),
  ),
  metrics$: [(informer) => metricsOf(informer).metrics$.subscribe(culprit), 'culprit'],
  'deliver(policy)': [
    (informer) => deliver(informer, { kind: 'conflate' }).changes$.subscribe(culprit),
    'culprit',
  ],
  ...Object.fromEntries(
    Object.entries(ready).map(([fault, policy]) => [
      `deliver: ${fault}`,
      [
        (informer: Informer) => deliver(informer, policy).changes$.subscribe(() => undefined),
        `deliver ${policy.kind}`,
      ],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(ready).map(([fault, delivery]) => [
      `a handler: ${fault}`,
      [
        (informer: Informer) => addEventHandler(informer, {}, { name: 'culprit', delivery }),
        'culprit',
      ],
    ]),
  ),
  'a handler': [
    (informer) =>
      addEventHandler(
        informer,
        { onAdd: culprit, onUpdate: culprit, onDelete: culprit },
        { name: 'culprit' },
      ),
    'culprit',
  ],
  'a handler that rejects': [
    (informer) =>
      addEventHandler(
        informer,
        { onAdd: async () => culprit(), onUpdate: async () => culprit() },
        { name: 'culprit' },
      ),
    'culprit',
  ],
  'a handler with a thenable that throws': [
    (informer) =>
      addEventHandler(
        informer,
        {
          // biome-ignore lint/suspicious/noThenProperty: the tested fault
          onAdd: () => Object.assign(Promise.resolve(), { then: culprit }),
          // biome-ignore lint/suspicious/noThenProperty: the tested fault
          onUpdate: () => ({ then: culprit }),
        },
        { name: 'culprit' },
      ),
    'culprit',
  ],
};

describe('a consumer that throws', () => {
  it.each(Object.entries(named))(
    'I3, R22: %s: is reported by name and still called, and the others receive every change',
    async (_, [join, name]) => {
      const { witnesses, reported, informer, story } = rig(join);
      await story();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(reported.length).toBeGreaterThan(0);
      expect(reported.length).toBe(thrown);
      expect(new Set(reported.map(({ subscriber }) => subscriber))).toEqual(new Set([name]));
      expect(await errors.reports()).toEqual([]);
      // A consumer that has thrown is still called for later changes.
      const before = thrown;
      if (!['deleted$', 'synced$', 'status$', 'added$'].includes(_))
        expect(before).toBeGreaterThan(2);
      await informer.stop();
    },
  );

  /** The consumers that the informer does not know. rxjs reports their errors. */
  const anonymous: Record<string, (informer: Informer) => unknown> = {
    'a view’s listener': (informer) => informer.changes$.pipe(toView()).subscribe(culprit),
    'a view’s rows': (informer) => informer.changes$.pipe(toView()).items$.subscribe(culprit),
    'a row’s listener': (informer) => {
      const view = informer.changes$.pipe(toView());
      return ['a', 'b', 'c'].map((uid) => view.select(uid).subscribe(culprit));
    },
    'a subscriber behind an operator': (informer) =>
      informer.changes$.pipe(mergeMap((set) => of(set))).subscribe(culprit),
    'a complete callback': (informer) => informer.changes$.subscribe({ complete: culprit }),
  };
  it.each(Object.entries(anonymous))(
    'I3: %s: is reported, and the others receive every change',
    async (_, join) => {
      const { witnesses, story, informer } = rig(join);
      await story();
      await informer.stop();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(thrown).toBeGreaterThan(0);
      const reports = await errors.reports();
      expect(reports.every((error) => error instanceof ConsumerError)).toBe(true);
      expect(reports).toHaveLength(thrown);
    },
  );

  it('I3: an operator that throws ends only its own stream', async () => {
    const seen: unknown[] = [];
    const { witnesses, story } = rig((informer) =>
      informer.changes$
        .pipe(conflateByKey({ ready: () => culprit() }))
        .subscribe({ error: (error) => seen.push(error) }),
    );
    await story();
    expect(witnesses).toEqual([STORY, STORY]);
    expect(seen).toEqual([expect.any(ConsumerError)]);
  });
});

describe('an option that throws', () => {
  const options: Record<string, SharedInformerOptions<Pod>> = {
    onWarning: { onWarning: culprit, resyncPeriodMs: 60_000 },
    onUnhandledError: { onUnhandledError: culprit },
    'a metrics provider’s histogram': {
      metrics: metered({
        createCounter: () => ({ add: culprit }),
        createUpDownCounter: () => ({ add: culprit }),
        createHistogram: () => ({ record: culprit }),
        createObservableGauge: () => ({ addCallback: () => {}, removeCallback: () => {} }),
      }),
    },
    'a metrics provider’s gauge': {
      metrics: metered({
        createCounter: () => ({ add: () => {} }),
        createUpDownCounter: () => ({ add: () => {} }),
        createHistogram: () => ({ record: () => {} }),
        createObservableGauge: () => ({ addCallback: culprit, removeCallback: culprit }),
      }),
    },
    'a metrics provider that creates no instrument': {
      metrics: metered({
        createCounter: culprit,
        createUpDownCounter: culprit,
        createHistogram: culprit,
        createObservableGauge: culprit,
      }),
    },
  };
  it.each(Object.entries(options))('I3, I27: %s: stops no consumer', async (_, each) => {
    const { witnesses, story, informer } = rig((informer) => {
      addEventHandler(informer, {
        onAdd: () => {
          throw new Error('thrown by the handler');
        },
      });
    }, each);
    addEventHandler(informer, {}, { resyncPeriodMs: 5_000 });
    await story();
    await informer.stop();
    expect(witnesses).toEqual([STORY, STORY]);
    expect(thrown).toBeGreaterThan(0);
    expect(informer.status.phase).toBe('stopped');
  });

  const demands: Record<string, () => Observable<unknown>> = {
    throws: culprit,
    errors: () => throwError(() => new ConsumerError(String(thrown++))),
  };
  it.each(Object.entries(demands))(
    'R22: a demand that %s is reported, and counts as open',
    async (_, demand) => {
      const { witnesses, reported, story, informer } = rig(() => {}, { demand });
      await story();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(reported.length).toBe(thrown);
      expect(new Set(reported.map(({ subscriber }) => subscriber))).toEqual(new Set(['demand']));
      expect(await errors.reports()).toEqual([]);
      await informer.stop();
    },
  );
});
