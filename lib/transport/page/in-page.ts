/** A transport whose lists and watches share the connections of a page. */
import { asyncScheduler } from 'rxjs';
import { checkedDuration, checkedWholeLimit, ifGiven } from '../../checks/checked-option.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { PageNetwork } from '../page-network.ts';
import type { Transport, TransportRequest } from '../transport.ts';
import { PageStreams } from './page-streams.ts';
import type { StreamOptions } from './stream-options.ts';

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
