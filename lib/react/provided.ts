/** The state of a provider: a client, informers, the parts that hooks have added, and the sources that they read. */
import { Subscription } from 'rxjs';
import { informersOfFactory } from '../factory/factory-informers.ts';
import type { InformerFactory } from '../factory/informer-factory.ts';
import type { InformerFactoryOptions } from '../factory/options.ts';
import { type InformerPool, SharedInformers } from '../factory/shared-informers.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { leftLater } from './left-later.ts';
import type { StatusSource } from './status-source.ts';

/** Options of the factory that a provider makes. Without `name`, because two of one name would exist for a moment. */
export type ProvidedFactoryOptions = Omit<InformerFactoryOptions, 'name'>;

export class Provided {
  readonly client: KubeClient;
  readonly informers: InformerPool;
  /** The sources that hooks read, each with the name of its informers. */
  readonly used: Set<readonly [StatusSource, () => unknown]> = new Set();
  /** Keeps the provider's own informers until the returned function is called. */
  readonly hold: () => () => void;
  readonly #parts = new Map<unknown, unknown>();
  readonly #listeners = new Set<() => void>();

  constructor(client: KubeClient, given: InformerFactory | ProvidedFactoryOptions = {}) {
    this.client = client;
    const own = 'acquire' in given ? undefined : new SharedInformers(client, given);
    this.informers = own ?? informersOfFactory('InformerProvider', given);
    this.hold = leftLater(() => new Subscription(() => own?.stop().catch(reportUnhandled)));
  }

  /** Returns the part that `make` makes. The first hook that asks for the part creates it, and all hooks share it. */
  part<P>(make: (provided: Provided) => P): P {
    const known = this.#parts.get(make) as P | undefined;
    if (known !== undefined) return known;
    const part = make(this);
    this.#parts.set(make, part);
    return part;
  }

  /** Notes that a source is read, until the returned function is called. */
  use(source: StatusSource, name: () => unknown): () => void {
    const entry = [source, name] as const;
    this.used.add(entry);
    this.changed();
    return () => {
      this.used.delete(entry);
      this.changed();
    };
  }

  /** Like `use`, and subscribes to the source to learn of its changes. */
  watch(source: StatusSource, name: unknown): () => void {
    const leave = source.subscribe(() => this.changed());
    const unuse = this.use(source, () => name);
    return () => {
      leave();
      unuse();
    };
  }

  /** Calls the listener when the status of a source in use may have changed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  };

  /** The result of a source in use may have changed. */
  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
