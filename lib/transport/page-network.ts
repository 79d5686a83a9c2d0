/** What a page can know of the network below its `fetch`: which protocol a server is spoken to in, how many requests fit. */
import type { HttpProtocol } from './transport.ts';

/** So many requests to one origin a browser sends at once over HTTP/1.1, all tabs together; more wait. */
const CONNECTIONS_AN_ORIGIN = 6;

/** The network of a page (or of a worker), towards one server. */
export interface PageNetwork {
  /** The server's. */
  readonly origin: string;
  /** The server is of another origin than the page. */
  readonly isElsewhere: boolean;
  readonly protocol: HttpProtocol | undefined;
  /** How many more requests fit beside so many open ones. */
  connectionsLeft(open: number): number;
}

interface Timing {
  readonly name: string;
  readonly nextHopProtocol?: string;
}

function known(protocol: string | undefined): HttpProtocol | undefined {
  return protocol === 'http/1.1' || protocol === 'h2' || protocol === 'h3' ? protocol : undefined;
}

/** The protocol of the last request to `origin` that the browser tells of: across origins only where the server lets it. */
function observedProtocol(origin: string): HttpProtocol | undefined {
  const { performance } = globalThis as { readonly performance?: Performance };
  const entriesOf = (type: string): readonly Timing[] =>
    performance?.getEntriesByType?.(type) ?? [];
  const entries = [...entriesOf('navigation'), ...entriesOf('resource')];
  const of = ({ name, nextHopProtocol }: Timing) =>
    URL.canParse(name) && new URL(name).origin === origin ? known(nextHopProtocol) : undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const protocol = of(entries[at] as Timing);
    if (protocol !== undefined) return protocol;
  }
  return undefined;
}

/** `undefined` where there is no page. */
export function pageNetwork(base: string): PageNetwork | undefined {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } };
  const here = location?.origin;
  if (here === undefined) return undefined;
  const origin = URL.canParse(base) ? new URL(base).origin : here;
  // No browser speaks HTTP/2 without TLS.
  let protocol: HttpProtocol | undefined = origin.startsWith('http:') ? 'http/1.1' : undefined;
  const find = () => {
    protocol ??= observedProtocol(origin);
    return protocol;
  };
  return {
    origin,
    isElsewhere: origin !== here,
    get protocol() {
      return find();
    },
    connectionsLeft(open) {
      const shares = find() === 'h2' || find() === 'h3';
      return shares ? Number.POSITIVE_INFINITY : Math.max(0, CONNECTIONS_AN_ORIGIN - open);
    },
  };
}
