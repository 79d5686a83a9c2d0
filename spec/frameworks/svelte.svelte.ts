/** A view in a component of Svelte 5, as docs/guide/frameworks.md shows it. */
import type { View, ViewSnapshot } from 'rx-informer';
import { createSubscriber } from 'svelte/reactivity';

export class LiveView<T> {
  readonly #view: View<T>;
  readonly #subscribe: () => void;

  constructor(view: View<T>) {
    this.#view = view;
    this.#subscribe = createSubscriber((update) => view.subscribe(update));
  }

  get current(): ViewSnapshot<T> {
    this.#subscribe();
    return this.#view.getSnapshot();
  }
}
