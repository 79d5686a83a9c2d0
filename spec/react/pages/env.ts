/** What a provider is given: a client of one cluster, and perhaps a factory that other code uses, too. */
import {
  createClient,
  createInformerFactory,
  type InformerFactory,
  type InformerFactoryOptions,
  type KubeClient,
} from 'rx-informer';
import type { Cluster } from './cluster.ts';
import type { EditModel } from './edit-model.ts';
import type { PageClock } from './mini-dom.ts';
import { type Question, resourceOf, scopeOf } from './questions.ts';
import type { RequestLog } from './request-log.ts';

export interface EnvParts {
  readonly at: number;
  readonly cluster: Cluster;
  readonly clock: PageClock;
  readonly log: RequestLog;
  readonly edits: EditModel;
  /** Absent: the provider makes a factory of its own. */
  readonly factoryOptions: InformerFactoryOptions | undefined;
}

export class Env {
  readonly at: number;
  readonly cluster: Cluster;
  readonly client: KubeClient;
  readonly factory: InformerFactory | undefined;
  readonly #clock: PageClock;
  readonly #log: RequestLog;
  readonly #removed = new Map<string, Question>();
  #isStopped = false;
  #haltedMs: number | undefined;

  constructor({ at, cluster, clock, log, edits, factoryOptions }: EnvParts) {
    this.at = at;
    this.cluster = cluster;
    this.#clock = clock;
    this.#log = log;
    const none = Number.POSITIVE_INFINITY;
    this.client = createClient({
      ...{ baseUrl: `http://env${at}`, livenessMs: none, qps: none },
      fetch: (input, init) => {
        const url = new URL(String(input));
        const send = () => cluster.server.fetch(url.href, init);
        if (init?.method === 'PATCH') return edits.sent(cluster, url, init, send);
        log.sent(at, url, new Headers(init?.headers).get('accept') ?? '');
        return send();
      },
    });
    if (factoryOptions !== undefined) {
      this.factory = createInformerFactory(this.client, factoryOptions);
      this.factory.start();
    }
  }

  /** When informers were stopped that have not been started since; `undefined` if there are none. */
  get haltedMs(): number | undefined {
    return this.#haltedMs;
  }

  stop(): void {
    this.#isStopped = true;
    this.#haltedMs = this.#clock.nowMs;
    void this.factory?.stop();
  }

  start(): void {
    this.#isStopped = false;
    this.factory?.start();
    this.#forgetHalt();
  }

  /** Removes the informer of the question. With `isQuiet` nothing requests it again before the next question. */
  remove(question: Question, isQuiet: boolean): void {
    this.#haltedMs = this.#clock.nowMs;
    this.#removed.set(this.#log.nameOf(question), question);
    if (isQuiet) this.#log.removed(this.at, question);
    void this.factory?.stop(resourceOf(question), {
      ...scopeOf(question),
      as: question.as,
    } as never);
  }

  /** Requests the informer of the question, for the life of the factory. */
  keep(question: Question): void {
    if (this.factory === undefined) return;
    this.#log.kept(this.at, question);
    this.factory.informer(resourceOf(question), { ...scopeOf(question), as: question.as } as never);
    this.#removed.delete(this.#log.nameOf(question));
    this.#forgetHalt();
  }

  /** Starts everything that was stopped, and requests everything that was removed. */
  heal(): void {
    for (const question of [...this.#removed.values()]) this.keep(question);
    if (this.factory !== undefined) this.start();
  }

  #forgetHalt(): void {
    if (this.#removed.size === 0 && !this.#isStopped) this.#haltedMs = undefined;
  }
}
