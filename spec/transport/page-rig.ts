/** A page without a browser: its document, its Web Locks, and events. */
// Loaded here, so that the `import()` of a page takes no time of its own in virtual time.
import '../../lib/transport/page/taking-turns.ts';
import { vi } from 'vitest';
import type { Locks } from '../../lib/transport/page/slot-pool.ts';

/** Web Locks of several tabs, with exclusive locks in the order of their requests. */
export class FakeLocks implements Locks {
  readonly #held = new Map<string, { steal(): void }>();
  #waiting: { readonly name: string; grant(): void }[] = [];
  /** Refuses every request, as a browser does in a page without an origin. */
  refuses = false;

  get held(): readonly string[] {
    return [...this.#held.keys()].sort();
  }

  get pending(): readonly string[] {
    return this.#waiting.map(({ name }) => name);
  }

  request(
    name: string,
    { signal }: { readonly signal: AbortSignal },
    callback: () => Promise<void> | undefined,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.refuses) return reject(new Error('SecurityError'));
      const grant = () => {
        const release = () => {
          if (this.#held.get(name) === holder) this.#held.delete(name);
          this.#serve();
        };
        const steal = () => {
          release();
          reject(new Error('stolen'));
        };
        const holder = { steal };
        this.#held.set(name, holder);
        void Promise.resolve(callback()).then(() => {
          release();
          resolve(undefined);
        });
      };
      const request = { name, grant };
      this.#waiting.push(request);
      signal.addEventListener('abort', () => {
        const left = this.#waiting.filter((each) => each !== request);
        if (left.length === this.#waiting.length) return;
        this.#waiting = left;
        reject(new Error('AbortError'));
      });
      // Like a browser's, the grant is asynchronous.
      queueMicrotask(() => this.#serve());
    });
  }

  query() {
    return Promise.resolve({ pending: this.#waiting.map(({ name }) => ({ name })) });
  }

  /** Takes a lock away from its holder. */
  steal(name: string): void {
    this.#held.get(name)?.steal();
  }

  #serve(): void {
    for (const request of [...this.#waiting]) {
      if (this.#held.has(request.name) || !this.#waiting.includes(request)) continue;
      this.#waiting = this.#waiting.filter((each) => each !== request);
      request.grant();
    }
  }
}

/** The events and the visibility of a page. */
export class FakePage {
  readonly #window = new EventTarget();
  readonly #document = Object.assign(new EventTarget(), { visibilityState: 'visible' });

  /** Makes the globals those of this page. */
  install(origin = 'http://127.0.0.1:8001', locks?: Locks): void {
    vi.stubGlobal('location', { origin });
    vi.stubGlobal('document', this.#document);
    vi.stubGlobal('navigator', { locks });
    for (const name of ['addEventListener', 'removeEventListener'] as const) {
      vi.stubGlobal(name, this.#window[name].bind(this.#window));
    }
  }

  show(isShown: boolean): void {
    this.#document.visibilityState = isShown ? 'visible' : 'hidden';
    this.#document.dispatchEvent(new Event('visibilitychange'));
  }

  emit(name: 'pagehide' | 'pageshow' | 'online'): void {
    this.#window.dispatchEvent(new Event(name));
  }

  emitOnDocument(name: 'freeze' | 'resume'): void {
    this.#document.dispatchEvent(new Event(name));
  }
}
