/**
 * The standing faults of one server, which last until they are healed or used up: the requests that they match, and their
 * effect on a request.
 */

import { type Resource, resourceName } from '../../meta/resource.ts';
import type { RequestRecord } from '../http/request.ts';
import { checkResource } from '../served-resource.ts';
import type { Holding } from './held-body.ts';

/** The requests that a fault applies to. All given fields must match. */
export interface RequestMatch {
  readonly method?: string | undefined;
  readonly use?: RequestRecord['use'] | undefined;
  readonly resource?: Resource | undefined;
  readonly namespace?: string | undefined;
  /** The complete path, or a pattern. */
  readonly path?: string | RegExp | undefined;
  /** Query parameters that must have these values. */
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** The requests that a fault applies to. Default: all. */
export type Match = RequestMatch | ((request: RequestRecord) => boolean);

/** Throws a `TypeError` if the resource is a name, which would match no request. */
export function checkMatch(match: Match | undefined): void {
  const resource: unknown = typeof match === 'object' ? match.resource : undefined;
  if (resource !== undefined) checkResource('faults', resource);
}

/** Whether a request matches. */
export function matches(match: Match | undefined, request: RequestRecord): boolean {
  if (match === undefined) return true;
  if (typeof match === 'function') return match(request);
  const { method, use, resource, namespace, path, query = {} } = match;
  if (method !== undefined && method !== request.method) return false;
  if (use !== undefined && use !== request.use) return false;
  if (resource !== undefined && resourceName(resource) !== request.resource) return false;
  if (namespace !== undefined && namespace !== request.namespace) return false;
  if (typeof path === 'string' && path !== request.path) return false;
  if (path instanceof RegExp && !path.test(request.path)) return false;
  return Object.entries(query).every(([name, value]) => request.query[name] === value);
}

/** A standing fault. */
export interface Fault {
  /** The number of requests that it has affected. */
  readonly hits: number;
  /** False after it is healed or used up. */
  readonly active: boolean;
  /** Ends the fault. Idempotent. */
  heal(): void;
}

/** The response of `failNext`. */
export interface FailedAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The reason in the `Status` body. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The delay in seconds, in the `Retry-After` header and in the details of the `Status`. */
  readonly retryAfterSeconds?: number | undefined;
  /** The form of the header. @defaultValue 'seconds' */
  readonly retryAfterAs?: 'seconds' | 'date' | undefined;
  /** Additional headers, for example the `location` of a redirect. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body to send instead of a `Status`. */
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** How many consecutive requests fail. @defaultValue 1 */
  readonly times?: number | undefined;
}

/** The options of `truncateNext`. */
export interface Truncation {
  /** How many bytes of the body are sent. Default: half of them. */
  readonly keepBytes?: number | undefined;
  /** Ends the body normally instead of breaking the connection. @defaultValue false */
  readonly clean?: boolean | undefined;
  /** How many consecutive responses are cut. @defaultValue 1 */
  readonly times?: number | undefined;
}

/** The effect of a standing fault on the requests that it matches. */
export type Effect =
  | { readonly kind: 'fail'; readonly answer: FailedAnswer }
  | { readonly kind: 'truncate'; readonly cut: Truncation }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'lose'; readonly takes: () => boolean }
  | { readonly kind: 'hold'; readonly holding: Holding }
  | {
      readonly kind:
        | 'refuse'
        | 'hang'
        | 'silence'
        | 'no-bookmarks'
        | 'no-end-mark'
        | 'swap'
        | 'gzip';
    };

class Standing implements Fault {
  readonly effect: Effect;
  readonly #match: Match | undefined;
  readonly #healed: () => void;
  hits = 0;
  #left: number;

  constructor(effect: Effect, match: Match | undefined, times: number, healed: () => void) {
    this.effect = effect;
    this.#match = match;
    this.#left = times;
    this.#healed = healed;
  }

  get active(): boolean {
    return this.#left > 0;
  }

  covers(request: RequestRecord): boolean {
    return this.active && matches(this.#match, request);
  }

  use(): void {
    this.hits++;
    this.#left--;
  }

  heal(): void {
    if (!this.active) return;
    this.#left = 0;
    this.#healed();
  }
}

/** The combined effect of the standing faults on one request. */
export interface Verdict {
  readonly connection: 'open' | 'refused' | 'silent';
  readonly delayMs: number;
  readonly answer?: FailedAnswer;
  readonly cut?: Truncation;
  readonly holding?: Holding;
}

/** The standing faults of one server. */
export class StandingFaults {
  #all: Standing[] = [];

  add(effect: Effect, match: Match | undefined, times: number, healed: () => void): Fault {
    this.#all = this.#all.filter(({ active }) => active);
    const fault = new Standing(effect, match, times, healed);
    this.#all.push(fault);
    return fault;
  }

  healAll(): void {
    for (const fault of this.#all) fault.heal();
    this.#all = [];
  }

  /** Whether a fault of this kind matches the request. */
  has(kind: Effect['kind'], request: RequestRecord): boolean {
    return this.#all.some((fault) => fault.effect.kind === kind && fault.covers(request));
  }

  /** Whether a fault loses the next event of this watch, and counts its use. */
  loses(request: RequestRecord): boolean {
    const covering = this.#all.filter((each) => each.covers(request));
    const fault = covering.find(({ effect }) => effect.kind === 'lose' && effect.takes());
    fault?.use();
    return fault !== undefined;
  }

  /** Combines the standing faults that match a request, and counts their use. */
  judge(request: RequestRecord): Verdict {
    let delayMs = 0;
    let connection: Verdict['connection'] = 'open';
    let answer: FailedAnswer | undefined;
    let cut: Truncation | undefined;
    let holding: Holding | undefined;
    for (const fault of this.#all) {
      if (!fault.covers(request)) continue;
      const { effect } = fault;
      if (effect.kind === 'delay') delayMs += effect.ms;
      else if (effect.kind === 'refuse') connection = 'refused';
      else if (effect.kind === 'hang' && connection === 'open') connection = 'silent';
      else if (effect.kind === 'fail' && answer === undefined) answer = effect.answer;
      else if (effect.kind === 'truncate' && cut === undefined) cut = effect.cut;
      else if (effect.kind === 'hold' && holding === undefined) holding = effect.holding;
      else continue;
      fault.use();
    }
    return {
      connection,
      delayMs,
      ...(answer === undefined ? {} : { answer }),
      ...(cut === undefined ? {} : { cut }),
      ...(holding === undefined ? {} : { holding }),
    };
  }
}
