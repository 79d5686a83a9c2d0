/** What the conformance suite needs of an API server, and the steps its tests share. Plain HTTP: no client. */
import { expect } from 'vitest';

/** Any JSON object; tests reach into it. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of a server under test have no type to be trusted.
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed; `undefined` where it is no JSON. */
  readonly json: Json;
}

export interface RequestOptions {
  readonly query?: Record<string, string>;
  /** Text goes out as it is; all else as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The lines of a watch, parsed. Iteration ends when the server ends the watch. */
export interface WatchLines extends AsyncIterable<Json> {
  close(): void;
}

export interface ApiServer {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  stream(path: string, query: Record<string, string>, headers?: Record<string, string>): WatchLines;
  close(): Promise<void>;
  /** Compacts the history of Events up to now; absent where that cannot be done. */
  compact?(): Promise<void>;
  /** The name of a namespace that nobody else uses. */
  freshNamespace(): Promise<string>;
  readonly capabilities: {
    /** Serves `widgets.conformance.example.com/v1`, with a status subresource and any fields. */
    readonly widgets: boolean;
    /** Remembers who applied which field: `managedFields`. */
    readonly fieldOwnership: boolean;
    /** Leaves it to a garbage collector to end deletions in the foreground. */
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

/** The columns of widgets after the name. */
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

/** Asks, and fails unless the answer is a success. */
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

/** A config map for each name. */
export async function fill(server: ApiServer, namespace: string, names: string[]): Promise<Json[]> {
  const made: Json[] = [];
  for (const name of names) {
    made.push(await post(server, configMaps(namespace), { metadata: { name } }));
  }
  return made;
}

/** Fails unless the answer is a Status of this code, reason and message. */
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

/** The next `count` lines; fails when they do not come in time, or the watch ends before. */
export async function take(lines: WatchLines, count: number, timeoutMs = 8000): Promise<Json[]> {
  const taken: Json[] = [];
  if (count === 0) return taken;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${taken.length} of ${count} lines came: ${JSON.stringify(taken)}`));
    }, timeoutMs);
  });
  const iterator = lines[Symbol.asyncIterator]();
  try {
    while (taken.length < count) {
      const next = await Promise.race([iterator.next(), late]);
      if (next.done) throw new Error(`the watch ended after ${JSON.stringify(taken)}`);
      taken.push(next.value);
    }
  } finally {
    clearTimeout(timer);
  }
  return taken;
}

/** All lines until the server ends the watch. */
export async function all(lines: WatchLines): Promise<Json[]> {
  const taken: Json[] = [];
  for await (const line of lines) taken.push(line);
  return taken;
}

/** `ADDED a`, `BOOKMARK`: a line in short. */
export const short = ({ type, object }: Json): string =>
  object.metadata?.name === undefined ? type : `${type} ${object.metadata.name}`;

/** Splits bytes into lines and parses them. One iterator for all: a test may take, act and take again. */
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
