/**
 * Remembers whether a server supports streaming LISTs that can be read, so that this is not tried again at every
 * relist.
 */
import { ApiError } from '../meta/api-error.ts';
import { shownText } from '../meta/shown-text.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent } from '../transport/transport.ts';
import type { ServerFindings } from './server-findings.ts';

/** Stands for all resources of a client. */
const EVERYTHING = '*';

type Head = Extract<TransportEvent, { kind: 'head' }>;

/** Whether the lists of one resource can be streamed. */
export interface StreamingSupport {
  /** `'when-told'`: the client cannot see whether responses are compressed. */
  readonly known: boolean | 'when-told';
  /** Records that the server does not support streaming LISTs of this resource. */
  rememberNone(): void;
  /**
   * Returns a check for the head of one streaming LIST. Kubernetes 1.37 compresses streaming LISTs with a gzip member
   * per flush. Browsers read only the first member: they take its end for the end of the body, or wait for ever.
   */
  refusal(): (head: Head) => ApiError | undefined;
}

/** Returns what is known about streaming LISTs of `resource`. */
export function streamingSupport(
  client: KubeClient,
  { unstreamed }: ServerFindings,
  resource: string,
): StreamingSupport {
  const hides = () => client.hidesEncoding === true;
  return {
    get known() {
      if (unstreamed.has(resource) || unstreamed.has(EVERYTHING)) return false;
      return hides() ? 'when-told' : true;
    },
    rememberNone() {
      unstreamed.add(resource);
    },
    refusal() {
      // If the client hid the encoding before the request, the user has set `initialList: 'stream'`, and only a
      // visible encoding is refused.
      const isForced = hides();
      return (head) => {
        const encoding = head.header('content-encoding') || 'identity';
        const isSeen = encoding !== 'identity';
        if (isSeen) unstreamed.add(EVERYTHING);
        else if (isForced || !hides()) return undefined;
        const how = isSeen ? `is encoded as ${shownText(encoding)}` : 'may be compressed';
        const message = `WATCH ${resource}: the streaming list ${how}; the list is requested again without streaming`;
        return new ApiError({ code: 406, reason: 'NotAcceptable', message });
      };
    },
  };
}
