/** All readers of the acceptance: processes and a page, their samples, and the waits for them. */

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../browser/chromium.ts';
import { Child } from './child.ts';
import { Judge, type Truth } from './judge.ts';
import type { Sample } from './reader.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A recovered reader has changes from this long after the kill. */
const NEW_MS = 500;
/** Samples and the history of the server come from different processes; the later one is awaited for this long. */
const JUDGED_AFTER_MS = 2_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Scope {
  readonly name: string;
  readonly namespace: string;
}

export class Crowd {
  readonly #judge = new Judge();
  readonly #samples = new Map<string, Sample>();
  readonly #processes = new Map<Child, readonly Scope[]>();
  #unjudged: Sample[] = [];
  #page: Page | undefined;
  #browser: Browser | undefined;
  #judged = 0;
  readonly #freshMs: number;
  /** Samples of a reader that did not have what the API server had at the version of the sample. */
  readonly wrong: Sample[] = [];

  readonly api: Child = new Child('./api-process.ts', (truths: readonly Truth[]) => {
    for (const truth of truths) this.#judge.note(truth);
  });

  /** A reader counts as recovered if it lacks no change that is older than `freshMs`. */
  constructor(freshMs: number) {
    this.#freshMs = freshMs;
  }

  get judged(): number {
    return this.#judged;
  }

  get samples(): readonly Sample[] {
    return [...this.#samples.values()];
  }

  /** Starts a process with readers. */
  async add(url: string, bucket: string, scopes: readonly Scope[]): Promise<Child> {
    const child = new Child('./readers-process.ts', (samples: readonly Sample[]) => {
      for (const sample of samples) this.#take(sample);
    });
    this.#processes.set(child, scopes);
    await child.call('start', url, bucket, scopes);
    return child;
  }

  /** Opens a page in Chromium that reads everything of a bucket. */
  async openPage(url: string, bucket: string): Promise<void> {
    const { outputFiles } = await build({
      entryPoints: [`${root}spec/nats/acceptance/page-script.ts`],
      bundle: true,
      write: false,
      format: 'iife',
      target: 'es2023',
      conditions: ['rx-informer-source'],
    });
    this.#browser = await launchChromium();
    const page = await this.#browser.newPage();
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
    await page.evaluate(
      async ([url, bucket]) => {
        const { startReader } = globalThis as never as { startReader(...a: unknown[]): unknown };
        Object.assign(globalThis, { reader: await startReader(url, bucket) });
      },
      [url, bucket] as const,
    );
    this.#page = page;
    void this.#samplePage(page);
  }

  /** The names of all readers, without those of a process. */
  names(without?: Child): string[] {
    const others = [...this.#processes].filter(([child]) => child !== without);
    const names = others.flatMap(([, scopes]) => scopes.map(({ name }) => name));
    return this.#page === undefined ? names : [...names, 'page'];
  }

  /**
   * Resolves with the time after `sinceMs` when all readers have the state of the API server, not older than `freshMs`
   * and with changes of after `sinceMs`.
   */
  async recovered(names: readonly string[], sinceMs: number, limitMs: number): Promise<number> {
    const lacking = new Set(names);
    while (lacking.size > 0) {
      for (const name of [...lacking]) {
        const sample = this.#samples.get(name);
        if (sample === undefined || sample.version === 0) continue;
        const { isRight, behindSinceMs } = this.#judge.verdict(sample);
        const isFresh = behindSinceMs > sinceMs + NEW_MS;
        if (isRight && isFresh && sample.atMs - behindSinceMs <= this.#freshMs)
          lacking.delete(name);
      }
      const passedMs = Date.now() - sinceMs;
      if (lacking.size > 0 && passedMs > limitMs) throw new Error(this.#report(lacking, passedMs));
      await pause(50);
    }
    return Date.now() - sinceMs;
  }

  /** Resolves when all readers have exactly what the API server has, which must be at rest. */
  async settled(names: readonly string[], limitMs: number): Promise<number> {
    const startMs = Date.now();
    const lacks = () =>
      names.filter((name) => {
        const sample = this.#samples.get(name);
        return sample === undefined || sample.digest !== this.#judge.newest(sample.namespace);
      });
    while (lacks().length > 0) {
      const passedMs = Date.now() - startMs;
      if (passedMs > limitMs) throw new Error(this.#report(new Set(lacks()), passedMs));
      await pause(50);
    }
    return Date.now() - startMs;
  }

  /** The readers whose store is not that of the API server, which must be at rest. */
  async differing(): Promise<string[]> {
    const found: string[] = [];
    for (const [child, scopes] of this.#processes) {
      const stored = (await child.call('stored')) as readonly string[];
      for (const [at, { name, namespace }] of scopes.entries()) {
        if (stored[at] !== this.#judge.newest(namespace)) found.push(name);
      }
    }
    const ofPage = await this.#page?.evaluate(() => {
      const { reader } = globalThis as never as { reader: { stored(): string } };
      return reader.stored();
    });
    if (ofPage !== undefined && ofPage !== this.#judge.newest('')) found.push('page');
    return found;
  }

  async end(): Promise<void> {
    const page = this.#page;
    this.#page = undefined;
    await page?.close();
    await this.#browser?.close();
    for (const child of this.#processes.keys()) await child.end();
    await this.api.end();
  }

  async #samplePage(page: Page): Promise<void> {
    while (this.#page === page) {
      const sample = await page
        .evaluate(() => {
          const { reader } = globalThis as never as { reader: { sample(): Sample } };
          return reader.sample();
        })
        .catch(() => undefined);
      if (sample !== undefined) this.#take(sample);
      await pause(200);
    }
  }

  #take(sample: Sample): void {
    this.#samples.set(sample.name, sample);
    this.#unjudged.push(sample);
    let ripe = 0;
    for (const waiting of this.#unjudged) {
      if (sample.atMs - waiting.atMs < JUDGED_AFTER_MS) break;
      ripe++;
      if (waiting.version === 0) continue;
      this.#judged++;
      if (!this.#judge.verdict(waiting).isRight) this.wrong.push(waiting);
    }
    this.#unjudged.splice(0, ripe);
  }

  #report(lacking: ReadonlySet<string>, ms: number): string {
    const shown = [...lacking].slice(0, 5).map((name) => {
      const sample = this.#samples.get(name);
      if (sample === undefined) return `${name} has reported nothing`;
      const { isRight, behindSinceMs } = this.#judge.verdict(sample);
      const late = Date.now() - behindSinceMs;
      return `${name} (${isRight ? 'right' : 'wrong'}, ${late} ms behind, ${JSON.stringify(sample)})`;
    });
    return `after ${ms} ms ${lacking.size} readers lack changes: ${shown.join('; ')}`;
  }
}
