import fc from 'fast-check';
import { ApiError, exponentialBackoff, type WatchEvent } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorPhase,
  ReflectorState,
} from '../../lib/reflector/state.ts';
import { initialState } from '../../lib/reflector/state.ts';
import {
  nextReflector,
  reflectorTable,
  startReflector,
  stopReflector,
} from '../../lib/reflector/transitions.ts';
import { answer, event, expired, type Pod, pod, refused, tooLarge } from './script.ts';

type Input = ReflectorInput<Pod>;
type Effect = ReflectorEffect<Pod>;

const config: ReflectorConfig = {
  scope: undefined,
  initialList: 'auto',
  mayStream: () => true,
  renewsEarly: true,
  mayOverlap: () => true,
  pageSize: undefined,
  minWatchTimeoutMs: 300_000,
  backoff: exponentialBackoff(),
  healthyMs: 120_000,
};
const table = reflectorTable<Pod>();
const moment: Moment = { nowMs: 10_000, random: 0.5 };

function word(effect: Effect): string {
  switch (effect.type) {
    case 'emit':
      return `emit ${effect.deltas.map(({ type }) => type).join(' ')}`;
    case 'list':
      return `list ${effect.resourceVersion}`;
    case 'watch':
      return `${effect.initialEvents ? 'stream' : 'watch'} ${effect.resourceVersion}`;
    case 'wait':
      return `wait ${effect.delayMs}`;
    default:
      return effect.type;
  }
}

function frozen<V>(value: V): V {
  if (typeof value === 'object' && value !== null && !(value instanceof Error)) {
    Object.freeze(value);
    for (const each of Object.values(value)) frozen(each);
  }
  return value;
}

/** The input is ignored and the state does not change; or the next phase, and the effects. */
type Expected = 'ignored' | readonly [ReflectorPhase, ...string[]];

const inputs: { readonly [Type in Input['type']]: Extract<Input, { type: Type }> } = {
  queued: { type: 'queued' },
  sending: { type: 'sending' },
  opened: { type: 'opened' },
  doubted: { type: 'doubted' },
  part: { type: 'part', items: [pod('a@1')], rejected: [] },
  restart: { type: 'restart' },
  listed: { type: 'listed', resourceVersion: '9', paginated: false },
  events: { type: 'events', events: [event('~a@6')] },
  relisted: { type: 'relisted', items: [pod('a@6')], resourceVersion: '9' },
  closed: { type: 'closed' },
  failed: { type: 'failed', error: answer(500) },
  yielded: { type: 'yielded' },
  awake: { type: 'awake' },
  elapsed: { type: 'elapsed' },
  paused: { type: 'paused' },
  resumed: { type: 'resumed' },
  refresh: { type: 'refresh', trustVersions: true },
  renew: { type: 'renew' },
  renewed: { type: 'renewed' },
  'renewal-failed': { type: 'renewal-failed', error: answer(500) },
};

const ignoreAll = {
  queued: 'ignored',
  sending: 'ignored',
  opened: 'ignored',
  doubted: 'ignored',
  part: 'ignored',
  restart: 'ignored',
  listed: 'ignored',
  events: 'ignored',
  relisted: 'ignored',
  closed: 'ignored',
  failed: 'ignored',
  yielded: 'ignored',
  awake: 'ignored',
  elapsed: 'ignored',
  paused: 'ignored',
  resumed: 'ignored',
  refresh: 'ignored',
  renew: 'ignored',
  renewed: 'ignored',
  'renewal-failed': 'ignored',
} as const satisfies Record<Input['type'], Expected>;

const expected: Record<ReflectorPhase, Record<Input['type'], Expected>> = {
  listing: {
    queued: ['listing'],
    sending: ['listing'],
    opened: ['listing'],
    doubted: 'ignored',
    part: ['listing', 'emit replacing'],
    restart: ['listing', 'emit replace-abort'],
    listed: ['watching', 'emit replaced', 'watch 9'],
    events: 'ignored',
    relisted: 'ignored',
    closed: 'ignored',
    yielded: ['listing', 'emit replace-abort', 'list 5'],
    awake: 'ignored',
    failed: ['backoff', 'emit replace-abort', 'wait 1200'],
    elapsed: 'ignored',
    paused: ['paused', 'emit replace-abort', 'await-demand'],
    resumed: 'ignored',
    refresh: ['listing'],
    renew: 'ignored',
    renewed: 'ignored',
    'renewal-failed': 'ignored',
  },
  streaming: {
    queued: ['streaming'],
    sending: ['streaming'],
    opened: ['streaming'],
    doubted: 'ignored',
    part: 'ignored',
    restart: 'ignored',
    listed: 'ignored',
    events: ['streaming', 'emit replacing'],
    relisted: ['watching', 'emit replaced', 'renew-after'],
    closed: ['backoff', 'emit replace-abort', 'wait 1200'],
    yielded: ['streaming', 'emit replace-abort', 'stream 5'],
    awake: 'ignored',
    failed: ['backoff', 'emit replace-abort', 'wait 1200'],
    elapsed: 'ignored',
    paused: ['paused', 'emit replace-abort', 'await-demand'],
    resumed: 'ignored',
    refresh: ['streaming'],
    renew: 'ignored',
    renewed: 'ignored',
    'renewal-failed': 'ignored',
  },
  watching: {
    queued: ['watching'],
    sending: ['watching'],
    opened: ['watching', 'renew-after'],
    doubted: ['watching'],
    part: 'ignored',
    restart: 'ignored',
    listed: 'ignored',
    events: ['watching', 'emit updated', 'renew-after'],
    relisted: ['watching', 'emit replaced', 'renew-after'],
    closed: ['watching', 'watch 5'],
    yielded: ['watching', 'watch 5'],
    awake: ['watching', 'watch 5'],
    failed: ['backoff', 'wait 1200'],
    elapsed: 'ignored',
    paused: ['paused', 'await-demand'],
    resumed: 'ignored',
    refresh: ['streaming', 'stream '],
    renew: 'ignored',
    renewed: 'ignored',
    'renewal-failed': 'ignored',
  },
  paused: { ...ignoreAll, resumed: ['watching', 'watch 5'], refresh: ['paused'] },
  backoff: {
    ...ignoreAll,
    elapsed: ['watching', 'watch 5'],
    awake: ['watching', 'watch 5'],
    refresh: ['watching', 'watch 5'],
  },
  stopped: ignoreAll,
};

const stateIn = (phase: ReflectorPhase): ReflectorState =>
  frozen({
    ...initialState(0),
    phase,
    resourceVersion: '5',
    adopting: true,
    synced: true,
    resume: 'watch',
  });

const cells = (Object.keys(expected) as ReflectorPhase[]).flatMap((phase) =>
  (Object.keys(inputs) as Input['type'][]).map((type) => [phase, type] as const),
);

describe('the table', () => {
  it.each(cells)('R1: the phase %s has a rule for the input %s', (phase, type) => {
    const state = stateIn(phase);
    const [next, effects] = nextReflector(table, state, frozen(inputs[type]), moment, config);
    const cell = expected[phase][type];
    if (cell === 'ignored') {
      expect(next).toBe(state);
      expect(effects).toEqual([]);
    } else {
      expect([next.phase, ...effects.map(word)]).toEqual(cell);
      expect(next).not.toBe(state);
    }
  });

  it.each(cells)('R1: the rule of the phase %s for the input %s is pure', (phase, type) => {
    const step = () => nextReflector(table, stateIn(phase), inputs[type], moment, config);
    expect(step()).toEqual(step());
  });

  it.each([
    ['runs normally', 9_000, 204_000],
    ['was set back by an hour', 3_600_000, 205_000],
    ['jumped ahead by an hour', -3_600_000, 0],
  ])(
    'R26, X9: the wait for the next watch is never longer than planned if the clock %s',
    (_name, requestedMs, delayMs) => {
      const state = { ...stateIn('watching'), requestedMs, timeoutMs: 300_000 };
      const [, effects] = nextReflector(table, state, inputs.opened, moment, config);
      expect(effects).toEqual([{ type: 'renew-after', delayMs }]);
    },
  );

  it("R13: if onError returns 'stop', the pending deltas are emitted and the stream completes", () => {
    const state = stateIn('listing');
    const step = nextReflector(table, state, inputs.failed, moment, config);
    const [next, effects] = stopReflector(step, moment);
    expect([next.phase, next.nextRetryAtMs]).toEqual(['stopped', undefined]);
    expect(effects.map(word)).toEqual(['emit replace-abort', 'complete']);
  });
});

const errors = [
  ...[400, 401, 403, 404, 405, 406, 408, 409, 410, 415, 422, 429, 500, 501, 502, 503, 504].map(
    (code) => answer(code),
  ),
  answer(429, 'TooManyRequests', 45_000),
  refused,
  expired,
  tooLarge,
  ...(['Silent', 'Malformed', 'TooLarge', 'Unexpected', 'Stopped', 'Rejected'] as const).map(
    (reason) => ApiError.local(reason, reason),
  ),
];

const anError = fc.constantFrom(...errors);
const anEvent: fc.Arbitrary<WatchEvent<Pod>> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('+a', '~a', '-a', '?a', '+b', '~b', '-b', 'b', 'end'),
      fc.integer({ min: 1, max: 30 }),
    )
    .map(([kind, version]) => event(`${kind}@${version}`)),
  anError.map((error): WatchEvent<Pod> => ({ type: 'ERROR', error })),
);
const anInput: fc.Arbitrary<Input> = fc.oneof(
  fc.constantFrom<Input>(
    inputs.queued,
    inputs.opened,
    inputs.part,
    inputs.restart,
    inputs.closed,
    inputs.elapsed,
    inputs.paused,
    inputs.resumed,
    inputs.refresh,
    inputs.renew,
    inputs.renewed,
    inputs['renewal-failed'],
    { type: 'renewal-failed', error: answer(429, 'TooManyRequests', 45_000) },
    { type: 'refresh', trustVersions: false },
  ),
  fc
    .tuple(fc.constantFrom('', '0', '7', '20'), fc.boolean())
    .map(([resourceVersion, paginated]): Input => ({ type: 'listed', resourceVersion, paginated })),
  fc.array(anEvent, { maxLength: 4 }).map((events): Input => ({ type: 'events', events })),
  anError.map((error): Input => ({ type: 'failed', error })),
);
const aWalk = fc.array(
  fc.record({
    input: anInput,
    afterMs: fc.constantFrom(0, 1, 500, 1_500, 40_000, 150_000),
    random: fc.constantFrom(0, 0.5, 0.999),
  }),
  { maxLength: 60 },
);
const aConfig = fc
  .record({
    initialList: fc.constantFrom('auto' as const, 'stream' as const, 'pages' as const),
    pageSize: fc.constantFrom(undefined, 10),
    scope: fc.constantFrom(undefined, 'd'),
    streams: fc.boolean(),
    renewsEarly: fc.boolean(),
  })
  .map(
    ({ streams, ...rest }): ReflectorConfig => ({ ...config, ...rest, mayStream: () => streams }),
  );

const SLOT = ['list', 'watch', 'wait', 'await-demand'];
const REQUEST = ['list', 'watch'];
/** Whether a request may follow this input without a wait. */
function mayRequest({ phase: from, refreshing }: ReflectorState, input: Input): boolean {
  if (from === 'backoff') return input.type === 'elapsed' || input.type === 'refresh';
  if (from === 'paused') return input.type === 'resumed';
  if (from === 'watching') {
    const isAnswered = refreshing !== undefined && ['opened', 'events'].includes(input.type);
    return isAnswered || input.type === 'closed' || input.type === 'refresh';
  }
  if (from === 'listing' && input.type === 'listed') return true;
  return from !== 'stopped' && ['failed', 'events'].includes(input.type);
}

describe('a random sequence of inputs', () => {
  it('R1, R12: the machine has one request or wait at a time, and the waits are within their limits', () => {
    fc.assert(
      fc.property(aConfig, aWalk, (config, walk) => {
        let nowMs = 0;
        let [state, effects] = startReflector<Pod>(initialState(0), { nowMs, random: 0 }, config);
        expect(effects.length).toBe(1);
        for (const { input, afterMs, random } of walk) {
          nowMs += afterMs;
          const before = state;
          const now = { nowMs, random };
          [state, effects] = nextReflector(table, frozen(before), input, now, config);
          const again = nextReflector(table, before, input, now, config);
          expect(again).toEqual([state, effects]);
          const slots = effects.filter(({ type }) => SLOT.includes(type));
          expect(slots.length).toBeLessThanOrEqual(1);
          if (slots.some(({ type }) => REQUEST.includes(type))) {
            expect(mayRequest(before, input), `${before.phase} ${input.type}`).toBe(true);
          }
          if (before.phase !== state.phase && before.phase !== 'streaming') {
            expect(slots.length, `${before.phase} to ${state.phase}`).toBe(1);
          }
          for (const effect of effects) {
            if (effect.type !== 'wait') continue;
            if (input.type === 'refresh') {
              const { sinceMs = 0, forMs = 0 } = before.retryAfter ?? {};
              expect(nowMs + effect.delayMs).toBe(sinceMs + forMs);
              continue;
            }
            const isPrompt = state.listedPromptly && !before.listedPromptly;
            expect(effect.delayMs).toBeGreaterThanOrEqual(isPrompt ? 0 : 800);
            expect(effect.delayMs).toBeGreaterThanOrEqual(state.error?.retryAfterMs ?? 0);
            expect(effect.delayMs).toBeLessThanOrEqual(60_000);
          }
          expect(state.phase === 'backoff').toBe(state.nextRetryAtMs !== undefined);
          expect(state.attempt).toBeGreaterThanOrEqual(0);
          expect(state.loaded).toBeGreaterThanOrEqual(0);
          if (state.phase === 'backoff' || state.phase === 'paused') {
            expect(state.staleSinceMs).toBeDefined();
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('R5, R18: every list that was begun is replaced or aborted before another delta is emitted', () => {
    fc.assert(
      fc.property(aConfig, aWalk, (config, walk) => {
        let nowMs = 0;
        let [state, effects] = startReflector<Pod>(initialState(0), { nowMs, random: 0 }, config);
        let open = false;
        for (const { input, afterMs, random } of walk) {
          nowMs += afterMs;
          [state, effects] = nextReflector(table, state, input, { nowMs, random }, config);
          for (const effect of effects) {
            if (effect.type !== 'emit') continue;
            for (const { type } of effect.deltas) {
              if (type === 'replacing') open = true;
              else if (type === 'replace-abort' || type === 'replaced') open = false;
              else expect(open, `${type} within a list`).toBe(false);
            }
          }
          const listing = state.phase === 'listing' || state.phase === 'streaming';
          if (!listing) expect(open, state.phase).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });
});
