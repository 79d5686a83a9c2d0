/** What the page and its server say to each other, beside the Kubernetes API itself. */

/** Ways to hurt the embedded server. */
export const faultNames = ['drop', 'expire', 'throttle', 'restart', 'half-open'] as const;

/** A way to hurt the embedded server. */
export type FaultName = (typeof faultNames)[number];

/** `GET /dashboard/info?page=<id>`: what the page is connected to. Asking also counts the page as open. */
export interface DashboardInfo {
  /** The name of the cluster, for people. */
  readonly cluster: string;
  /** Present on the embedded server only. */
  readonly embedded?: { readonly pods: number; readonly rate: number };
}

/** `GET /embedded/truth?resourceVersion=<n>`: what the server holds, as of that version. */
export interface Truth {
  readonly count: number;
  readonly fingerprint: number;
  /** Changes of pods since that version. */
  readonly ahead: number;
  /** The newest version of the server's pods. */
  readonly resourceVersion: string;
}

/** `POST /embedded/control`: hurt the server, or set the changes a second. */
export type Control = { readonly fault: FaultName } | { readonly rate: number };
