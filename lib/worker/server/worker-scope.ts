/** The scope in which tabs are served: that of a worker, or of a page or program. */
import { uniqueText } from '../../rx/unique-text.ts';
import type { Port } from '../messages.ts';
import { QueryServer, type QueryServerParts } from './query-server.ts';

interface MessageTarget {
  postMessage(message: unknown): void;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onmessageerror?: (() => void) | null;
  close?(): void;
}

/** A channel to the other workers of the origin. */
interface OtherWorkers extends MessageTarget {
  /** Only in Node. */
  unref?(): void;
}

/** The parts of a worker's global scope that are used. */
interface WorkerScope {
  readonly WorkerGlobalScope: unknown;
  readonly Bun: { readonly isMainThread: boolean } | undefined;
  readonly navigator:
    | {
        readonly locks:
          | { request(name: string, hold: () => Promise<unknown>): Promise<unknown> }
          | undefined;
      }
    | undefined;
  readonly BroadcastChannel: (new (name: string) => OtherWorkers) | undefined;
  readonly location: { readonly pathname: string } | undefined;
  onconnect: ((event: { readonly ports: readonly MessageTarget[] }) => void) | null;
}

function portTo(target: MessageTarget): Port {
  return {
    post: (message) => target.postMessage(message),
    listen: (listener, onUnread) => {
      target.onmessage = ({ data }) => listener(data);
      if (onUnread !== undefined) target.onmessageerror = () => onUnread();
    },
    close: () => target.close?.(),
  };
}

/** Holds a Web Lock for as long as the worker lives, and returns its name. */
function holdLock({ navigator }: WorkerScope, incarnation: string): string | undefined {
  const locks = navigator?.locks;
  if (locks === undefined) return undefined;
  const name = `rx-informer/${incarnation}`;
  locks.request(name, () => new Promise(() => {})).catch(() => undefined);
  return name;
}

/** The global scope of a worker of Bun is that of a program. */
function isInWorker({ WorkerGlobalScope: scope, Bun: bun }: WorkerScope): boolean {
  return scope !== undefined || bun?.isMainThread === false;
}

/** Opens the channel to the other workers of the origin, also in a page that serves itself. Returns `undefined` in Node. */
function toOthers(scope: WorkerScope): Port | undefined {
  const isBrowser = isInWorker(scope) || 'document' in scope;
  if (!isBrowser || scope.BroadcastChannel === undefined) return undefined;
  const channel = new scope.BroadcastChannel('rx-informer/signed-out');
  // Keeps no process alive where a page is simulated in Node.
  channel.unref?.();
  return portTo(channel);
}

/** The parts of a query server that do not come from the scope. */
export type TabsParts = Omit<QueryServerParts, 'incarnation' | 'lock' | 'others' | 'folder'>;

/** Serves the tabs of this worker; elsewhere those that are given to `connect`. */
export function serveTabs(parts: TabsParts): QueryServer {
  const scope = globalThis as unknown as WorkerScope;
  const isWorker = isInWorker(scope);
  const incarnation = uniqueText(Math.random);
  const server = new QueryServer({
    ...parts,
    incarnation,
    lock: isWorker ? holdLock(scope, incarnation) : undefined,
    others: toOthers(scope),
    folder: isWorker ? scope.location?.pathname.replace(/(?<![^/])[^/]*$/, '') : undefined,
  });
  if (isWorker && 'onconnect' in scope) {
    scope.onconnect = ({ ports: [port] }) => server.connect(portTo(port as MessageTarget));
  } else if (isWorker) server.connect(portTo(globalThis as MessageTarget));
  return server;
}
