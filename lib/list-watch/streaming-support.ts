/** What is known of whether streaming LISTs of a server come, and can be read: learnt once, not at every relist. */
import { ApiError } from '../meta/api-error.ts';
import { shownText } from '../meta/shown-text.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent } from '../transport/transport.ts';

// By client, the resources that it does not stream.
const withoutStreams = new WeakMap<KubeClient, Set<string>>();
/** In the place of a resource: all of them. */
const EVERYTHING = '*';

type Head = Extract<TransportEvent, { kind: 'head' }>;

/** Whether a server streams lists of one resource. */
export interface StreamingSupport {
  /** `'when-told'`: whether they come compressed cannot be seen. */
  readonly known: boolean | 'when-told';
  /** The server has shown that it does not. */
  rememberNone(): void;
  /**
   * For one streaming LIST: what is wrong with its head. Kubernetes 1.37 compresses, a gzip member for each flush, of
   * which browsers read the first: they take its end for the end of the body, or wait for ever.
   */
  refusal(): (head: Head) => ApiError | undefined;
}

/** What the server of `client` has shown of `resource`. */
export function streamingSupport(client: KubeClient, resource: string): StreamingSupport {
  const without = withoutStreams.get(client) ?? new Set<string>();
  withoutStreams.set(client, without);
  const hides = () => client.hidesEncoding === true;
  return {
    get known() {
      if (without.has(resource) || without.has(EVERYTHING)) return false;
      return hides() ? 'when-told' : true;
    },
    rememberNone() {
      without.add(resource);
    },
    refusal() {
      // Known beforehand and asked for all the same: it was told to.
      const isTold = hides();
      return (head) => {
        const encoding = head.header('content-encoding') || 'identity';
        const isSeen = encoding !== 'identity';
        if (isSeen) without.add(EVERYTHING);
        else if (isTold || !hides()) return undefined;
        const how = isSeen ? `comes as ${shownText(encoding)}` : 'may be compressed';
        const message = `WATCH ${resource}: the streaming list ${how}, and a browser may read only a part of it; it is requested without streaming`;
        return new ApiError({ code: 406, reason: 'NotAcceptable', message });
      };
    },
  };
}
