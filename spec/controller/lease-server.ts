/** A server of one Lease whose responses a test controls. */
import {
  ApiError,
  createLeaderElector,
  type KubeRequest,
  type KubernetesObject,
  type LeaderElectorOptions,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { Observable, type SchedulerLike } from 'rxjs';
import { VirtualTime } from '../rx/virtual-time.ts';

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

/** What happens to one request. */
export interface Fate {
  /** The time to the server and back, in milliseconds. */
  readonly thereMs?: number;
  readonly backMs?: number;
  /** The request or the response is lost: no response ever arrives. */
  readonly lost?: 'request' | 'answer';
  readonly error?: ApiError;
  /** What a proxy answers with status 200 in place of the server, which does not receive the request. */
  readonly instead?: unknown;
}

/** What proxies answer in place of a server. */
export const FALSE_ANSWERS: readonly unknown[] = [
  '<html><body>Sign in</body></html>',
  {},
  { kind: 'Status', status: 'Success' },
  { kind: 'Pod', metadata: { namespace: 'shop', name: 'billing', resourceVersion: '7' } },
  { kind: 'Lease', metadata: { namespace: 'shop', name: 'other', resourceVersion: '7' }, spec: {} },
  { kind: 'Lease', metadata: { namespace: 'shop', name: 'billing' }, spec: {} },
];

export interface LeaseServer {
  lease: Lease | undefined;
  /** The requests as the server saw them: `a GET`, `b PUT 409` … */
  readonly log: string[];
  /** Called for each request. */
  fate: (method: string, candidate: string) => Fate;
  /** How many creations are on their way to the server, including those that were aborted. */
  readonly creating: number;
  client(candidate: string): { request<R>(request: KubeRequest): Promise<R> };
  /** For a client with a rate limit. Requests for other objects are answered immediately. */
  transport(candidate: string): Transport;
}

export function leaseServer(scheduler: SchedulerLike): LeaseServer {
  let version = 0;
  let creating = 0;
  const answer = (method: string, body: unknown): Lease => {
    const refuse = (code: number) => {
      throw ApiError.fromStatus({}, code);
    };
    const { lease } = server;
    const given = (body ?? {}) as Lease;
    const { uid, resourceVersion } = given.metadata ?? {};
    if (method === 'POST' && lease !== undefined) refuse(409);
    if (method === 'GET' && lease === undefined) refuse(404);
    if (method === 'PUT') {
      if (resourceVersion === undefined) refuse(422);
      // A kube-apiserver creates a Lease from a PUT, but not if the PUT names the UID of another object.
      if (uid !== undefined && uid !== lease?.metadata?.uid) refuse(409);
      if (lease !== undefined && resourceVersion !== lease.metadata?.resourceVersion) refuse(409);
    }
    if (method !== 'GET') {
      version++;
      const metadata = {
        ...given.metadata,
        uid: lease?.metadata?.uid ?? `uid-${version}`,
        resourceVersion: String(version),
      };
      server.lease = { ...given, metadata };
    }
    return structuredClone(server.lease as Lease);
  };
  const server: LeaseServer = {
    lease: undefined,
    log: [],
    fate: () => ({}),
    get creating() {
      return creating;
    },
    client: (candidate) => ({
      request: <R>({ method = 'GET', body, signal }: KubeRequest) =>
        new Promise<R>((resolve, reject) => {
          const fate = server.fate(method, candidate);
          signal?.addEventListener('abort', () => reject(ApiError.local('Aborted', 'aborted')));
          if (signal?.aborted) return reject(ApiError.local('Aborted', 'aborted'));
          if (fate.lost === 'request') return undefined;
          if (fate.instead !== undefined) return resolve(fate.instead as R);
          const text = JSON.stringify(body);
          if (method === 'POST') creating++;
          const after = (ms: number, act: () => void) => {
            if (ms === 0) act();
            else scheduler.schedule(act, ms);
          };
          after(fate.thereMs ?? 0, () => {
            if (method === 'POST') creating--;
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
            server.log.push(`${candidate} ${method}${code}`);
            if (fate.lost !== 'answer') after(fate.backMs ?? 0, settle);
          });
          return undefined;
        }),
    }),
    transport: (candidate) => ({
      close: () => Promise.resolve(),
      send: ({ method, path, body }) =>
        new Observable<TransportEvent>((subscriber) => {
          const aborting = new AbortController();
          const respond = (status: number, answer: unknown) => {
            const header = (name: string) => (name === 'content-type' ? 'application/json' : null);
            subscriber.next({ kind: 'head', status, header });
            const bytes = new TextEncoder().encode(JSON.stringify(answer));
            subscriber.next({ kind: 'chunk', bytes });
            subscriber.complete();
          };
          const sent = body === undefined ? undefined : JSON.parse(String(body));
          const asked = path.includes('/leases')
            ? server
                .client(candidate)
                .request({ method, path, body: sent, signal: aborting.signal })
            : Promise.resolve({});
          asked.then(
            (answer) => respond(200, answer),
            (error: ApiError) => respond(error.code, {}),
          );
          return () => aborting.abort();
        }),
    }),
  };
  return server;
}

export const place = { namespace: 'shop', name: 'billing' };

/** Electors of one Lease in virtual time. The story says when each leads and no longer leads. */
export function electionRig() {
  const scheduler = new VirtualTime();
  const server = leaseServer(scheduler);
  const story: string[] = [];
  const candidate = (identity: string, options: Partial<LeaderElectorOptions> = {}) => {
    const elector = createLeaderElector({
      ...place,
      client: server.client(identity),
      identity,
      scheduler,
      random: () => 0,
      onError: () => undefined,
      ...options,
    });
    let before = false;
    elector.leading$.subscribe((leads) => {
      if (leads !== before)
        story.push(`${scheduler.now()} ${identity} ${leads ? 'leads' : 'lost'}`);
      before = leads;
    });
    return elector;
  };
  return { scheduler, server, story, candidate };
}
