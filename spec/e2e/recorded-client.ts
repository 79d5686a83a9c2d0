/** A client whose requests for collections are written down, and can be held up on their way out. */

import type { KubeClient, TransportEvent, TransportRequest } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { defer, from, type Observable } from 'rxjs';
import { mergeMap, tap } from 'rxjs/operators';

/** One LIST or WATCH as it was sent. */
export interface Recorded {
  /** `stream`: a WATCH that asks for the collection first. */
  readonly kind: 'list' | 'stream' | 'watch';
  readonly query: Readonly<Record<string, string>>;
  readonly sentMs: number;
  /** HTTP status; 0 until there is one. */
  status: number;
  /** How it ended, `open` until then; `left`: unsubscribed. */
  end: 'open' | 'complete' | 'error' | 'left';
}

/** What {@link openRecordedClient} takes. */
export interface RecordedClientOptions {
  readonly file: string;
  readonly context?: string;
  readonly headersTimeoutMs?: number;
  /** Awaited before a request is sent. */
  readonly before?: (request: TransportRequest) => Promise<void> | undefined;
}

/** A {@link KubeClient} of a kubeconfig, and what it has sent. */
export interface RecordedClient extends KubeClient {
  readonly sent: readonly Recorded[];
}

function kindOf({ query = {} }: TransportRequest): Recorded['kind'] {
  if (query.watch !== 'true') return 'list';
  return query.sendInitialEvents === 'true' ? 'stream' : 'watch';
}

/** Opens a client that records. */
export async function openRecordedClient(options: RecordedClientOptions): Promise<RecordedClient> {
  const { file, context, headersTimeoutMs, before } = options;
  const client = await clientFromKubeConfig({
    file,
    ...(context === undefined ? {} : { context }),
    ...(headersTimeoutMs === undefined ? {} : { headersTimeoutMs }),
  });
  const sent: Recorded[] = [];
  const send = (request: TransportRequest): Observable<TransportEvent> =>
    defer(() => {
      const record: Recorded = {
        kind: kindOf(request),
        query: request.query ?? {},
        sentMs: Date.now(),
        status: 0,
        end: 'open',
      };
      if (request.use !== 'call') sent.push(record);
      const held = before?.(request);
      const answer = client.send(request);
      return (held === undefined ? answer : from(held).pipe(mergeMap(() => answer))).pipe(
        tap({
          next: (event) => {
            if (event.kind === 'head') record.status = event.status;
          },
          complete: () => {
            record.end = 'complete';
          },
          error: () => {
            record.end = 'error';
          },
          unsubscribe: () => {
            record.end = 'left';
          },
        }),
      );
    });
  return { ...client, send, sent };
}
