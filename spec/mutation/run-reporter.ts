/** Writes how the specs of a run ended, and ends a run whose spec takes longer than its limit. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { RunReport, RunRequest } from './run-specs.ts';

/** How long the modules of a spec may take to load, in milliseconds: the first spec of a run transforms all of them. */
const LOAD_MS = 60_000;
/** The same for specs that are measured, which is done once and should not fail on a busy machine. */
const MEASURED_LOAD_MS = 600_000;

export class RunReporter implements Reporter {
  readonly #request: RunRequest;
  readonly #root: string;
  readonly #specs: RunReport['specs'][number][] = [];
  readonly #began = new Map<string, number>();
  readonly #limits = new Map<string, ReturnType<typeof setTimeout>>();
  #noticed: string | undefined;
  #late: string | undefined;

  constructor(request: RunRequest, root: string) {
    this.#request = request;
    this.#root = root;
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    const spec = this.#specOf(moduleId);
    this.#began.set(spec, Date.now());
    const limitMs = this.#request.covered === undefined ? LOAD_MS : MEASURED_LOAD_MS;
    this.#expectEnd(spec, limitMs, 'loading its modules');
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    const spec = this.#specOf(moduleId);
    const limitMs = this.#request.asked.find((each) => each.spec === spec)?.limitMs ?? 0;
    this.#expectEnd(spec, limitMs, 'its tests');
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state !== 'failed' || this.#noticed !== undefined) return;
    const spec = this.#specOf(test.module.moduleId);
    this.#noticed = `${spec}: ${test.fullName}`;
    if (errors.some(({ message }) => /timed out in \d+ms/i.test(message))) this.#late = spec;
  }

  onTestModuleEnd(module: TestModule): void {
    const spec = this.#specOf(module.moduleId);
    clearTimeout(this.#limits.get(spec));
    const ms = Date.now() - (this.#began.get(spec) ?? 0);
    this.#specs.push({ spec, ms, ok: module.ok() });
    if (!module.ok()) this.#noticed ??= `${spec}: ${module.errors()[0]?.message ?? 'failed'}`;
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const [error] = unhandled;
    if (error !== undefined) this.#noticed ??= `an unhandled error: ${error.message}`;
    this.#write();
  }

  #expectEnd(spec: string, limitMs: number, what: string): void {
    const stop = (): void => {
      if (this.#noticed === undefined) this.#late = spec;
      this.#noticed ??= `${spec}: ${what} took longer than ${limitMs} ms`;
      this.#write();
      // The process that started this one ends the workers.
      process.exit(1);
    };
    clearTimeout(this.#limits.get(spec));
    this.#limits.set(spec, setTimeout(stop, limitMs));
  }

  #specOf(moduleId: string): string {
    return relative(this.#root, moduleId);
  }

  #write(): void {
    const report = { specs: this.#specs, noticed: this.#noticed, late: this.#late };
    writeFileSync(this.#request.output, JSON.stringify(report));
  }
}
