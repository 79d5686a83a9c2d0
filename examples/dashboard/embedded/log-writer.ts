/**
 * Writes the logs of healthy pods when they are read. Most logs are never read, so writing all of them would
 * only fill the memory.
 */
import { pods } from 'rx-informer/resources';
import type { FakeApiServer, ObjectRef } from 'rx-informer/testing';
import { isReady } from './owners.ts';
import type { Random } from './random.ts';

const LOG = /^\/api\/v1\/namespaces\/(?<namespace>[^/]+)\/pods\/(?<name>[^/]+)\/log$/;
const HISTORY = 25;
const HISTORY_EVERY_MS = 2300;
const requests = ['GET /api/items', 'GET /api/items/42', 'POST /api/orders', 'GET /healthz'];

/** The logs of healthy pods. */
export class LogWriter {
  readonly #server: FakeApiServer;
  readonly #random: Random;
  /** The pods whose logs were read, by UID. */
  readonly #read = new Map<string, { readonly pod: ObjectRef; readonly container: string }>();

  constructor(server: FakeApiServer, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  /** Writes the log of a pod, if the path is that of a log that has not been read before. */
  prepare(path: string): void {
    const { namespace, name = '' } = LOG.exec(path)?.groups ?? {};
    const pod = this.#server.objects.get(pods, { name, namespace });
    const container = pod?.spec?.containers[0];
    if (pod === undefined || container === undefined || !isReady(pod)) return;
    const { uid } = pod.metadata;
    if (this.#read.has(uid)) return;
    this.#read.set(uid, { pod: { name, namespace }, container: container.name });
    const version = container.image?.split(':').at(-1);
    const startedMs = Date.parse(pod.status?.startTime ?? '');
    this.#write(uid, startedMs, `INFO ${container.name} ${version} starting`);
    this.#write(uid, startedMs + 800, 'INFO listening on 0.0.0.0:8080');
    const nowMs = Date.now();
    for (let line = HISTORY; line > 0; line--) {
      const atMs = nowMs - line * HISTORY_EVERY_MS;
      if (atMs > startedMs) this.#write(uid, atMs, this.#request());
    }
  }

  /** Appends a line to each log that was read, while any log is followed. */
  goOn(): void {
    if (this.#server.logs.followers === 0) return;
    for (const uid of this.#read.keys()) this.#write(uid, Date.now(), this.#request());
  }

  #request(): string {
    return `INFO ${this.#random.pick(requests)} 200 ${1 + this.#random.below(80)}ms`;
  }

  #write(uid: string, atMs: number, line: string): void {
    const { pod, container } = this.#read.get(uid) ?? {};
    if (pod === undefined) return;
    const current = this.#server.objects.get(pods, pod);
    if (current === undefined || current.metadata.uid !== uid) this.#read.delete(uid);
    else this.#server.logs.append(pod, `${new Date(atMs).toISOString()} ${line}`, container);
  }
}
