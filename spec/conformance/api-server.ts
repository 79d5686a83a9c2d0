/** The interface of a server under test, and the steps that the conformance tests share. They use HTTP, no client. */
import type { AccessRoleRule } from 'rx-informer';
import { expect } from 'vitest';
import { eventually } from '../support/patience.ts';

/** Any JSON value, of which tests read any field. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of a server under test have no known type.
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: Json;
}

export interface RequestOptions {
  readonly query?: Record<string, string>;
  /** The body. A string is sent unchanged; any other value is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The parsed lines of a watch. Iteration ends when the server ends the watch. */
export interface WatchLines extends AsyncIterable<Json> {
  close(): void;
}

export interface ApiServer {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  stream(path: string, query: Record<string, string>, headers?: Record<string, string>): WatchLines;
  close(): Promise<void>;
  /** Compacts the history of Events up to now; absent if the server cannot do so. */
  compact?(): Promise<void>;
  /** Creates a namespace that no other test uses, and returns its name. */
  freshNamespace(): Promise<string>;
  /** Adds a user whose only rights in the namespace are these, and returns the headers of its requests. */
  userWith(namespace: string, ...rules: readonly AccessRoleRule[]): Promise<Record<string, string>>;
  /** The minor version of Kubernetes that the server reports. */
  readonly minor: number;
  readonly capabilities: {
    /** The server serves `widgets.conformance.example.com/v1`, with a status subresource and any fields. */
    readonly widgets: boolean;
    /** The server tracks the owner of each applied field in `managedFields`. */
    readonly fieldOwnership: boolean;
    /** A garbage collector completes deletions in the foreground. */
    readonly garbageCollection: boolean;
  };
}

export const WIDGETS = {
  group: 'conformance.example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
} as const;

/** The table columns of widgets after the name. */
export const WIDGET_COLUMNS = [
  { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const;

export const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
export const events = (namespace: string) => `/api/v1/namespaces/${namespace}/events`;
export const deployments = (namespace: string) =>
  `/apis/apps/v1/namespaces/${namespace}/deployments`;
export const widgets = (namespace: string) =>
  `/apis/${WIDGETS.group}/v1/namespaces/${namespace}/widgets`;

export const widget = (name: string, fields: object = {}) => ({
  kind: 'Widget',
  apiVersion: `${WIDGETS.group}/v1`,
  metadata: { name },
  ...fields,
});

/** Sends a request and returns the body. Fails unless the response is a success. */
export async function succeed(
  server: ApiServer,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Json> {
  const answer = await server.request(method, path, options);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
}

export function post(server: ApiServer, path: string, body: unknown): Promise<Json> {
  return succeed(server, 'POST', path, { body });
}

export function put(server: ApiServer, path: string, body: unknown): Promise<Json> {
  return succeed(server, 'PUT', path, { body });
}

export function get(
  server: ApiServer,
  path: string,
  query: Record<string, string> = {},
): Promise<Json> {
  return succeed(server, 'GET', path, { query });
}

/** Waits until the cache of the server has an object's version. The cache answers lists that may be older, and receives a write after the writer was answered. */
export function untilCached(server: ApiServer, path: string, { metadata }: Json): Promise<Json> {
  const { resourceVersion } = metadata;
  return eventually(() =>
    get(server, path, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }),
  );
}

/** The minor version of Kubernetes that a server reports. */
export async function minorOf({ request }: Pick<ApiServer, 'request'>): Promise<number> {
  const { json } = await request('GET', '/version');
  return Number.parseInt(json.minor, 10);
}

/** Creates a config map for each name. */
export async function fill(server: ApiServer, namespace: string, names: string[]): Promise<Json[]> {
  const made: Json[] = [];
  for (const name of names) {
    made.push(await post(server, configMaps(namespace), { metadata: { name } }));
  }
  return made;
}

/** Fails unless the response is a Status with this code, reason and message. */
export function expectFailure(
  { status, json, text }: Answer,
  code: number,
  reason: string | undefined,
  message: RegExp | string,
): void {
  expect(json, text).toMatchObject({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    message: expect.stringMatching(message),
  });
  expect(json.reason).toBe(reason);
  expect(status).toBe(code);
}

export const names = (list: Json): string[] => list.items.map((item: Json) => item.metadata.name);

/**
 * Returns the next `count` lines, without bookmarks other than the end mark of an initial list: a real server sends
 * those when it likes. Fails if the watch ends before.
 */
export async function take(lines: WatchLines, count: number): Promise<Json[]> {
  const taken: Json[] = [];
  const iterator = lines[Symbol.asyncIterator]();
  while (taken.length < count) {
    const next = await iterator.next();
    if (next.done) throw new Error(`the watch ended after ${JSON.stringify(taken)}`);
    if (!isPassingBookmark(next.value)) taken.push(next.value);
  }
  return taken;
}

/** Whether a line is a bookmark that marks no end; a Table has its annotations in a row. */
const isPassingBookmark = ({ type, object }: Json): boolean =>
  type === 'BOOKMARK' && !JSON.stringify(object).includes('"k8s.io/initial-events-end":"true"');

/** Returns all lines until the server ends the watch. */
export async function all(lines: WatchLines): Promise<Json[]> {
  const taken: Json[] = [];
  for await (const line of lines) taken.push(line);
  return taken;
}

/**
 * Returns all lines of a watch that the server ends after a time. It ends also before its first lines if the machine stood still for as
 * long, so a watch with fewer lines than `least` is opened again.
 */
export const allWithin = (open: () => WatchLines, least: number): Promise<Json[]> =>
  eventually(async () => {
    const lines = await all(open());
    expect(lines.length).toBeGreaterThanOrEqual(least);
    return lines;
  });

/** Writes a line in short: `ADDED a`, `BOOKMARK`. */
export const short = ({ type, object }: Json): string =>
  object.metadata?.name === undefined ? type : `${type} ${object.metadata.name}`;

/**
 * Splits bytes into lines and parses them. All iterations share one iterator, so that a test can take some lines now
 * and more of them later.
 */
export function watchLines(chunks: AsyncIterable<Uint8Array>, close: () => void): WatchLines {
  async function* parse() {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line);
    }
  }
  const iterator = parse();
  return {
    close,
    [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }),
  };
}

export const isNewer = (a: Json, b: Json): boolean =>
  BigInt(a.metadata.resourceVersion) > BigInt(b.metadata.resourceVersion);
