/** A server of one Lease under a test's hand. */
import { ApiError, type KubeRequest, type KubernetesObject } from 'rx-informer';
import type { SchedulerLike } from 'rxjs';

export interface Lease extends KubernetesObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
    strategy?: string;
  };
}

/** What becomes of one request. */
export interface Fate {
  /** On the way to the server, and back. */
  readonly thereMs?: number;
  readonly backMs?: number;
  /** The request, or the answer, gets lost: nothing comes, ever. */
  readonly lost?: 'request' | 'answer';
  readonly error?: ApiError;
}

export interface LeaseServer {
  lease: Lease | undefined;
  /** `a GET`, `b PUT 409` … as the server saw them. */
  readonly log: string[];
  /** Asked for each request. */
  fate: (method: string, who: string) => Fate;
  client(who: string): { request<R>(request: KubeRequest): Promise<R> };
}

export function leaseServer(scheduler: SchedulerLike): LeaseServer {
  let version = 0;
  const answer = (method: string, body: unknown): Lease => {
    const refuse = (code: number) => {
      throw ApiError.fromStatus({}, code);
    };
    const { lease } = server;
    if (method === 'POST' && lease !== undefined) refuse(409);
    if (method !== 'POST' && lease === undefined) refuse(404);
    if (method !== 'GET') {
      const given = body as Lease;
      const known = given.metadata?.resourceVersion;
      if (method === 'PUT' && known !== lease?.metadata?.resourceVersion) refuse(409);
      version++;
      const metadata = { ...given.metadata, resourceVersion: String(version) };
      server.lease = { ...given, metadata };
    }
    return structuredClone(server.lease as Lease);
  };
  const server: LeaseServer = {
    lease: undefined,
    log: [],
    fate: () => ({}),
    client: (who) => ({
      request: <R>({ method = 'GET', body, signal }: KubeRequest) =>
        new Promise<R>((resolve, reject) => {
          const fate = server.fate(method, who);
          signal?.addEventListener('abort', () => reject(ApiError.local('Aborted', 'aborted')));
          if (signal?.aborted) return reject(ApiError.local('Aborted', 'aborted'));
          if (fate.lost === 'request') return undefined;
          const text = JSON.stringify(body);
          const after = (ms: number, act: () => void) => {
            if (ms === 0) act();
            else scheduler.schedule(act, ms);
          };
          after(fate.thereMs ?? 0, () => {
            let settle: () => void;
            let code = '';
            try {
              if (fate.error !== undefined) throw fate.error;
              const lease = answer(method, text === undefined ? undefined : JSON.parse(text));
              settle = () => resolve(lease as R);
            } catch (error) {
              code = ` ${(error as ApiError).code}`;
              settle = () => reject(error);
            }
            server.log.push(`${who} ${method}${code}`);
            if (fate.lost !== 'answer') after(fate.backMs ?? 0, settle);
          });
          return undefined;
        }),
    }),
  };
  return server;
}
