/** The messages between the page and its server, beside the Kubernetes API. */

export const faultNames = ['drop', 'expire', 'throttle', 'restart', 'half-open'] as const;

export type FaultName = (typeof faultNames)[number];

/** `GET /dashboard/info?page=<id>`: what the page is connected to. The request also counts the page as open. */
export interface DashboardInfo {
  readonly cluster: string;
  /** The context of the kubeconfig, if one was chosen. */
  readonly context?: string;
  /** Set if the page can choose another context. */
  readonly hasContexts?: true;
  /** Set if only this namespace is shown. Requests for other namespaces, and for all of them, are refused. */
  readonly namespace?: string;
  /** Set if edits are refused. */
  readonly readOnly?: true;
  /** Set for the embedded server only. */
  readonly embedded?: { readonly pods: number; readonly rate: number };
}

/** `GET /dashboard/contexts`: the contexts of the kubeconfig. `POST /dashboard/context` shows `{ context }` to all pages, which reload. */
export interface ContextList {
  readonly contexts: readonly string[];
}

/** `GET /embedded/truth?resourceVersion=<n>`: the state of the server at that version. */
export interface Truth {
  readonly count: number;
  readonly fingerprint: number;
  /** The number of changes of pods since that version. */
  readonly ahead: number;
  readonly resourceVersion: string;
}

/** `POST /embedded/control`: inject a fault, or set the changes per second. */
export type Control = { readonly fault: FaultName } | { readonly rate: number };
