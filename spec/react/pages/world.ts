/** A page with components that ask, leave and edit, over two clusters, and what is wrong with it. */
import { createElement, StrictMode, startTransition } from 'react';
import type { Root } from 'react-dom/client';
import { createMetadataListWatch } from 'rx-informer';
import { InformerProvider } from 'rx-informer/react';
import { seededRandom } from 'rx-informer/testing';
import { Cluster, resetValues } from './cluster.ts';
import {
  asAskedBy,
  elementOf,
  isReading,
  isShown,
  isSuspending,
  type Kind,
  type Recorded,
  type Shown,
  type Slot,
} from './components.ts';
import { EditModel } from './edit-model.ts';
import { Env } from './env.ts';
import type { Act, WorldOptions } from './life.ts';
import type { PageClock } from './mini-dom.ts';
import { isInScope, type Question, queryOf } from './questions.ts';
import { checkMerged, checkQuiet, type Mounted } from './quiet-rules.ts';
import { checkRender } from './render-rules.ts';
import { RequestLog } from './request-log.ts';

const SLOTS = 4;
/** The end of a stream is shown with the next frame, and a component that begins before does not begin again. */
const FRAME_MS = 20;
/** Longer than a response with delay, a reconnect and an edit of one attempt. */
const QUIET_MS = 4_000;
/** Longer than React and the page take from an answer to the page, without the delay of requests. */
const SHOW_MS = 1_000;
/** Longer than the longest wait of the backoff, which is 30 s and up to as much again. */
const HEALED_MS = 65_000;

export class World {
  /** What was wrong, each with its time. */
  readonly wrong: string[] = [];
  /** Of all that the page makes, so that a life can be repeated. */
  readonly #random = seededRandom(1);
  readonly #clock: PageClock;
  readonly #root: Root;
  readonly #options: WorldOptions;
  readonly #edits: EditModel;
  readonly #log: RequestLog;
  readonly #clusters: readonly Cluster[];
  /** 0 and 1: the provider's own factory, for either cluster. 2 and 3: a factory of other code. */
  readonly #envs: readonly Env[];
  readonly #slots: (Slot | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  readonly #leaving: Slot[] = [];
  /** The components that were on the page before, by slot. */
  readonly #gone: (Slot | undefined)[] = [];
  readonly #askedMs: number[] = [];
  readonly #kept = new Map<string, ReturnType<typeof queryOf>>();
  #env: number;
  /** The number of providers before. */
  #era = 0;
  #lastId = 0;
  /** How often informers were stopped, started or left. */
  #runs = 0;
  #ranMs = 0;
  #attempt = 0;

  constructor(clock: PageClock, root: Root, options: WorldOptions) {
    resetValues();
    const random = this.#random;
    const fail = (what: string) => this.#fail(what);
    this.#clock = clock;
    this.#root = root;
    this.#options = options;
    this.#env = options.env;
    this.#log = new RequestLog(clock, options.lingerMs, fail);
    this.#edits = new EditModel(clock, fail);
    this.#clusters = ['east', 'west'].map((name) => new Cluster(name, options.latencyMs, random));
    const [east, west] = this.#clusters as [Cluster, Cluster];
    const parts = { clock, log: this.#log, edits: this.#edits };
    this.#envs = [east, west, east, west].map((cluster, at) => {
      const factoryOptions = at < 2 ? undefined : this.#factoryOptions();
      return new Env({ ...parts, at, cluster, factoryOptions });
    });
    this.#render();
  }

  act(act: Act): void {
    switch (act.do) {
      case 'mount':
        return this.#mount(act.slot, act.kind, act.question);
      case 'ask':
        return this.#ask(act);
      case 'return': {
        const gone = this.#gone[act.slot];
        return gone === undefined ? undefined : this.#mount(act.slot, gone.kind, gone.question);
      }
      case 'leave':
        return this.#place(act.slot, undefined);
      case 'env':
        return this.#enter(act.env, act.transition);
      case 'write':
        return this.#clusters[act.cluster]?.write(act.of, act.at, act.end);
      case 'edit':
        return this.#edit(act);
      case 'dismiss':
        return this.#edits.dismiss(this.#slots[act.slot]?.record.shown?.edit);
      case 'deny':
        return this.#clusters[act.cluster]?.deny(act.of, act.namespace);
      case 'disturb':
        return this.#clusters[act.cluster]?.disturb(act.how);
      case 'heal':
        return this.#heal();
      default:
        return this.#manage(act);
    }
  }

  async pass(ms: number): Promise<void> {
    await this.#clock.advance(ms);
  }

  /** Waits until everything has arrived, and compares what is on the page. */
  async quiet(): Promise<void> {
    const isSlow = this.#clusters.some(
      ({ breaks, isIll, isShaken }) => breaks > 1 && (isIll || isShaken),
    );
    const quietMs = this.#quietMs();
    await this.pass(isSlow ? HEALED_MS : quietMs);
    const failed = this.#slots.flatMap((slot) => (slot?.record.failed ? slot.record : []));
    if (failed.length > 0) {
      // The error may be one of a former question.
      for (const record of failed) record.failed = undefined;
      this.#attempt++;
      this.#render();
      await this.pass(quietMs);
    }
    for (const cluster of this.#clusters) cluster.isShaken &&= cluster.isIll;
    const mounted = this.#mounted();
    for (const each of mounted) {
      for (const what of checkQuiet(each, this.#edits)) this.#fail(what);
    }
    for (const what of checkMerged(mounted)) this.#fail(what);
    if (mounted.every(({ slot }) => isShown(slot))) this.#leaveAll();
    this.#log.checkEqual(this.#clusters);
  }

  /**
   * While a component suspends in a transition, the others do not request, because they request after the commit, which
   * waits for its answer. So two delayed answers may follow each other. React 18 also lets an urgent update that follows
   * such a transition wait, because the render of the transition cancels the commit of the fallback.
   */
  #quietMs(): number {
    const delays = this.#clusters.map(({ delayMs }) => delayMs);
    return Math.max(QUIET_MS, 2 * Math.max(...delays) + SHOW_MS);
  }

  /** Heals everything, compares once more, unmounts, and looks for what is left. */
  async end(): Promise<void> {
    this.#heal();
    await this.pass(HEALED_MS);
    for (const cluster of this.#clusters) cluster.recovered();
    await this.quiet();
    this.#edits.checkSettled();
    for (const at of this.#slots.keys()) this.#leaveQuestion(at);
    this.#leaveAll();
    this.#root.unmount();
    await this.pass(1);
    for (const env of this.#envs) if (env.factory === undefined) this.#log.checkOpen(env, 0);
    await this.pass(2 * this.#options.lingerMs + 3_000);
    for (const env of this.#envs) {
      this.#log.checkOpen(env, env.factory === undefined ? 0 : this.#log.keptWatches(env.at));
      await env.factory?.stop();
    }
    await this.pass(1);
    for (const env of this.#envs) this.#log.checkOpen(env, 0);
    if (this.#clock.pending > 0) this.#fail(`${this.#clock.pending} timers are left`);
  }

  /** Ends everything after a failure. */
  async drop(): Promise<void> {
    this.#root.unmount();
    for (const { factory } of this.#envs) void factory?.stop();
    await this.pass(10_000);
    this.#clock.reset();
  }

  #fail(what: string): void {
    this.wrong.push(`${this.#clock.passedMs} ms: ${what}`);
  }

  #factoryOptions() {
    const { lingerMs } = this.#options;
    const projections = { metadata: createMetadataListWatch };
    return { lingerMs, projections, random: this.#random, onWarning: () => undefined };
  }

  get #now(): Env {
    return this.#envs[this.#env] as Env;
  }

  #mounted(): readonly Mounted[] {
    return this.#slots.flatMap((slot, at) => {
      if (slot === undefined) return [];
      const env = this.#envs[slot.env] as Env;
      const isRunning =
        env.haltedMs === undefined || (this.#askedMs[at] ?? 0) > env.haltedMs + FRAME_MS;
      return [{ slot, env, era: this.#era, isRunning }];
    });
  }

  #asked(kind: Kind, asked: Question) {
    const question = asAskedBy(kind, asked);
    const query = queryOf(question);
    const kept = this.#kept.get(query.key) ?? query;
    this.#kept.set(query.key, kept);
    const objects = this.#now.cluster.objects(question.of);
    const isOne = kind === 'object' && asked.where;
    const uid = isOne ? objects.find((each) => isInScope(question, each))?.uid : undefined;
    return { question, kept, uid, env: this.#env };
  }

  #mount(at: number, kind: Kind, question: Question): void {
    const isCold = this.#log.isCold(this.#env, question) && !isSuspending(kind);
    let last: Shown | undefined;
    let runs = 0;
    const fail = (what: string) => this.#fail(`slot ${at} ${kind}: ${what}`);
    const record: Recorded = {
      shown: undefined,
      failed: undefined,
      rendered: (shown) => {
        // A pipeline that begins again makes new rows.
        const isSame = runs === this.#runs && this.#clock.nowMs > this.#ranMs + QUIET_MS;
        const former = isSuspending(kind) ? record.shown : last;
        const before = kind === 'edit' ? record.shown : isSame ? former : undefined;
        const { rows, synced } = shown.rows ?? { rows: [], synced: false };
        if (last === undefined && isCold && (synced || rows.length > 0)) {
          fail('begins with rows of a use that has ended');
        }
        const cluster = this.#envs[shown.env]?.cluster.name ?? '';
        for (const what of checkRender(kind, shown, before, cluster)) fail(what);
        runs = this.#runs;
        last = shown;
      },
    };
    this.#place(at, { id: ++this.#lastId, kind, record, ...this.#asked(kind, question) });
  }

  #ask({ slot: at, question, fields, transition }: Extract<Act, { do: 'ask' }>): void {
    const slot = this.#slots[at];
    if (slot === undefined) return;
    const changed =
      fields === undefined
        ? question
        : Object.fromEntries(fields.map((field) => [field, question[field]]));
    const asked = this.#asked(slot.kind, { ...slot.question, ...changed });
    this.#place(at, { ...slot, ...asked }, transition);
  }

  /** While a component is suspended, React may keep the former questions of all of them. */
  #leaveQuestion(at: number): void {
    const slot = this.#slots[at];
    if (slot !== undefined && isReading(slot)) this.#leaving.push(slot);
    if (!this.#slots.some((each) => each !== undefined && isSuspending(each.kind))) {
      this.#leaveAll();
    }
  }

  #leaveAll(): void {
    for (const { env, question } of this.#leaving.splice(0)) this.#log.left(env, question);
  }

  #place(at: number, slot: Slot | undefined, transition = false): void {
    const former = this.#slots[at];
    this.#leaveQuestion(at);
    if (slot?.id !== former?.id) this.#gone[at] = former;
    // An equal question is not asked again.
    const isOther = slot?.id !== former?.id || slot?.kept.key !== former?.kept.key;
    if (isOther) this.#askedMs[at] = this.#clock.nowMs;
    this.#slots[at] = slot;
    if (slot !== undefined && isReading(slot)) this.#log.asked(slot.env, slot.question);
    this.#render(transition);
  }

  #enter(env: number, transition: boolean): void {
    if (env === this.#env) return;
    for (const at of this.#slots.keys()) this.#leaveQuestion(at);
    this.#env = env;
    this.#era++;
    this.#noteRun();
    for (const [at, slot] of this.#slots.entries()) {
      if (slot === undefined) continue;
      this.#slots[at] = { ...slot, env };
      this.#askedMs[at] = this.#clock.nowMs;
      if (isReading(slot)) this.#log.asked(env, slot.question);
    }
    this.#render(transition);
  }

  #render(isTransition = false): void {
    const { client, factory } = this.#now;
    const children = this.#slots.map((slot) => slot && elementOf(slot, this.#attempt));
    const options = this.#factoryOptions();
    const app = createElement(InformerProvider, { client, factory, options }, ...children);
    const page = this.#options.strict ? createElement(StrictMode, {}, app) : app;
    if (isTransition) startTransition(() => this.#root.render(page));
    else this.#root.render(page);
  }

  #noteRun(): void {
    this.#runs++;
    this.#ranMs = this.#clock.nowMs;
  }

  #heal(): void {
    this.#noteRun();
    for (const cluster of this.#clusters) cluster.heal();
    for (const env of this.#envs) env.heal();
  }

  #manage(act: Extract<Act, { do: 'stop' | 'start' | 'remove' | 'keep' }>): void {
    // That of the page, if it has one of other code.
    const env = this.#now.factory === undefined ? this.#envs[act.env] : this.#now;
    if (env === undefined) return;
    this.#noteRun();
    if (!('slot' in act)) return env[act.do]();
    const question = this.#slots[act.slot]?.question;
    if (question === undefined) return;
    if (act.do === 'keep') return env.keep(question);
    // A component that is suspended requests again.
    env.remove(question, this.#slots.every(isShown));
  }

  #edit({ slot: from, at, byKey, outcome }: Extract<Act, { do: 'edit' }>): void {
    const editing = this.#slots.filter((each) => each?.kind === 'edit');
    const slot = editing[from % Math.max(1, editing.length)];
    const edit = slot !== undefined && isShown(slot) ? slot.record.shown?.edit?.edit : undefined;
    const target = slot && this.#now.cluster.find(slot.question.of, at);
    if (slot === undefined || edit === undefined || target === undefined) return;
    const { of } = slot.question;
    this.#edits.begin({ edit, era: this.#era, of, target, byKey, outcome });
  }
}
