/** The options for lists and watches in a page, and the turns that they lead to. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { checkedDuration, checkedWholeLimit } from '../../rx/checked-option.ts';
import type { PageNetwork } from '../page-network.ts';
import type { Transport, TransportRequest } from '../transport.ts';
import { pageLife } from './page-life.ts';
import { pagePool, poolOf } from './slot-pool.ts';
import { StreamTurns } from './taking-turns.ts';

/** How lists and watches share the connections of a browser, and what happens to them in a hidden tab. */
export interface StreamOptions {
  /**
   * How many lists and watches may be open at the same time; the others take turns. In a page the limit holds for all
   * tabs of the page's origin together if the browser has Web Locks (which need HTTPS or localhost), otherwise for the
   * page. Outside of browsers it holds for the client. Infinity means no limit.
   * @defaultValue 4 in a browser, unless it is known to use HTTP/2 or HTTP/3; otherwise no limit
   */
  readonly maxStreams?: number | undefined;
  /**
   * How long lists and watches stay open after the tab was hidden, in milliseconds. Then they are closed, and resume
   * from the last version when the tab is shown. A page that is left or frozen closes them immediately. Infinity keeps
   * them open in a hidden tab. @defaultValue 60000
   */
  readonly hiddenGraceMs?: number | undefined;
  /** The scheduler of the turns. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Creates the turns of a client; `undefined` if its streams are not limited: outside of a page, unless asked for. */
export function streamTurns(
  { maxStreams, hiddenGraceMs = 60_000, scheduler = asyncScheduler }: StreamOptions,
  page: PageNetwork | undefined,
): StreamTurns | undefined {
  const graceMs = checkedDuration(hiddenGraceMs, 'createClient: hiddenGraceMs');
  if (maxStreams !== undefined) checkedWholeLimit(maxStreams, 'createClient: maxStreams');
  if (page === undefined && maxStreams === undefined) return undefined;
  const limit = maxStreams ?? Number.POSITIVE_INFINITY;
  return new StreamTurns({
    origin: page?.origin ?? 'the server',
    scheduler,
    pool: page === undefined ? pagePool() : poolOf(page.origin),
    life$: pageLife({ scheduler, graceMs }),
    most: () => (maxStreams === undefined ? (page?.mostStreams ?? limit) : limit),
  });
}

/** A transport whose lists and watches take turns. Calls do not wait. */
export function inTurns(transport: Transport, turns: StreamTurns): Transport {
  // Its other properties are read from `transport`, because they change.
  return Object.assign(Object.create(transport) as Transport, {
    awake$: turns.awake$,
    send: (request: TransportRequest) => {
      const sent$ = transport.send(request);
      const isFree = request.use === 'call' || request.isUrgent === true;
      return isFree ? sent$ : turns.take(request, () => sent$);
    },
    close: () => {
      turns.close(ApiError.local('Stopped', 'the client was closed'));
      return transport.close();
    },
  });
}
