/** The places where the queries of a page may be answered: a shared worker, a worker of the page, or the page itself. */
import type { Port } from '../messages.ts';
import type { ServedQueries } from '../server/serve-queries.ts';

/** The part of a `MessagePort` and of a `Worker` that is used. */
export interface PortLike {
  postMessage(message: unknown): void;
  onmessage: ((event: never) => void) | null;
  onmessageerror?: ((event: never) => void) | null;
}

/** The part of a `SharedWorker` that is used. */
export interface SharedWorkerLike {
  readonly port: PortLike & { close(): void };
  onerror: ((event: never) => void) | null;
}

/** The part of a `Worker` that is used. */
export interface WorkerLike extends PortLike {
  onerror: ((event: never) => void) | null;
  terminate(): void;
}

/** Where queries are answered. */
export type HostKind = 'shared' | 'dedicated' | 'page' | 'server';

/** A running host. Closing its port ends a worker of the page itself; a shared one lives as long as a page uses it. */
export interface Host {
  readonly kind: HostKind;
  readonly port: Port;
}

/**
 * Starts a host. `onError` is called if the host cannot run, and with `hasEnded` if it has ended. Throws if the browser has no
 * such host.
 */
export type StartHost = (onError: (error: Error, hasEnded?: boolean) => void) => Host;

/** The makers of hosts, as {@link connectWorker} takes them. */
export interface HostMakers {
  readonly shared?: (() => SharedWorkerLike) | undefined;
  readonly dedicated?: (() => WorkerLike) | undefined;
  readonly page?: (() => Promise<object>) | undefined;
}

function portTo(target: PortLike, close: () => void): Port {
  return {
    post: (message) => target.postMessage(message),
    listen: (listener, onUnread) => {
      target.onmessage = ({ data }: { readonly data: unknown }) => listener(data);
      if (onUnread !== undefined) target.onmessageerror = () => onUnread();
    },
    close,
  };
}

/** The text of an error event, which is empty if the script could not be loaded. */
function errorOf(event: unknown): Error {
  const { message } = event as { readonly message?: unknown };
  const text =
    typeof message === 'string' && message !== '' ? message : 'its script cannot be loaded';
  return new Error(text);
}

function startWorker(kind: HostKind, make: () => SharedWorkerLike | WorkerLike): StartHost {
  return (onError) => {
    const worker = make();
    worker.onerror = (event) => onError(errorOf(event));
    if ('port' in worker) {
      const { port } = worker;
      return { kind, port: portTo(port, () => port.close()) };
    }
    return { kind, port: portTo(worker, () => worker.terminate()) };
  };
}

function isServed(value: unknown): value is ServedQueries {
  return typeof (value as ServedQueries | null)?.connect === 'function';
}

function startInPage(load: () => Promise<object>): StartHost {
  return (onError) => {
    const { port1, port2 } = new MessageChannel();
    const loaded = load().then((module) => {
      const served = Object.values(module).find(isServed);
      if (served === undefined) {
        throw new Error('the module does not export what serveQueries(…) returned');
      }
      served.connect(portTo(port2, () => port2.close()));
    });
    loaded.catch((error: unknown) => onError(error as Error));
    return { kind: 'page', port: portTo(port1, () => port1.close()) };
  };
}

/** The hosts, the best one first. */
export function hostsOf({ shared, dedicated, page }: HostMakers): readonly StartHost[] {
  const hosts: StartHost[] = [];
  if (shared !== undefined) hosts.push(startWorker('shared', shared));
  if (dedicated !== undefined) hosts.push(startWorker('dedicated', dedicated));
  if (page !== undefined) hosts.push(startInPage(page));
  return hosts;
}
