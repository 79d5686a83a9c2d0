/**
 * The parts of a page that React's client needs to render components without elements: a document, a container, and
 * timers in virtual time. The clock stands still, except while `advance` runs.
 */

type Task = () => void;

interface Timer {
  readonly id: number;
  dueMs: number;
  readonly task: Task;
  readonly periodMs: number | undefined;
}

/** What Node's timers return, for code that calls `unref`. */
type Handle = { readonly id: number; unref(): Handle; ref(): Handle };

const START_MS = 1_750_000_000_000;
/** More tasks at one moment than a page at rest can have. */
const RESTLESS = 5_000;

const nodeImmediate = setImmediate;
/** All microtasks run, as between two tasks of an event loop. */
const microtasks = () => new Promise<void>((resolve) => nodeImmediate(resolve));

/** The timers and clocks of the page. */
export class PageClock {
  #nowMs = START_MS;
  #lastId = 0;
  readonly #timers = new Map<number, Timer>();

  /** How many timers are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get passedMs(): number {
    return this.#nowMs - START_MS;
  }

  set(task: Task, delayMs = 0, periodMs?: number): Handle {
    const id = ++this.#lastId;
    this.#timers.set(id, { id, dueMs: this.#nowMs + Math.max(0, delayMs), task, periodMs });
    const handle: Handle = { id, unref: () => handle, ref: () => handle };
    return handle;
  }

  clear(handle: Handle | undefined | null): void {
    if (handle !== undefined && handle !== null) this.#timers.delete(handle.id);
  }

  /** Drops all timers. */
  reset(): void {
    this.#timers.clear();
  }

  /** Runs everything that is due within `ms`, in its order. Throws if tasks follow each other without an end. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    let atOnce = 0;
    await microtasks();
    for (let next = this.#next(); next !== undefined && next.dueMs <= untilMs; ) {
      atOnce = next.dueMs > this.#nowMs ? 0 : atOnce + 1;
      if (atOnce > RESTLESS) throw new Error(`the page does not come to rest: ${RESTLESS} tasks`);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      if (next.periodMs === undefined) this.#timers.delete(next.id);
      else next.dueMs = this.#nowMs + Math.max(1, next.periodMs);
      next.task();
      await microtasks();
      next = this.#next();
    }
    this.#nowMs = untilMs;
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (first === undefined || timer.dueMs < first.dueMs) first = timer;
    }
    return first;
  }
}

/** Sets the document. */
export function installDocument(): void {
  const nothing = () => undefined;
  const createElement = () => ({ setAttribute: nothing, style: {} });
  const document = { nodeType: 9, addEventListener: nothing, createElement };
  setGlobals({ document, window: globalThis, HTMLIFrameElement: class {} });
}

function setGlobals(globals: object): void {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

/** Replaces the timers and the document. Must be called before React is imported, which keeps the timers that it finds. */
export function installPage(): PageClock {
  const clock = new PageClock();
  const set = (task: Task, delayMs?: number) => clock.set(task, delayMs);
  const clear = (handle: Handle) => clock.clear(handle);
  installDocument();
  setGlobals({
    setTimeout: set,
    clearTimeout: clear,
    setImmediate: (task: Task) => clock.set(task),
    clearImmediate: clear,
    setInterval: (task: Task, ms: number) => clock.set(task, ms, ms),
    clearInterval: clear,
    requestAnimationFrame: (task: Task) => clock.set(task, 16),
    cancelAnimationFrame: clear,
  });
  Date.now = () => clock.nowMs;
  performance.now = () => clock.passedMs;
  return clock;
}

/** An element to render into, which stays empty. */
export function container(): Element {
  const element = {
    nodeType: 1,
    nodeName: 'DIV',
    tagName: 'DIV',
    namespaceURI: 'http://www.w3.org/1999/xhtml',
    ownerDocument: document,
    addEventListener: () => undefined,
    textContent: '',
  };
  return element as unknown as Element;
}
