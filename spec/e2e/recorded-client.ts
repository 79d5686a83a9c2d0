/** A client that records its LIST and WATCH requests. */

import type { KubeClient, TransportEvent, TransportRequest } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { defer, type Observable } from 'rxjs';
import { tap } from 'rxjs/operators';

/** One LIST or WATCH that was sent. */
export interface Recorded {
  /** `stream` is a WATCH with initial events. */
  readonly kind: 'list' | 'stream' | 'watch';
  readonly query: Readonly<Record<string, string>>;
  /** By the given clock. */
  readonly sentMs: number;
  /** The HTTP status; 0 before the response. */
  status: number;
  /** How the request ended; `open` before its end, `left` after an unsubscribe. */
  end: 'open' | 'complete' | 'error' | 'left';
}

/** The options of {@link openRecordedClient}. */
export interface RecordedClientOptions {
  readonly file: string;
  readonly context?: string;
  readonly headersTimeoutMs?: number;
  /** @defaultValue a clock that stands still */
  readonly now?: () => number;
}

/** A {@link KubeClient} of a kubeconfig, with its recorded requests. */
export interface RecordedClient extends KubeClient {
  readonly sent: readonly Recorded[];
}

function kindOf({ query = {} }: TransportRequest): Recorded['kind'] {
  if (query.watch !== 'true') return 'list';
  return query.sendInitialEvents === 'true' ? 'stream' : 'watch';
}

/** Opens a recording client. */
export async function openRecordedClient(options: RecordedClientOptions): Promise<RecordedClient> {
  const { file, context, headersTimeoutMs, now = () => 0 } = options;
  const client = await clientFromKubeConfig({
    file,
    // The servers that refuse tokens on purpose speak http.
    credentialsOverHttp: true,
    ...(context === undefined ? {} : { context }),
    ...(headersTimeoutMs === undefined ? {} : { headersTimeoutMs }),
  });
  const sent: Recorded[] = [];
  const send = (request: TransportRequest): Observable<TransportEvent> =>
    defer(() => {
      const record: Recorded = {
        kind: kindOf(request),
        query: request.query ?? {},
        sentMs: now(),
        status: 0,
        end: 'open',
      };
      if (request.use !== 'call') sent.push(record);
      return client.send(request).pipe(
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
