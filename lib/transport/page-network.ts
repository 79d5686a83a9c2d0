/**
 * Reports what a page can find out about the network below its `fetch`: the protocol of a server, and how many more
 * requests can be open.
 */
import { parsedUrl } from './address.ts';
import type { HttpProtocol } from './transport.ts';

/** How many requests a browser sends to one origin at a time over HTTP/1.1, across all tabs; others wait. */
const CONNECTIONS_PER_ORIGIN = 6;
/** How many of them lists and watches may use. Two stay free for other requests. */
const STREAMS_PER_ORIGIN = 4;

/** The network between a page (or a worker) and one server. */
export interface PageNetwork {
  /** The origin of the server. */
  readonly origin: string;
  /** Whether the server has another origin than the page. */
  readonly isElsewhere: boolean;
  readonly protocol: HttpProtocol | undefined;
  /** How many more requests can be open if `open` requests are open already. */
  connectionsLeft(open: number): number;
  /** How many lists and watches may be open, over all tabs. */
  readonly mostStreams: number;
}

interface Timing {
  readonly name: string;
  readonly nextHopProtocol?: string;
}

function known(protocol: string | undefined): HttpProtocol | undefined {
  return protocol === 'http/1.1' || protocol === 'h2' || protocol === 'h3' ? protocol : undefined;
}

/**
 * The protocol of the last request to `origin` that the browser reports. It reports requests to other origins only if
 * the server allows it.
 */
function observedProtocol(origin: string): HttpProtocol | undefined {
  const { performance } = globalThis as { readonly performance?: Performance };
  const entriesOf = (type: string): readonly Timing[] =>
    performance?.getEntriesByType?.(type) ?? [];
  const entries = [...entriesOf('navigation'), ...entriesOf('resource')];
  const of = ({ name, nextHopProtocol }: Timing) =>
    parsedUrl(name)?.origin === origin ? known(nextHopProtocol) : undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const protocol = of(entries[at] as Timing);
    if (protocol !== undefined) return protocol;
  }
  return undefined;
}

/** Returns `undefined` outside of a page. */
export function pageNetwork(base: string): PageNetwork | undefined {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } };
  const here = location?.origin;
  if (here === undefined) return undefined;
  const origin = parsedUrl(base)?.origin ?? here;
  // Browsers use HTTP/2 only over TLS.
  let protocol: HttpProtocol | undefined = origin.startsWith('http:') ? 'http/1.1' : undefined;
  const find = () => {
    protocol ??= observedProtocol(origin);
    return protocol;
  };
  const shares = () => find() === 'h2' || find() === 'h3';
  return {
    origin,
    isElsewhere: origin !== here,
    get protocol() {
      return find();
    },
    connectionsLeft: (open) =>
      shares() ? Number.POSITIVE_INFINITY : Math.max(0, CONNECTIONS_PER_ORIGIN - open),
    get mostStreams() {
      return shares() ? Number.POSITIVE_INFINITY : STREAMS_PER_ORIGIN;
    },
  };
}
