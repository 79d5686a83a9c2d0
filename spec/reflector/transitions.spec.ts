import type { ReflectorPhase } from 'rx-informer';
import { ApiError, exponentialBackoff, type WatchEvent } from 'rx-informer';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type {
  Memory,
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorState,
} from '../../lib/reflector/state.ts';
import { initialMemory } from '../../lib/reflector/state.ts';
import {
  nextReflector,
  type ReflectorTable,
  reflectorTable,
  startReflector,
  stopReflector,
} from '../../lib/reflector/transitions.ts';
import * as fc from '../support/fast-check.ts';
import { answer, event, expired, type Pod, pod, refused, tooLarge } from './script.ts';

type Input = ReflectorInput;
type Effect = ReflectorEffect;
type Kind = Input['kind'];

const config: ReflectorConfig = {
  scope: undefined,
  initialList: 'auto',
  mayStream: () => true,
  renewsEarly: true,
  mayOverlap: () => true,
  isHeldBack: () => false,
  pageSize: undefined,
  minWatchTimeoutMs: 300_000,
  backoff: exponentialBackoff(),
  healthyMs: 120_000,
};
const moment: Moment = { nowMs: 10_000, random: 0.5, silentMs: 0, isReading: true, config };

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

const inputs: { readonly [Type in Kind]: Input & { kind: Type } } = {
  queued: { kind: 'queued' },
  sending: { kind: 'sending' },
  opened: { kind: 'opened' },
  alive: { kind: 'alive' },
  doubted: { kind: 'doubted' },
  part: { kind: 'part', items: [pod('a@1')], refused: [] },
  restart: { kind: 'restart' },
  listed: { kind: 'listed', items: [], resourceVersion: '9', paginated: false },
  events: { kind: 'events', events: [event('~a@6')] },
  closed: { kind: 'closed' },
  failed: { kind: 'failed', error: answer(500) },
  yielded: { kind: 'yielded' },
  awake: { kind: 'awake' },
  elapsed: { kind: 'elapsed' },
  paused: { kind: 'paused' },
  resumed: { kind: 'resumed' },
  refresh: { kind: 'refresh', trustVersions: true },
  renew: { kind: 'renew' },
  renewed: { kind: 'renewed' },
  'renewal-failed': { kind: 'renewal-failed', error: answer(500) },
  tick: { kind: 'tick' },
};

const ignoreAll = Object.fromEntries(
  Object.keys(inputs).map((kind) => [kind, 'ignored']),
) as Record<Kind, 'ignored'>;

const expected: Record<ReflectorPhase, Record<Kind, Expected>> = {
  listing: {
    ...ignoreAll,
    queued: ['listing'],
    sending: ['listing'],
    opened: ['listing'],
    part: ['listing', 'emit replacing'],
    restart: ['listing', 'emit replace-abort'],
    listed: ['watching', 'emit replaced', 'watch 9'],
    yielded: ['listing', 'emit replace-abort', 'list 5'],
    failed: ['backoff', 'emit replace-abort', 'wait 1200'],
    paused: ['paused', 'emit replace-abort', 'await-demand'],
    refresh: ['listing'],
  },
  streaming: {
    ...ignoreAll,
    queued: ['streaming'],
    sending: ['streaming'],
    opened: ['streaming'],
    listed: ['watching', 'emit replaced', 'renew-after'],
    events: ['streaming', 'emit replacing'],
    closed: ['backoff', 'emit replace-abort', 'wait 1200'],
    yielded: ['streaming', 'emit replace-abort', 'stream 5'],
    failed: ['backoff', 'emit replace-abort', 'wait 1200'],
    paused: ['paused', 'emit replace-abort', 'await-demand'],
    refresh: ['streaming'],
  },
  watching: {
    ...ignoreAll,
    queued: ['watching'],
    sending: ['watching'],
    opened: ['watching', 'tick-after', 'renew-after'],
    doubted: ['watching'],
    listed: ['watching', 'emit replaced', 'renew-after'],
    events: ['watching', 'emit updated', 'tick-after', 'renew-after'],
    closed: ['watching', 'watch 5'],
    yielded: ['watching', 'watch 5'],
    awake: ['watching', 'watch 5'],
    failed: ['backoff', 'wait 1200'],
    paused: ['paused', 'await-demand'],
    refresh: ['streaming', 'stream '],
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

const memory: Memory = { ...initialMemory(0), resourceVersion: '5', synced: true };
const request = { memory, queued: undefined, opened: false, requestedMs: 0 };
const states: { readonly [Phase in ReflectorPhase]: Extract<ReflectorState, { phase: Phase }> } = {
  listing: { ...request, phase: 'listing', loaded: 0, remaining: undefined, reused: false },
  streaming: {
    ...{ ...request, phase: 'streaming', timeoutMs: 0 },
    ...{ loaded: 0, added: 0, beganMs: undefined, reused: false },
  },
  watching: {
    ...request,
    phase: 'watching',
    timeoutMs: 0,
    adopting: true,
    renewal: undefined,
    repeats: undefined,
    tickMs: 0,
    delivered: false,
    quiet: 0,
  },
  paused: { phase: 'paused', memory, resume: 'watch' },
  backoff: { phase: 'backoff', memory, resume: 'watch', nextRetryAtMs: 0 },
  stopped: { phase: 'stopped', memory },
};
frozen(states);

const cells = (Object.keys(expected) as ReflectorPhase[]).flatMap((phase) =>
  (Object.keys(inputs) as Kind[]).map((type) => [phase, type] as const),
);

/** The rules without which the table of a phase would compile. */
type Dispensable = {
  [Phase in ReflectorPhase]: {
    [Type in keyof ReflectorTable[Phase]]: Omit<
      ReflectorTable[Phase],
      Type
    > extends ReflectorTable[Phase]
      ? Type
      : never;
  }[keyof ReflectorTable[Phase]];
}[ReflectorPhase];

describe('the table', () => {
  it('it does not compile without one of its rules, or with a rule for an input that is ignored', () => {
    expectTypeOf<Dispensable>().toBeNever();
    const { closed: _closed, doubted: _doubted, ...rest } = reflectorTable.watching;
    // @ts-expect-error `closed` and `doubted` are neither handled nor ignored
    const incomplete: ReflectorTable['watching'] = rest;
    const { failed } = reflectorTable.watching;
    // @ts-expect-error `part` is handled and ignored
    const both: ReflectorTable['watching'] = { ...reflectorTable.watching, part: failed };
    expect([incomplete, both].map((rules) => Object.keys(rules).length)).toEqual([15, 18]);
  });

  it.each(cells)('the phase %s has a rule for the input %s', (phase, type) => {
    const state = states[phase];
    const [next, effects] = nextReflector(state, frozen(inputs[type]), moment);
    const cell = expected[phase][type];
    if (cell === 'ignored') {
      expect(next).toBe(state);
      expect(effects).toEqual([]);
    } else {
      expect([next.phase, ...effects.map(word)]).toEqual(cell);
      expect(next).not.toBe(state);
    }
  });

  it.each(cells)('the rule of the phase %s for the input %s is pure', (phase, type) => {
    const step = () => nextReflector(states[phase], inputs[type], moment);
    expect(step()).toEqual(step());
  });

  it.each([
    ['runs normally', 9_000, 204_000],
    ['was set back by an hour', 3_600_000, 205_000],
    ['jumped ahead by an hour', -3_600_000, 0],
  ])(
    'R26, X5: the wait for the next watch is never longer than planned if the clock %s',
    (_name, requestedMs, delayMs) => {
      const state = { ...states.watching, requestedMs, timeoutMs: 300_000 };
      const [, effects] = nextReflector(state, inputs.opened, moment);
      expect(effects).toContainEqual({ type: 'renew-after', delayMs });
    },
  );

  it("R13: if onError returns 'stop', the pending deltas are emitted and the stream completes", () => {
    const state = states.listing;
    const step = nextReflector(state, inputs.failed, moment);
    const [next, effects] = stopReflector(step, moment);
    expect(next.phase).toBe('stopped');
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
  ...(['Silent', 'Malformed', 'TooLarge', 'Unexpected', 'Stopped', 'Refused'] as const).map(
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
    { kind: 'renewal-failed', error: answer(429, 'TooManyRequests', 45_000) },
    { kind: 'refresh', trustVersions: false },
  ),
  fc.tuple(fc.constantFrom('', '0', '7', '20'), fc.boolean()).map(
    ([resourceVersion, paginated]): Input => ({
      kind: 'listed',
      items: [],
      resourceVersion,
      paginated,
    }),
  ),
  fc.array(anEvent, { maxLength: 4 }).map((events): Input => ({ kind: 'events', events })),
  anError.map((error): Input => ({ kind: 'failed', error })),
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
function mayRequest(
  { phase: from, memory: { refreshing } }: ReflectorState,
  input: Input,
): boolean {
  if (from === 'backoff') return input.kind === 'elapsed' || input.kind === 'refresh';
  if (from === 'paused') return input.kind === 'resumed';
  if (from === 'watching') {
    const isAnswered = refreshing !== undefined && ['opened', 'events'].includes(input.kind);
    return isAnswered || input.kind === 'closed' || input.kind === 'refresh';
  }
  if (from === 'listing' && input.kind === 'listed') return true;
  return from !== 'stopped' && ['failed', 'events'].includes(input.kind);
}

const endsList = (input: Input): boolean =>
  input.kind === 'events' &&
  input.events.some((event) => event.type === 'BOOKMARK' && event.initialEventsEnd === true);

describe('a random sequence of inputs', () => {
  it('R12: the machine has one request or wait at a time, and the waits are within their limits', () => {
    fc.assert(
      fc.property(aConfig, aWalk, (config, walk) => {
        let nowMs = 0;
        let [state, effects] = startReflector(initialMemory(0), {
          ...moment,
          nowMs,
          random: 0,
          config,
        });
        expect(effects.length).toBe(1);
        for (const { input, afterMs, random } of walk) {
          nowMs += afterMs;
          const before = state;
          const now = { ...moment, nowMs, random, config };
          [state, effects] = nextReflector(frozen(before), input, now);
          const again = nextReflector(before, input, now);
          expect(again).toEqual([state, effects]);
          const slots = effects.filter(({ type }) => SLOT.includes(type));
          expect(slots.length).toBeLessThanOrEqual(1);
          if (slots.some(({ type }) => REQUEST.includes(type))) {
            expect(mayRequest(before, input), `${before.phase} ${input.kind}`).toBe(true);
          }
          if (before.phase !== state.phase && before.phase !== 'streaming') {
            expect(slots.length, `${before.phase} to ${state.phase}`).toBe(1);
          }
          for (const effect of effects) {
            if (effect.type !== 'wait') continue;
            if (input.kind === 'refresh') {
              const { sinceMs = 0, forMs = 0 } = before.memory.retryAfter ?? {};
              expect(nowMs + effect.delayMs).toBe(sinceMs + forMs);
              continue;
            }
            const { listedPromptly, healthySinceMs = Infinity } = before.memory;
            // Once again after a time without failures.
            const isForgiven = nowMs - healthySinceMs >= config.healthyMs;
            const { error, listedPromptly: isNow } = state.memory;
            const isPrompt = error?.isExpired === true && isNow && (!listedPromptly || isForgiven);
            const isLost = error?.reason === 'Network' || error?.reason === 'Silent';
            const isOpen = 'opened' in before && before.opened;
            // Events in the same part as the error show an answer, and may end the list.
            const isWatch =
              before.phase === 'watching' ? isOpen || input.kind === 'events' : endsList(input);
            const mayBeHealthy = isWatch && isLost;
            expect(effect.delayMs).toBeGreaterThanOrEqual(isPrompt || mayBeHealthy ? 0 : 800);
            expect(effect.delayMs).toBeGreaterThanOrEqual(state.memory.error?.retryAfterMs ?? 0);
            expect(effect.delayMs).toBeLessThanOrEqual(60_000);
          }
          expect(state.memory.attempt).toBeGreaterThanOrEqual(0);
          if ('loaded' in state) expect(state.loaded).toBeGreaterThanOrEqual(0);
          if (state.phase === 'backoff' || state.phase === 'paused') {
            expect(state.memory.staleSinceMs).toBeDefined();
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('R5, D6: every list that was begun is replaced or aborted before another delta is emitted', () => {
    fc.assert(
      fc.property(aConfig, aWalk, (config, walk) => {
        let nowMs = 0;
        let [state, effects] = startReflector(initialMemory(0), {
          ...moment,
          nowMs,
          random: 0,
          config,
        });
        let open = false;
        for (const { input, afterMs, random } of walk) {
          nowMs += afterMs;
          [state, effects] = nextReflector(state, input, { ...moment, nowMs, random, config });
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
