/** What only pods can: tell their log, and be evicted. client-go: kubernetes/typed/core/v1/pod_expansion.go. */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { ApiError, type Status } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourcePath } from '../meta/resource.ts';
import { checkedWholeLimit } from '../rx/checked-option.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { errorAnswer, type KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import { deleteBody, logQuery } from './call-query.ts';
import { LogLines } from './log-lines.ts';
import { addressOf, type ObjectTarget } from './object-target.ts';
import type { EvictOptions, PodClient, PodLogOptions } from './resource-client.ts';
import { untilAborted } from './until-aborted.ts';

/** An error answer is a Status: more of it than this is not worth reading. */
const MAX_ERROR_LENGTH = 65_536;

/** Whether a resource is the pods of the core group. */
export function isPods({ group, plural }: Resource<KubernetesObject>): boolean {
  return group === '' && plural === 'pods';
}

/** The lines of an answer of text, one by one; its error status as an error. */
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
    let head: Extract<TransportEvent, { kind: 'head' }> | undefined;
    let errorBody = '';
    const tell = (closed: readonly string[]) => {
      for (const line of closed) subscriber.next(line);
    };
    const isRefused = () => head !== undefined && (head.status < 200 || head.status >= 300);
    const refuse = () => {
      if (head !== undefined)
        subscriber.error(errorAnswer(where, head, errorBody, scheduler.now()));
    };
    const { demand } = request;
    // A refusal is read without waiting for the consumer: its Retry-After counts from now.
    const patient = demand === undefined ? {} : { demand: () => (isRefused() ? null : demand()) };
    subscriber.add(
      client
        .send({ ...request, ...patient })
        .pipe(stoppedWith(subscriber))
        .subscribe({
          next: (event) => {
            if (event.kind === 'head') head = event;
            if (event.kind !== 'chunk') return;
            if (!isRefused()) return tell(lines.push(event.bytes));
            errorBody += errorText.decode(event.bytes, { stream: true });
            if (errorBody.length > MAX_ERROR_LENGTH) refuse();
          },
          // A refusal whose body is cut is still that refusal, with its Retry-After.
          error: (error) =>
            isRefused() ? refuse() : subscriber.error(ApiError.from(error, where)),
          complete: () => {
            if (head === undefined) {
              subscriber.error(
                ApiError.local('Network', `${where}: the connection ended before the response`),
              );
            } else if (isRefused()) refuse();
            else {
              tell(lines.end());
              subscriber.complete();
            }
          },
        }),
    );
  });
}

/** `log` and `evict`. */
export function podCalls<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  scope: string | undefined,
  scheduler: SchedulerLike = asyncScheduler,
): Pick<PodClient<T>, 'log' | 'evict'> {
  const pathOf = (target: ObjectTarget, subresource: string) =>
    resourcePath(resource, { ...addressOf(resource, target, scope), subresource });
  return {
    log(target: ObjectTarget, options: PodLogOptions = {}): Observable<string> {
      const { follow = false, maxLineLength = 2 ** 20, demand, signal } = options;
      checkedWholeLimit(maxLineLength, 'log: maxLineLength');
      const path = pathOf(target, 'log');
      const request: TransportRequest = {
        method: 'GET',
        path,
        query: logQuery(options),
        // Text, whatever the client's headers say of JSON.
        headers: { accept: 'text/plain, */*' },
        // A log that is followed may be silent for days, as a watch may.
        use: follow ? 'watch' : 'list',
        ...(demand === undefined ? {} : { demand }),
      };
      const lines$ = linesOf(client, request, maxLineLength, scheduler);
      return lines$.pipe(untilAborted(signal, `GET ${path}`));
    },
    async evict(target: ObjectTarget, options: EvictOptions = {}): Promise<Status> {
      const address = addressOf(resource, target, scope);
      const { signal, ...asked } = options;
      const deleteOptions = deleteBody(asked);
      return await client.request<Status>({
        method: 'POST',
        path: pathOf(target, 'eviction'),
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: address,
          ...(deleteOptions === undefined ? {} : { deleteOptions }),
        },
        ...(signal === undefined ? {} : { signal }),
      });
    },
  };
}
