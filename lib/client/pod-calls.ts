/**
 * The calls that exist for pods only: reading a log and evicting.
 * client-go: kubernetes/typed/core/v1/pod_expansion.go.
 */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { checkedWholeLimit } from '../rx/checked-option.ts';
import { unless } from '../rx/demand.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { errorAnswer } from '../transport/answer.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import { deleteBody, logQuery } from './call-query.ts';
import { LogLines } from './log-lines.ts';
import { addressOf, type ObjectTarget } from './object-target.ts';
import type { EvictOptions, PodClient, PodLogOptions } from './resource-client.ts';
import { untilAborted } from './until-aborted.ts';

/** The number of characters read of an error response. The response is a Status, so this is enough. */
const MAX_ERROR_LENGTH = 65_536;

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
    const errorText = new TextDecoder();
    let headed = false;
    /** The head of an error response. */
    let refusal: Extract<TransportEvent, { kind: 'head' }> | undefined;
    let errorBody = '';
    const emit = (closed: readonly string[]) => {
      for (const line of closed) subscriber.next(line);
    };
    const refuse = (head: NonNullable<typeof refusal>) =>
      subscriber.error(errorAnswer(where, head, errorBody, scheduler.now()));
    const { demand } = request;
    // An error response is read without waiting for the consumer, because its Retry-After counts from now.
    const ownDemand =
      demand === undefined ? {} : { demand: unless(() => refusal !== undefined, demand) };
    subscriber.add(
      client
        .send({ ...request, ...ownDemand })
        .pipe(stoppedWith(subscriber))
        .subscribe({
          next: (event) => {
            if (event.kind === 'head') {
              headed = true;
              if (event.status < 200 || event.status >= 300) refusal = event;
            }
            if (event.kind !== 'chunk') return;
            if (refusal === undefined) return emit(lines.push(event.bytes));
            errorBody += errorText.decode(event.bytes, { stream: true });
            if (errorBody.length > MAX_ERROR_LENGTH) refuse(refusal);
          },
          // An error response whose body is cut is still reported with its status and Retry-After.
          error: (error) =>
            refusal ? refuse(refusal) : subscriber.error(ApiError.from(error, where)),
          complete: () => {
            if (!headed) {
              subscriber.error(
                ApiError.local('Network', `${where}: the connection ended before the response`),
              );
            } else if (refusal) refuse(refusal);
            else {
              emit(lines.end());
              subscriber.complete();
            }
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
        ...(demand === undefined ? {} : { demand }),
      };
      const lines$ = linesOf(client, request, maxLineLength, scheduler);
      return lines$.pipe(untilAborted(signal, `GET ${path}`));
    },
    async evict(target: ObjectTarget, options: EvictOptions = {}): Promise<Status> {
      const address = addressOf(resource, target, scope);
      const { signal, ...rest } = options;
      const deleteOptions = deleteBody(rest);
      return await client.request<Status>({
        method: 'POST',
        path: resourcePath(resource, { ...address, subresource: 'eviction' }),
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: address,
          deleteOptions,
        },
        ...(signal === undefined ? {} : { signal }),
      });
    },
  };
}
