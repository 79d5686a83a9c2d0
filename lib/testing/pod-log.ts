/** The logs of pods: written by a test, and read or followed by clients through the `log` subresource. */
import { utf8 } from '../decode/utf8.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { badRequest, invalid } from '../object-log/failures.ts';
import { integer, isTrue } from '../object-log/list-options.ts';
import { keyOf, type StoredObject } from '../object-log/stored-object.ts';
import type { Body } from './http/body.ts';
import type { Target } from './http/request.ts';
import { notFound } from './http/status.ts';
import type { ServerLog } from './served-resource.ts';
import type { ObjectRef } from './server-objects.ts';
import { existing } from './writes/writes.ts';

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/** The log of one run of a container. */
interface Stream {
  readonly lines: Line[];
  ended: boolean;
  /** The log of the run before. */
  readonly previous?: Stream;
}

interface PodFields extends KubernetesObject {
  readonly spec?: Partial<Record<string, readonly { readonly name: string }[]>>;
}

/** Fewer logs are never swept. */
const LEAST_SWEPT = 1000;

function containersOf(pod: StoredObject): string[] {
  const { spec = {} } = pod as PodFields;
  return ['containers', 'initContainers', 'ephemeralContainers'].flatMap((kind) =>
    (spec[kind] ?? []).map(({ name }) => name),
  );
}

/**
 * The logs of the pods of a fake server.
 *
 * @example
 * ```ts
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { pods } from 'rx-informer/resources';
 *
 * const server = createFakeApiServer();
 * const web = { namespace: 'shop', name: 'web-0' };
 * server.objects.create(pods, { metadata: web });
 * server.logs.append(web, 'started');
 * const answer = await server.fetch('http://fake/api/v1/namespaces/shop/pods/web-0/log');
 * await answer.text(); // => 'started\n'
 * ```
 */
export class PodLogs {
  readonly #log: ServerLog;
  readonly #now: () => number;
  /** By UID and container, so that a new pod of the same name starts with an empty log. */
  readonly #streams = new Map<string, Stream>();
  /** The number of logs at which the logs of deleted pods are removed. */
  #sweepAt = LEAST_SWEPT;
  readonly #listeners = new Set<() => void>();

  /** @internal */
  constructor(log: ServerLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  #stream(uid: string, container: string): Stream {
    const key = `${uid}/${container}`;
    const stream = this.#streams.get(key) ?? { lines: [], ended: false };
    this.#streams.set(key, stream);
    if (this.#streams.size >= this.#sweepAt) this.#sweep();
    return stream;
  }

  /** Removes the logs of deleted pods. Runs each time the number of logs has doubled, so that its cost is spread. */
  #sweep(): void {
    const pods = this.#log.collections.get('pods')?.objects.values() ?? [];
    const alive = new Set([...pods].map(({ metadata }) => metadata.uid));
    for (const key of this.#streams.keys()) {
      if (!alive.has(key.slice(0, key.lastIndexOf('/')))) this.#streams.delete(key);
    }
    this.#sweepAt = Math.max(LEAST_SWEPT, this.#streams.size * 2);
  }

  #find({ name, namespace = 'default' }: ObjectRef, container: string | undefined) {
    const pods = this.#log.collections.get('pods');
    const pod = pods?.objects.get(keyOf({ metadata: { name, namespace } }));
    if (pod === undefined) throw notFound({ group: '', version: 'v1', plural: 'pods' }, name);
    return { uid: pod.metadata.uid, name: container ?? containersOf(pod)[0] ?? '' };
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Appends each line of the text to the log of a container. `container` defaults to the first one. Requests that
   * follow the log receive the lines. Throws an `ApiError` 404 if the pod does not exist.
   */
  append(pod: ObjectRef, text: string, container?: string): void {
    const { uid, name } = this.#find(pod, container);
    const { lines } = this.#stream(uid, name);
    for (const line of text.replace(/\n$/, '').split('\n')) {
      lines.push({ atMs: this.#now(), text: line });
    }
    this.#notify();
  }

  /**
   * Stops the container, which ends the requests that follow its log. Throws an `ApiError` 404 if the pod does not
   * exist.
   */
  end(pod: ObjectRef, container?: string): void {
    const { uid, name } = this.#find(pod, container);
    this.#stream(uid, name).ended = true;
    this.#notify();
  }

  /**
   * Restarts the container: its log is empty again, requests with `previous=true` receive the former one, and the
   * requests that follow the former one end. As in a cluster, only one former log is kept. Throws an `ApiError` 404 if
   * the pod does not exist.
   */
  restart(pod: ObjectRef, container?: string): void {
    const { uid, name } = this.#find(pod, container);
    const { lines } = this.#stream(uid, name);
    this.end(pod, container);
    const previous = { lines, ended: true };
    this.#streams.set(`${uid}/${name}`, { lines: [], ended: false, previous });
  }

  /** The number of containers whose logs are held. The logs of deleted pods are removed now and then. */
  get size(): number {
    return this.#streams.size;
  }

  /** The number of requests that follow a log now. */
  get followers(): number {
    return this.#listeners.size;
  }

  /** @internal The body of a GET. Throws the error that a real server returns. */
  read(target: Target, query: URLSearchParams): Body {
    const pod = existing(target);
    const { name, uid } = pod.metadata;
    const container = containerIn(pod, query);
    const current = this.#stream(uid, container);
    const stream = isTrue(query.get('previous')) ? current.previous : current;
    if (stream === undefined) {
      throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
    }
    const format = isTrue(query.get('timestamps')) ? stamped : plain;
    const follows = isTrue(query.get('follow'));
    const { objects, listeners } = target.collection;
    const gone = () => objects.get(keyOf(pod))?.metadata.uid !== uid;
    let left = amount(query, 'limitBytes', name, 1);
    let due = selected(stream.lines, query, name, this.#now());
    let at = stream.lines.length;
    const wake = () => body.onReadable?.();
    const stop = () => {
      left = 0;
      this.#listeners.delete(wake);
      listeners.delete(wake);
    };
    if (follows) {
      this.#listeners.add(wake);
      listeners.add(wake);
    }
    const body: Body = {
      onReadable: undefined,
      cancel: stop,
      read() {
        const fresh = follows ? stream.lines.slice(at) : [];
        at += fresh.length;
        const text = [...due, ...fresh].map(format).join('');
        due = [];
        const bytes = utf8(text).subarray(0, Math.min(text.length * 4, left));
        left -= bytes.length;
        if (bytes.length > 0) return bytes;
        if (left > 0 && follows && !stream.ended && !gone()) return undefined;
        stop();
        return null;
      },
    };
    return body;
  }
}

const plain = ({ text }: Line): string => `${text}\n`;
const stamped = (line: Line): string =>
  `${new Date(line.atMs).toISOString().replace('Z', '000000Z')} ${plain(line)}`;

function containerIn(pod: StoredObject, query: URLSearchParams): string {
  const { name } = pod.metadata;
  const all = containersOf(pod);
  const requested = query.get('container');
  if (requested && !all.includes(requested)) {
    throw badRequest(`container ${requested} is not valid for pod ${name}`);
  }
  if (!requested && all.length > 1) {
    const choice = `[${all.join(' ')}]`;
    throw badRequest(
      `a container name must be specified for pod ${name}, choose one of: ${choice}`,
    );
  }
  return requested || (all[0] ?? '');
}

/** Reads a numeric option of a log. Throws `Invalid` if the number is below the minimum. */
function amount(query: URLSearchParams, field: string, pod: string, least: 0 | 1): number {
  if (!query.get(field)) return Number.POSITIVE_INFINITY;
  const value = integer(query, field);
  if (value >= least) return value;
  const message = `Invalid value: ${value}: must be greater than ${least === 0 ? 'or equal to 0' : '0'}`;
  throw invalid(
    { kind: 'PodLogOptions', name: pod },
    { reason: 'FieldValueInvalid', message, field },
  );
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Reads `sinceTime`, in milliseconds since the Unix epoch. Throws a 400 if it is not a time. */
function sinceTime(query: URLSearchParams, pod: string): number {
  const text = query.get('sinceTime');
  if (!text) return Number.NEGATIVE_INFINITY;
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) {
    const shown = JSON.stringify(text);
    throw badRequest(`parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${shown}`);
  }
  if (!query.get('sinceSeconds')) return ms;
  const message = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
  throw invalid(
    { kind: 'PodLogOptions', name: pod },
    { reason: 'FieldValueForbidden', message, field: '[]' },
  );
}

function selected(
  lines: readonly Line[],
  query: URLSearchParams,
  pod: string,
  nowMs: number,
): readonly Line[] {
  const tail = amount(query, 'tailLines', pod, 0);
  const since = Math.max(
    nowMs - amount(query, 'sinceSeconds', pod, 1) * 1000,
    sinceTime(query, pod),
  );
  const young = lines.filter(({ atMs }) => atMs >= since);
  return tail >= young.length ? young : young.slice(young.length - tail);
}
