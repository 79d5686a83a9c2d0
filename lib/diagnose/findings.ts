/** What a diagnosis finds: each finding with its code, what was seen, and what to do. */
import { codeOf, type FindingName } from './codes.ts';

/**
 * `error`: informers do not work. `warning`: they work worse than they could, or will stop to work. `note`: nothing
 * has to be done.
 */
export type Severity = 'error' | 'warning' | 'note';

/** One finding of a diagnosis. */
export interface Finding {
  /** Such as `RX107`. `rx-informer explain RX107` prints its page. */
  readonly code: string;
  readonly name: FindingName;
  readonly severity: Severity;
  /** What was observed. It may name hosts, namespaces and kinds, but contains no credentials. */
  readonly seen: string;
  /** What to do. */
  readonly advice: string;
}

/** How serious a finding is, and what to do. */
const ADVICE: Readonly<Record<FindingName, readonly [severity: Severity, advice: string]>> = {
  unreachable: [
    'error',
    'Compare the address with that of kubectl cluster-info, and check DNS, the firewall, the VPN and the proxy.',
  ],
  'certificate-dates': [
    'error',
    "Renew the server's certificate and its CA, or set this machine's clock.",
  ],
  'certificate-refused': [
    'error',
    "Give the cluster's CA (certificate-authority in the kubeconfig), and reach the server by a name in its certificate (tls-server-name).",
  ],
  'no-api-server': [
    'error',
    'Give the address of an API server. A login page, a redirect or a proxy without its server has answered.',
  ],
  'no-credentials': ['error', 'Run the credential plugin in a terminal, or log in again.'],
  'credentials-refused': [
    'error',
    'Log in again, or renew the token. Check with kubectl auth whoami that the server accepts it.',
  ],
  'missing-right': [
    'error',
    'Add the verbs list and watch for this kind to a Role or ClusterRole of the user.',
  ],
  'token-ends': [
    'warning',
    'Renew the token, or use a tokenFile or a credential plugin, which the client reads again.',
  ],
  'certificate-ends': ['warning', "Renew the server's certificate before it ends."],
  'clock-skew': [
    'warning',
    'Synchronize the clocks (NTP). Tokens, certificates and leases are judged by the wrong time.',
  ],
  'held-back': [
    'error',
    'Turn off the buffering and the compression of responses in the proxy: for nginx proxy_buffering off, for Next.js compress: false.',
  ],
  'late-head': [
    'warning',
    'With a development server of Vite or http-proxy, use viteProxy() of rx-informer/node. Such a proxy also hides that its server has cut a watch.',
  ],
  'time-limit': [
    'warning',
    'Raise the limits of the proxy: for silence, nginx proxy_read_timeout, above 90 s; for whole responses, Envoy timeout: 0s, above ten minutes.',
  ],
  compressed: [
    'warning',
    'Do not compress responses to the API server in the proxy. Compressed watches may arrive late, and browsers cannot read compressed streaming lists.',
  ],
  'no-streaming': [
    'note',
    'Nothing has to be done: lists are requested in pages. Kubernetes streams them since 1.34.',
  ],
  'no-bookmarks': [
    'warning',
    'Ask who removes bookmarks between the server and this client. Without them a quiet watch looks dead after 85 s, and is requested again.',
  ],
  'few-connections': [
    'warning',
    'Serve the page over HTTP/2 (TLS), use one worker for all tabs (rx-informer/worker), or raise maxConnections.',
  ],
  'untested-version': [
    'warning',
    'Expect differences: rx-informer is tested with Kubernetes 1.33 to 1.37.',
  ],
  'not-served': [
    'error',
    'Install the CustomResourceDefinition, or compare group, version and plural with kubectl api-resources.',
  ],
  'blocked-informer': ['error', 'Correct what its error names. The informer keeps trying.'],
};

/** Creates a finding. */
export function finding(
  name: FindingName,
  seen: string,
  severity: Severity = ADVICE[name][0],
): Finding {
  const code = codeOf(name)?.code ?? '';
  return { code, name, severity, seen, advice: ADVICE[name][1] };
}
