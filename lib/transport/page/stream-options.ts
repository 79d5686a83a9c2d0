/** The options for lists and watches in a page. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { checkedDuration, checkedWholeLimit, ifGiven } from '../../checks/checked-option.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { PageNetwork } from '../page-network.ts';
import type { Transport, TransportRequest } from '../transport.ts';
import { PageStreams } from './page-streams.ts';

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

/** Returns `undefined` if the streams of a client are not limited: outside of a page, unless asked for. */
export function pageStreams(
  { maxStreams, hiddenGraceMs = 60_000, scheduler = asyncScheduler }: StreamOptions,
  page: PageNetwork | undefined,
): PageStreams | undefined {
  const graceMs = checkedDuration(hiddenGraceMs, 'createClient: hiddenGraceMs');
  ifGiven(checkedWholeLimit, maxStreams, 'createClient: maxStreams');
  const most = () => maxStreams ?? page?.mostStreams ?? Number.POSITIVE_INFINITY;
  if (page === undefined && most() === Number.POSITIVE_INFINITY) return undefined;
  return new PageStreams({ origin: page?.origin, scheduler, graceMs, most });
}

/** A transport whose lists and watches are those of a page. Calls do not wait. */
export function inPage(transport: Transport, streams: PageStreams): Transport {
  // Its other properties are read from `transport`, because they change.
  return Object.assign(Object.create(transport) as Transport, {
    awake$: streams.awake$,
    send: (request: TransportRequest) => {
      const sent$ = transport.send(request);
      const isFree = request.use === 'call' || request.isUrgent === true;
      return isFree ? sent$ : streams.take(request, () => sent$);
    },
    close: () => {
      streams.close(ApiError.local('Stopped', 'the client was closed'));
      return transport.close();
    },
  });
}
