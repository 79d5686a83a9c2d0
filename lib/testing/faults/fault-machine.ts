/**
 * `createFaultMachine`: plays a script of faults on a fake server, and on a proxy in front of it, until it is healed.
 */

import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import type { EpochMs } from '../../rx/timing.ts';
import type { FakeApiServer } from '../fake-api-server.ts';
import {
  type FaultScriptOptions,
  type FaultStep,
  faultScript,
  type HttpFault,
  type ScriptedFault,
  type StreamFault,
  type TcpFault,
} from './fault-script.ts';
import type { FailedAnswer, Fault, Match } from './standing-faults.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** The options of {@link createFaultMachine}. */
export interface FaultMachineOptions extends FaultScriptOptions {
  /** The same seed gives the same faults. @defaultValue 1 */
  readonly seed?: number | undefined;
  /** A source of random numbers in [0, 1), used instead of `seed`. */
  readonly random?: (() => number) | undefined;
  /** A script to play instead of the one generated from the seed. */
  readonly script?: Iterable<FaultStep> | undefined;
  /** The requests and watches that faults apply to. Default: all. */
  readonly match?: Match | undefined;
  /** The proxy whose connections receive the faults of depth `tcp`. Without a proxy they do nothing. */
  readonly proxy?: TcpProxy | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A fault that was played. */
export interface PlayedFault {
  /** The time of the machine's scheduler. */
  readonly atMs: EpochMs;
  readonly fault: ScriptedFault;
}

/** Plays faults over time. */
export interface FaultMachine {
  /** Starts the script, or continues it where it stopped. Does nothing while the machine runs. */
  start(): void;
  /** Ends all faults in effect and plays no more until `start`. Lost connections stay lost. Idempotent. */
  heal(): void;
  readonly running: boolean;
  /** The faults played so far, oldest first. */
  readonly played: readonly PlayedFault[];
}

type Standing = Pick<Fault, 'heal'>;

const BODIES: Readonly<Record<string, Pick<FailedAnswer, 'body' | 'contentType'>>> = {
  html: { body: '<html><body><h1>502 Bad Gateway</h1></body></html>', contentType: 'text/html' },
  text: { body: 'upstream connect error\n', contentType: 'text/plain' },
  empty: { body: '' },
  braces: { body: '{}\n' },
  'another-kind': { body: '{"kind":"ServiceList","apiVersion":"v1","metadata":{},"items":[]}\n' },
};
const HUGE_BYTES = 5_242_880;

/** A line that is not an event of an object of this collection. */
function strangeLine(kind: StreamFault['kind']): string {
  const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
  const metadata = {
    name: 'stranger',
    namespace: 'default',
    uid: 'stranger',
    resourceVersion: '1',
  };
  if (kind === 'wrong-kind') {
    return line('ADDED', { kind: 'Stranger', apiVersion: 'strange.example/v1', metadata });
  }
  if (kind === 'no-metadata') return line('MODIFIED', {});
  const annotations = { filling: 'x'.repeat(kind === 'huge' ? HUGE_BYTES : 10) };
  return line('STRANGE', { metadata: { ...metadata, annotations } });
}

class Machine implements FaultMachine {
  readonly #server: FakeApiServer | undefined;
  readonly #options: FaultMachineOptions;
  readonly #scheduler: SchedulerLike;
  readonly #steps: Iterator<FaultStep>;
  readonly #played: PlayedFault[] = [];
  readonly #standing = new Set<Standing>();
  /** The timers that end faults with a duration. */
  readonly #expirations = new Set<Subscription>();
  #next: Subscription | undefined;
  #running = false;

  constructor(server: FakeApiServer | undefined, options: FaultMachineOptions) {
    this.#server = server;
    this.#options = options;
    this.#scheduler = options.scheduler ?? asyncScheduler;
    const source = options.random ?? options.seed ?? 1;
    const depths = options.depths ?? (server === undefined ? (['tcp'] as const) : undefined);
    const script = options.script ?? faultScript(source, { ...options, depths });
    this.#steps = script[Symbol.iterator]();
  }

  get running(): boolean {
    return this.#running;
  }

  get played(): readonly PlayedFault[] {
    return this.#played;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#scheduleNext();
  }

  heal(): void {
    this.#running = false;
    this.#next?.unsubscribe();
    for (const end of this.#expirations) end.unsubscribe();
    this.#expirations.clear();
    for (const fault of this.#standing) fault.heal();
    this.#standing.clear();
  }

  #scheduleNext(): void {
    const { done, value } = this.#steps.next();
    if (done) {
      this.#running = false;
      return;
    }
    this.#next = this.#scheduler.schedule(() => {
      this.#play(value.fault);
      if (this.#running) this.#scheduleNext();
    }, value.afterMs);
  }

  #play(fault: ScriptedFault): void {
    this.#played.push({ atMs: this.#scheduler.now(), fault });
    const standing =
      fault.depth === 'http'
        ? this.#http(fault)
        : fault.depth === 'stream'
          ? this.#stream(fault)
          : this.#tcp(fault);
    if (standing === undefined) return;
    this.#standing.add(standing);
    if (!('forMs' in fault)) return;
    const end = this.#scheduler.schedule(() => {
      this.#expirations.delete(end);
      this.#standing.delete(standing);
      standing.heal();
    }, fault.forMs);
    this.#expirations.add(end);
  }

  #http(fault: HttpFault): Standing | undefined {
    const { match } = this.#options;
    if (this.#server === undefined) return undefined;
    const { faults } = this.#server;
    switch (fault.kind) {
      case 'refuse':
        return faults.refuse(match);
      case 'never-answer':
        return faults.neverAnswer(match);
      case 'delay':
        return faults.delay(fault.ms, match);
      case 'truncate':
        return faults.truncateNext(match, fault);
      case 'answer': {
        const { depth: _depth, kind: _kind, use, body, location, ...answer } = fault;
        const own = use === 'any' ? match : this.#matchWithUse(use);
        const headers = location === undefined ? {} : { headers: { location } };
        return faults.failNext(own, { ...answer, ...BODIES[body], ...headers });
      }
    }
  }

  /** The machine's `match`, limited to requests of one use. */
  #matchWithUse(use: 'list' | 'watch'): Match {
    const { match } = this.#options;
    if (typeof match === 'function') return (request) => request.use === use && match(request);
    // A `match` that is limited to another use matches no request.
    const other = match?.use !== undefined && match.use !== use;
    return other ? () => false : { ...match, use };
  }

  #stream(fault: StreamFault): Standing | undefined {
    const { match } = this.#options;
    if (this.#server === undefined) return undefined;
    const { faults, objects } = this.#server;
    switch (fault.kind) {
      case 'silence':
        return faults.silence(match);
      case 'half-open':
        return faults.halfOpen(match);
      case 'no-bookmarks':
        return faults.withoutBookmarks(match);
      case 'no-end-mark':
        return faults.withoutInitialEventsEnd(match);
      case 'close':
        faults.closeWatches(match);
        break;
      case 'reset':
        faults.dropWatches(match);
        break;
      case 'expire':
        faults.expireWatches(match);
        break;
      case 'compact':
        objects.compact();
        break;
      case 'swap':
        return faults.swapEvents(match);
      case 'repeat':
        faults.repeatEvents(fault.events, match);
        break;
      case 'cut':
        faults.cutWatches(fault.bytes, match, fault);
        break;
      case 'garbage':
        faults.sendRaw(fault.text, match);
        break;
      case 'error':
        faults.emitError({ code: fault.code, reason: fault.reason }, match, fault);
        break;
      default:
        faults.sendRaw(strangeLine(fault.kind), match);
    }
    return undefined;
  }

  #tcp(fault: TcpFault): Standing | undefined {
    const { proxy } = this.#options;
    if (proxy === undefined) return undefined;
    switch (fault.kind) {
      case 'drop':
        proxy.drop();
        return undefined;
      case 'cut':
        proxy.cutAfter(fault.bytes);
        return undefined;
      case 'refuse':
        return proxy.refuse();
      case 'half-open':
        return proxy.halfOpen();
      case 'delay':
        return proxy.delay(fault.ms);
      case 'throttle':
        return proxy.throttle(fault.bytesPerSecond);
    }
  }
}

/**
 * Creates a machine that plays faults on `server` over time, at up to three depths: responses, streams, and, with a
 * `proxy`, connections. The faults are generated from a seed, or given as a script.
 *
 * Nothing happens before `start()`. `heal()` ends all faults of the machine, and leaves other faults of the server. The
 * machine stops at the end of its script. Without a server, for tests with a real one, only the proxy's connections
 * receive faults.
 *
 * @example
 * ```ts
 * import { createFakeApiServer, createFaultMachine } from 'rx-informer/testing';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const scheduler = new VirtualTimeScheduler(undefined, 60_000);
 * const server = createFakeApiServer({ scheduler });
 * const machine = createFaultMachine(server, { seed: 7, scheduler });
 * machine.start();
 * scheduler.flush(); // a minute of faults
 * machine.played.length > 0; // => true
 * machine.heal();
 * (await server.fetch('http://fake/api/v1/pods')).status; // => 200
 * ```
 */
export function createFaultMachine(
  server: FakeApiServer | undefined,
  options: FaultMachineOptions = {},
): FaultMachine {
  return new Machine(server, options);
}
