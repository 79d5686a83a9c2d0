/** Scripted responses for reflectors, and a short notation for their requests and deltas. */
import type {
  Delta,
  KubernetesObject,
  ListerWatcher,
  ListPart,
  ListRequest,
  Refused,
  WatchEvent,
  WatchRequest,
  WatchSignal,
} from 'rx-informer';
import { ApiError } from 'rx-informer';
import { defer, type Observable } from 'rxjs';

export interface Pod extends KubernetesObject {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string };
}

/** Creates a pod: `a@5` is d/a at version 5. */
export function pod(text: string): Pod {
  const [name = '', resourceVersion = ''] = text.split('@');
  return { metadata: { name, namespace: 'd', uid: name, resourceVersion } };
}

/** Creates a refusal: `a@5` is d/a, refused at version 5. */
export function refusal(text: string): Refused {
  const object = pod(text);
  const { name, uid, resourceVersion } = object.metadata;
  const key = `d/${name}`;
  const reason = ApiError.local('Refused', `${key}: no`);
  return { key, uid, resourceVersion, reason, retry: () => object };
}

/** A list in one part, or a page of a list if there is a token. */
export function listPart(
  resourceVersion: string,
  pods: readonly string[] = [],
  token?: string,
): ListPart<Pod> {
  const metadata = { resourceVersion, ...(token === undefined ? {} : { continue: token }) };
  return { items: pods.map(pod), metadata };
}

/**
 * Creates an event: `+a@5` added, `~a@6` modified, `-a@7` deleted, `?a@8` refused, `b@9` bookmark, `end@9` end mark.
 */
export function event(text: string): WatchEvent<Pod> {
  const object = pod(text.slice(1));
  const key = `d/${object.metadata.name}`;
  const { resourceVersion } = object.metadata;
  if (text.startsWith('+')) return { type: 'ADDED', key, object };
  if (text.startsWith('~')) return { type: 'MODIFIED', key, object };
  if (text.startsWith('-')) return { type: 'DELETED', key, object, resourceVersion };
  if (text.startsWith('?')) return { type: 'REFUSED', key, refused: refusal(text.slice(1)) };
  const [kind, version = ''] = text.split('@');
  return { type: 'BOOKMARK', resourceVersion: version, initialEventsEnd: kind === 'end' };
}

export const opened: WatchSignal<Pod> = { kind: 'opened' };

export function events(...all: (string | ApiError)[]): WatchSignal<Pod> {
  const listed = all.map(
    (each): WatchEvent<Pod> =>
      typeof each === 'string' ? event(each) : { type: 'ERROR', error: each },
  );
  return { kind: 'events', events: listed };
}

/** The error for a response with an HTTP status. */
export function answer(code: number, reason = '', retryAfterMs?: number): ApiError {
  const init = retryAfterMs === undefined ? {} : { retryAfterMs };
  return ApiError.fromStatus({ code, reason, message: `${code} ${reason}` }, code, init);
}

export const refused = ApiError.local('Network', 'ECONNREFUSED');
export const expired = answer(410, 'Expired');
export const tooLarge = ApiError.fromStatus(
  { code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
  504,
);

export interface Script {
  readonly listerWatcher: ListerWatcher<Pod>;
  /** The requests: `L0` a list, `S` a streaming list, `W5` a watch, with their versions. */
  readonly requested: string[];
  readonly lists: ListRequest<Pod>[];
  readonly watches: WatchRequest<Pod>[];
  /** How often the reflector reported that the server does not support streaming lists. */
  readonly remembered: number;
}

/** A ListerWatcher that returns the scripted responses in order, and then the last one of each kind again. */
export function script(
  answers: {
    readonly lists?: readonly Observable<ListPart<Pod>>[];
    readonly watches?: readonly Observable<WatchSignal<Pod>>[];
  },
  options: { readonly watchList?: ListerWatcher<Pod>['watchList']; readonly scope?: string } = {},
): Script {
  const requested: string[] = [];
  const lists: ListRequest<Pod>[] = [];
  const watches: WatchRequest<Pod>[] = [];
  let remembered = 0;
  const next = <T>(from: readonly Observable<T>[] | undefined, at: number): Observable<T> => {
    const found = from?.[Math.min(at, from.length - 1)];
    if (found === undefined) throw new Error('nothing scripted');
    return found;
  };
  return {
    requested,
    lists,
    watches,
    get remembered() {
      return remembered;
    },
    listerWatcher: {
      ...(options.scope === undefined ? {} : { scope: options.scope }),
      get watchList() {
        return remembered === 0 && (options.watchList ?? false);
      },
      onWatchListUnsupported: () => {
        remembered++;
      },
      list: (request) =>
        defer(() => {
          lists.push(request);
          requested.push(`L${request.resourceVersion}`);
          return next(answers.lists, lists.length - 1);
        }),
      watch: (request) =>
        defer(() => {
          watches.push(request);
          requested.push(`${request.sendInitialEvents ? 'S' : 'W'}${request.resourceVersion}`);
          return next(answers.watches, watches.length - 1);
        }),
    },
  };
}

/**
 * Writes deltas in one line: `(a@1 -b ?c` a part, `)@5` a `replaced` (`!` if versions are not trusted), `x` an abort,
 * `+a@6 ~a@7 -a@8 b@9` changes and a bookmark.
 */
export function brief(deltas: readonly Delta<Pod>[]): string {
  const name = ({ metadata }: Pod) => `${metadata.name}@${metadata.resourceVersion}`;
  const short = (key: string) => key.slice(2);
  return deltas
    .map((delta) => {
      switch (delta.type) {
        case 'added':
          return `+${name(delta.object)}`;
        case 'updated':
          return `~${name(delta.object)}`;
        case 'sync':
          return `=${name(delta.object)}`;
        case 'refused':
          return `?${short(delta.key)}@${delta.refused.resourceVersion}`;
        case 'deleted':
          return delta.object === undefined ? `-${short(delta.key)}?` : `-${name(delta.object)}`;
        case 'replacing': {
          const { objects, removed = [], refused = [] } = delta;
          const gone = removed.map((key) => `-${short(key)}`);
          return `(${[...objects.map(name), ...gone, ...refused.map(({ key }) => `?${short(key)}`)].join(' ')}`;
        }
        case 'replace-abort':
          return 'x';
        case 'replaced': {
          const { objects, resourceVersion, trustVersions } = delta;
          return `${objects.map(name).join(' ')})@${resourceVersion}${trustVersions ? '' : '!'}`;
        }
        case 'bookmark':
          return `b@${delta.resourceVersion}`;
      }
      return '';
    })
    .join(' ');
}
