/**
 * The calls that exist for pods only: reading a log and evicting.
 * client-go: kubernetes/typed/core/v1/pod_expansion.go.
 */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { checkedWholeLimit } from '../checks/checked-option.ts';
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { shownServer } from '../transport/address.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { sendSuccessful } from '../transport/response.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { deleteBody, logQuery } from './call-query.ts';
import { LogLines } from './log-lines.ts';
import { addressOf, type ObjectTarget } from './object-target.ts';
import type { EvictOptions, PodClient, PodLogOptions } from './resource-client.ts';
import { untilAborted } from './until-aborted.ts';

/** Whether a resource is the pods of the core group. */
export function isPods({ group, plural }: Resource<KubernetesObject>): boolean {
  return group === '' && plural === 'pods';
}

/** Emits the lines of a text response. A response with an error status becomes an error. */
function linesOf(
  client: Pick<KubeClient, 'send'>,
  request: TransportRequest,
  maxLineLength: number,
  scheduler: SchedulerLike,
): Observable<string> {
  const where = `${request.method} ${request.path}`;
  return new Observable<string>((subscriber) => {
    const lines = new LogLines(maxLineLength);
    const emit = (closed: readonly string[]) => {
      for (const line of closed) subscriber.next(line);
    };
    // Stopped at its source, because each stage would let one more event pass.
    const send = (sent: TransportRequest) => client.send(sent).pipe(stoppedWith(subscriber));
    subscriber.add(
      sendSuccessful({ send }, request, where, scheduler).subscribe({
        next: (event) => {
          if (event.kind === 'chunk') emit(lines.push(event.bytes));
        },
        error: (error) => subscriber.error(ApiError.from(error, where)),
        complete: () => {
          emit(lines.end());
          subscriber.complete();
        },
      }),
    );
  });
}

/** Creates the methods `log` and `evict`. */
export function podCalls<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  scope: string | undefined,
  scheduler: SchedulerLike = asyncScheduler,
): Pick<PodClient<T>, 'log' | 'evict'> {
  return {
    log(target: ObjectTarget, options: PodLogOptions = {}): Observable<string> {
      const { follow = false, maxLineLength = 2 ** 20, demand, signal } = options;
      checkedWholeLimit(maxLineLength, 'log: maxLineLength');
      const address = addressOf(resource, target, scope);
      const path = resourcePath(resource, { ...address, subresource: 'log' });
      const request: TransportRequest = {
        method: 'GET',
        path,
        query: logQuery(options),
        // The log is text, even if the client's headers request JSON.
        headers: { accept: 'text/plain, */*' },
        // A followed log may be silent for days, like a watch.
        use: follow ? 'watch' : 'list',
        demand,
      };
      const lines$ = linesOf(client, request, maxLineLength, scheduler);
      return lines$.pipe(untilAborted(signal, `GET ${path}`));
    },
    async evict(target: ObjectTarget, options: EvictOptions = {}): Promise<Status> {
      const address = addressOf(resource, target, scope);
      const { signal, ...rest } = options;
      const deleteOptions = deleteBody(rest);
      const path = resourcePath(resource, { ...address, subresource: 'eviction' });
      const answer = await client.request<Status>({
        method: 'POST',
        path,
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: address,
          deleteOptions,
        },
        ...(signal === undefined ? {} : { signal }),
      });
      if (answer?.status === 'Success') return answer;
      const message = `POST ${path}: expected a Status of success; is ${shownServer(client.baseUrl)} an API server?`;
      throw ApiError.local('Unexpected', message);
    },
  };
}
