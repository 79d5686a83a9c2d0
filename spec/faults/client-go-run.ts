/**
 * Runs one seed over HTTP/2 for client-go: a dynamic informer with its defaults, in a Go process that all seeds
 * share. The waits of client-go (0.8 to 30 s) and the duration of its watches (5 to 10 minutes) cannot be scaled, so
 * the speed of faults and writes is only doubled.
 */
import type { ScriptedFault } from 'rx-informer/testing';
import { ClientGo } from '../oracle/client-go.ts';
import { createBesideStage } from './beside-stage.ts';
import { checkBudget, type Seen } from './budget.ts';
import { createHttp2Front } from './http2-front.ts';
import { compare, Story, type Thing } from './judge.ts';
import type { Outcome } from './outcome.ts';

// Passes the calls of client-go's handlers to the judge. client-go identifies objects by name: an object that was deleted and recreated
// unnoticed is one update. It is passed on as the deletion of one UID and the addition of another, and counted. An update to the same
// state after a relist is counted, too.

/** One call of a handler. */
interface HandlerCall {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly uid?: string;
  readonly version?: string;
  readonly previousUid?: string;
  readonly previousVersion?: string;
}

interface Retelling {
  hear(call: HandlerCall): void;
  /** The number of updates from one UID to another. */
  readonly replaced: number;
  /** The number of updates to the same version. */
  readonly repeated: number;
}

/**
 * Creates the translation for one story. `known` returns the recorded state with a UID and version, or a placeholder
 * if the server never had it.
 */
function retell(
  story: Story,
  known: (metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  }) => Thing,
): Retelling {
  const counts = { replaced: 0, repeated: 0 };
  const thing = (key: string, uid = '', resourceVersion = '0') => {
    const [namespace = '', name = ''] = key.split('/');
    return known({ namespace, name, uid, resourceVersion });
  };
  /** The object of the consumer, if it has the given version. */
  const had = (given: Thing) => {
    const { uid, resourceVersion } = given.metadata;
    const has = story.has.get(uid);
    return has?.metadata.resourceVersion === resourceVersion ? has : given;
  };
  return {
    get replaced() {
      return counts.replaced;
    },
    get repeated() {
      return counts.repeated;
    },
    hear({ type, key, uid, version, previousUid, previousVersion }) {
      const object = thing(key, uid, version);
      if (type === 'add') return story.add(object);
      if (type === 'delete') {
        const { uid: ended } = object.metadata;
        return story.delete(ended, story.has.get(ended) ?? object, object);
      }
      const before = had(thing(key, previousUid, previousVersion));
      if (previousUid !== uid) {
        counts.replaced++;
        story.delete(before.metadata.uid, before, before);
        return story.add(object);
      }
      if (previousVersion === version) counts.repeated++;
      return story.update(before, object);
    },
  };
}

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
