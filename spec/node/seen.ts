/** Records the events of a transport, and searches errors for secrets. */
import { inspect } from 'node:util';
import { ApiError, type TransportEvent } from 'rx-informer';
import type { Observable, Subscription } from 'rxjs';
import { expect } from 'vitest';

/** A subscription and everything that it received. */
export interface Seen {
  status?: number;
  header(name: string): string | null;
  bytes: number;
  text: string;
  error?: unknown;
  completed: boolean;
  readonly subscription: Subscription;
  /** Resolves when the stream completes or errors. */
  readonly ended: Promise<void>;
}

/** Subscribes and records. Use `keepText: false` for large bodies. */
export function watch(events: Observable<TransportEvent>, options = { keepText: true }): Seen {
  let end = () => {};
  const seen: { -readonly [K in keyof Seen]?: Seen[K] } & Omit<Seen, 'subscription'> = {
    header: () => null,
    bytes: 0,
    text: '',
    completed: false,
    ended: new Promise((resolve) => {
      end = resolve;
    }),
  };
  seen.subscription = events.subscribe({
    next: (event) => {
      if (event.kind === 'head') {
        seen.status = event.status;
        seen.header = event.header;
      }
      if (event.kind !== 'chunk') return;
      seen.bytes += event.bytes.length;
      if (options.keepText) seen.text += Buffer.from(event.bytes).toString('latin1');
    },
    error: (error) => {
      seen.error = error;
      end();
    },
    complete: () => {
      seen.completed = true;
      end();
    },
  });
  return seen as Seen;
}

/** Everything that a logger could print of an error. */
function printed(error: unknown): string {
  const parts = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error)];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.message, String(at.stack));
  return parts.join('\n');
}

/** Expects an ApiError with this reason that shows none of the secrets. */
export function expectClean(error: unknown, reason: string, secrets: readonly string[]): ApiError {
  expect(error).toBeInstanceOf(ApiError);
  const text = printed(error);
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect((error as ApiError).reason).toBe(reason);
  return error as ApiError;
}

export { printed };
