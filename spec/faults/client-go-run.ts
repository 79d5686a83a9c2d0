/**
 * Runs one seed over HTTP/2 for client-go: a dynamic informer with its defaults, in a Go process that all seeds
 * share. The waits of client-go (0.8 to 30 s) and the duration of its watches (5 to 10 minutes) cannot be scaled, so
 * the speed of faults and writes is only doubled.
 */
import type { ScriptedFault } from 'rx-informer/testing';
import { ClientGo } from '../oracle/client-go.ts';
import { createBesideStage } from './beside-stage.ts';
import { checkBudget, type Seen } from './budget.ts';
import { type HandlerCall, retell } from './client-go-story.ts';
import { createHttp2Front } from './http2-front.ts';
import { compare, Story, type Thing } from './judge.ts';
import type { Outcome } from './outcome.ts';

const SPEED = 2;
/** A quarter of an hour, scaled, as for the other informers. */
const HEALS_WITHIN_MS = 900_000 / SPEED;
/** The longest wait of client-go is 60 s: 30 s, at most doubled by jitter. */
const CUT_WITHIN_MS = 90_000;

interface Look {
  readonly seed: number;
  readonly error?: string;
  readonly store: readonly Thing[] | null;
}

export interface ClientGoOutcome extends Outcome {
  /** The number of updates from one UID to another. */
  readonly replaced: number;
  /** The number of updates to the same version. */
  readonly repeated: number;
  /** Whether the differences in the end disappeared soon after the connections were cut. */
  readonly rightOnceCut: boolean;
  /** The time from the end of the faults until everything was right, in milliseconds. */
  readonly healedMs: number;
}

/** The Go process and the seeds that run in it. */
export class ClientGoSide {
  readonly #process: ClientGo<Look>;
  readonly #hears = new Map<number, (call: HandlerCall) => void>();
  #seeds = 0;

  constructor(binary: string) {
    this.#process = new ClientGo(binary, 'informers', ({ seed, event }) =>
      this.#hears.get(seed)?.(event as HandlerCall),
    );
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async run(seed: number, without: readonly ScriptedFault['kind'][]): Promise<ClientGoOutcome> {
    const stage = await createBesideStage({
      seed,
      without,
      speed: SPEED,
      healsWithinMs: HEALS_WITHIN_MS,
      front: createHttp2Front,
    });
    const { server, truth, wrong } = stage;
    const all = () => true;
    const story = new Story('client-go', truth, all, wrong);
    const retelling = retell(story, stage.known);
    // A seed may run with several sets of faults in the process, so its number is not a unique id.
    const id = ++this.#seeds;
    this.#hears.set(id, (call) => retelling.hear(call));
    const compareAll = async (when: string, ends: string[]) => {
      const answer = this.#process.answer(id);
      this.#process.send({ seed: id, op: 'look' });
      const { store } = await answer;
      const stored = (store ?? []).map(({ metadata }) => stage.known(metadata));
      compare(`client-go, ${when}`, story.has.values(), truth, all, ends);
      compare(`store, ${when}`, stored, truth, all, ends);
    };
    const bad = await stage.play(() => {
      const name = 'judged';
      this.#process.send({
        seed: id,
        op: 'start',
        url: stage.url,
        resource: 'pods',
        name,
        follow: true,
      });
    }, compareAll);
    const healedMs = Date.now() - stage.healedAtMs;
    const seen = server.requests.flatMap(({ atMs, path, use, query }): Seen[] => {
      if (use === 'call') return [];
      const streams = query['sendInitialEvents'] === 'true';
      const pages = query['continue'] !== undefined;
      const kind = use === 'list' ? (pages ? 'page' : 'list') : streams ? 'stream' : 'watch';
      return [{ atMs, who: path, generation: 1, kind }];
    });
    const load = checkBudget(seen, { baseMs: 720, capMs: 27_000 }, wrong);
    const rightOnceCut = bad && (await stage.cut(compareAll, CUT_WITHIN_MS));
    this.#hears.delete(id);
    const finished = this.#process.answer(id);
    this.#process.send({ seed: id, op: 'finish' });
    await finished;
    await stage.close();
    return {
      seed,
      what: 'all namespaces',
      wrong,
      writes: stage.history.writes,
      faults: stage.machine.played.map(({ fault }) => JSON.stringify(fault)),
      requests: server.requests.length,
      notified: story.notified,
      load,
      replaced: retelling.replaced,
      repeated: retelling.repeated,
      rightOnceCut,
      healedMs,
    };
  }
}
