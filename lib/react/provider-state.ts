/** The state of any provider: the parts that hooks have added, and the sources that they read. */
import type { LiveQuery } from '../query/live-query/live-query.ts';
import { Hub } from '../rx/sharing/hub.ts';
import type { ViewSource } from './row-source.ts';
import type { StatusSource } from './status-source.ts';

export class ProviderState {
  /** The sources that hooks read, each with the name of its informers. */
  readonly used: Set<readonly [StatusSource, () => unknown]> = new Set();
  readonly #parts = new Map<unknown, unknown>();
  readonly #listeners = new Hub<() => void>();

  /** The source of a query. Absent: queries are answered by the informers of the provider. */
  declare readonly answered?: (query: LiveQuery) => ViewSource<unknown>;

  /** Returns the part that `make` makes. The first hook that asks for the part creates it, and all hooks share it. */
  part<P>(make: (state: this) => P): P {
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
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);

  /** The result of a source in use may have changed. */
  changed(): void {
    this.#listeners.tell((listener) => listener());
  }
}
