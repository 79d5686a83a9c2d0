/** A small API server that sends bytes only when a test feeds them, cut anywhere. It responds synchronously. */
import {
  type ApiError,
  createClient,
  defineResource,
  type KubeClient,
  type KubernetesObject,
  type Transport,
  type TransportEvent,
  type TransportRequest,
} from 'rx-informer';
import { Observable, type SchedulerLike, type Subscriber } from 'rxjs';

/** An object with a colour, by which a transform can refuse it. */
export interface Thing extends KubernetesObject {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string };
  colour: string;
}

export const things = defineResource<Thing>({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

type Kind = 'list' | 'watch' | 'stream';

/** One response in progress. */
class Answer {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly #subscriber: Subscriber<TransportEvent>;
  /** The bytes that are written and not sent yet. */
  waiting: Uint8Array = new Uint8Array();
  /** Whether the response ends when all bytes are sent. */
  ends = false;

  constructor(kind: Kind, namespace: string | undefined, subscriber: Subscriber<TransportEvent>) {
    this.kind = kind;
    this.namespace = namespace;
    this.#subscriber = subscriber;
    subscriber.next({ kind: 'head', status: 200, header: () => null });
  }

  write(line: unknown): void {
    this.waiting = Buffer.concat([this.waiting, Buffer.from(`${JSON.stringify(line)}\n`)]);
  }

  /** Sends this many bytes. */
  feed(count: number = this.waiting.length): void {
    const bytes = this.waiting.slice(0, count);
    this.waiting = this.waiting.slice(bytes.length);
    if (bytes.length > 0) this.#subscriber.next({ kind: 'chunk', bytes });
    if (this.ends && this.waiting.length === 0) this.#subscriber.complete();
  }

  fail(error: ApiError): void {
    this.#subscriber.error(error);
  }
}

interface Logged {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Thing;
}

export class HandFedServer {
  readonly now: Map<string, Thing> = new Map<string, Thing>();
  /** The response in progress. */
  answer: Answer | undefined;
  readonly client: KubeClient;
  #version = 10;
  #born = 0;
  #log: Logged[] = [];

  constructor(scheduler: SchedulerLike) {
    const transport: Transport = {
      send: (request) =>
        new Observable<TransportEvent>((subscriber) => {
          const answer = this.#open(request, subscriber);
          subscriber.add(() => {
            if (this.answer === answer) this.answer = undefined;
          });
        }),
      close: () => Promise.resolve(),
    };
    this.client = createClient({ baseUrl: 'http://fake', transport, scheduler });
  }

  /** The version of the last write. */
  get version(): string {
    return `${this.#version}`;
  }

  /** Creates or changes an object. */
  put(key: string, colour: string): void {
    const old = this.now.get(key);
    this.#write(old === undefined ? 'ADDED' : 'MODIFIED', this.#thing(key, colour, old));
  }

  delete(key: string): void {
    const old = this.now.get(key);
    if (old === undefined) return;
    this.#write('DELETED', this.#thing(key, old.colour, old));
  }

  /** Ends the initial events of a streaming list. */
  markEnd(): void {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    this.answer?.write({
      type: 'BOOKMARK',
      object: { kind: 'Thing', metadata: { resourceVersion: `${this.#version}`, annotations } },
    });
  }

  /** Ends the watch with an expired version. */
  expire(): void {
    this.answer?.write({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' },
    });
  }

  #thing(key: string, colour: string, old: Thing | undefined): Thing {
    const [namespace = '', name = ''] = key.split('/');
    const uid = old?.metadata.uid ?? `u${++this.#born}`;
    const resourceVersion = `${++this.#version}`;
    const metadata = { name, namespace, uid, resourceVersion };
    return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, colour };
  }

  #write(type: Logged['type'], object: Thing): void {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    if (type === 'DELETED') this.now.delete(key);
    else this.now.set(key, object);
    this.#log.push({ type, object });
    const { answer } = this;
    if (answer === undefined || answer.kind === 'list') return;
    if (answer.namespace === undefined || answer.namespace === namespace) {
      answer.write({ type, object });
    }
  }

  #open({ path, query = {} }: TransportRequest, subscriber: Subscriber<TransportEvent>): Answer {
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
    const isStream = query['sendInitialEvents'] === 'true';
    const kind: Kind = isStream ? 'stream' : query['watch'] === 'true' ? 'watch' : 'list';
    const mine = (thing: Thing) =>
      namespace === undefined || thing.metadata.namespace === namespace;
    const things = [...this.now.values()].filter(mine);
    const answer = new Answer(kind, namespace, subscriber);
    this.answer = answer;
    if (kind === 'list') {
      const metadata = { resourceVersion: `${this.#version}` };
      answer.write({ kind: 'ThingList', apiVersion: 'example.com/v1', metadata, items: things });
      answer.ends = true;
    } else if (kind === 'stream') {
      for (const object of things) answer.write({ type: 'ADDED', object });
    } else {
      const since = Number(query['resourceVersion']);
      for (const logged of this.#log) {
        const { object } = logged;
        if (Number(object.metadata.resourceVersion) > since && mine(object)) answer.write(logged);
      }
    }
    return answer;
  }
}
