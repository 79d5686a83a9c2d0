/** What a client has found out about its server. All its collections share it. */
import type { KubeClient } from '../transport/kube-client.ts';

export interface ServerFindings {
  /** The resources whose lists are not streamed; `*` stands for all. */
  readonly unstreamed: Set<string>;
  /** Whether the server has refused the parameter that leaves `managedFields` out. */
  refusesDrop: boolean;
}

const findings = /* @__PURE__ */ new WeakMap<KubeClient, ServerFindings>();

/** Returns the findings of `client`. The first call creates them. */
export function findingsOf(client: KubeClient): ServerFindings {
  const known = findings.get(client) ?? { unstreamed: new Set<string>(), refusesDrop: false };
  findings.set(client, known);
  return known;
}
