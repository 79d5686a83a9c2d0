/** The findings of a client about its server and the proxies before it. All collections of the client share them. */
import type { SchedulerLike } from 'rxjs';
import type { KubeClient } from '../transport/kube-client.ts';
import { createPassage, type Passage } from './buffering-proxy.ts';
import { createServerLife, type ServerLife } from './liveness.ts';

export interface ServerFindings {
  /** Whether a proxy holds events back. */
  readonly passage: Passage;
  /** Whether the server can be reached. */
  readonly life: ServerLife;
  /** The resources whose lists are not streamed; `*` stands for all. */
  readonly unstreamed: Set<string>;
  /** Whether the server has refused the parameter that leaves `managedFields` out. */
  refusesDrop: boolean;
}

const findings = /* @__PURE__ */ new WeakMap<KubeClient, ServerFindings>();

/** Returns the findings of `client`. The first call creates them. */
export function findingsOf(client: KubeClient, scheduler: SchedulerLike): ServerFindings {
  const known = findings.get(client) ?? {
    passage: createPassage(scheduler),
    life: createServerLife(client, scheduler),
    unstreamed: new Set<string>(),
    refusesDrop: false,
  };
  findings.set(client, known);
  return known;
}
