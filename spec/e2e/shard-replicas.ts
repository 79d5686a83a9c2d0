/** Starts replicas of a controller in shards, and judges their writes by the ring. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from 'rx-informer';
import { parseRing, type RingRecord } from '../../lib/shards/ring-record.ts';
import { versionOf } from './follow.ts';

const main = fileURLToPath(new URL('shard-replica.ts', import.meta.url));

/** A replica. */
export interface ShardReplica {
  readonly identity: string;
  /** The slots on which it begins work, as it last printed. */
  readonly slots: readonly number[];
  readonly isAlive: boolean;
  /** Its state in words, with the last lines of its errors. */
  readonly report: string;
  /** Stops the process, as a debugger or a busy machine does, and lets it go on. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Ends the process as Kubernetes ends a pod. Resolves to the exit code. */
  end(): Promise<number | null>;
}

/** Starts a replica. `options` are its flags. */
export function startReplica(
  identity: string,
  options: Readonly<Record<string, string>>,
): ShardReplica {
  const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const given = Object.entries({ ...options, identity }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  const child: ChildProcess = spawn(process.execPath, [...flags, main, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.stdout === null || child.stderr === null) throw new Error('the replica has no output');
  let slots: readonly number[] = [];
  let isAlive = true;
  let state = 'runs';
  let errors = '';
  const over = () => {
    isAlive = false;
    slots = [];
  };
  const gone = once(child, 'close').then(([code, signal]) => {
    over();
    state = `ended with ${code ?? signal}`;
    return code as number | null;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    ({ slots } = JSON.parse(line) as { slots: number[] });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    identity,
    get slots() {
      return slots;
    },
    get isAlive() {
      return isAlive;
    },
    get report() {
      const last = errors.trim().split('\n').slice(-5).join('\n');
      return `${identity} ${state}, has ${slots.length} slots, and said: ${last || 'nothing'}`;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async kill() {
      over();
      child.kill('SIGKILL');
      await gone;
    },
    async end() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}

/** One write of an object by a replica. */
interface Write {
  readonly version: number;
  readonly key: string;
  readonly slot: number;
  /** The id of the membership that wrote. */
  readonly by: string;
}

/** A write, and who owned its slot instead. */
interface Foreign extends Write {
  readonly owner: string | undefined;
}

/** The history of the ring and of all writes. etcd orders the writes of all kinds, so the owner at each write is known. */
export class Judge {
  readonly writes: Write[] = [];
  /** The newest version of an object that has arrived. */
  seen = 0;
  /** How often replicas have written each object. */
  readonly #counts = new Map<string, string>();
  readonly #rings: { readonly version: number; readonly record: RingRecord }[] = [];
  /** The newest version at which the ring is known: Leases and objects arrive by watches of their own. */
  #known = 0;

  ring(lease: KubernetesObject): void {
    this.#known = Math.max(this.#known, versionOf(lease));
    const record = parseRing(lease.metadata?.annotations?.['rx-informer/ring'] ?? '');
    if (record !== undefined) this.#rings.push({ version: versionOf(lease), record });
  }

  write(object: KubernetesObject, slot: number): void {
    const { name = '', annotations } = object.metadata ?? {};
    const [by] = annotations?.['shards/writer']?.split(' ') ?? [];
    const count = annotations?.['shards/count'] ?? '';
    // A write by the test keeps the annotations of the last replica.
    const isOther = this.#counts.get(name) === count;
    this.seen = versionOf(object);
    this.#counts.set(name, count);
    if (by !== undefined && !isOther)
      this.writes.push({ version: versionOf(object), key: name, slot, by });
  }

  get changes(): number {
    return this.#rings.length;
  }

  /** The last record of the ring, for the message of a failed test. */
  get shownRing(): string {
    return `the ring: ${JSON.stringify(this.#rings.at(-1)?.record)}`;
  }

  #ownerAt({ version, slot }: Write): string | undefined {
    return this.#rings.findLast((each) => each.version < version)?.record.owners[slot];
  }

  /** The writes that can be judged. The ring may have changed before a later one. */
  get #judged(): readonly Write[] {
    return this.writes.filter(({ version }) => version <= this.#known);
  }

  /** The writes by members that did not own the slot at that version. */
  get foreign(): readonly Foreign[] {
    return this.#judged
      .map((write) => ({ ...write, owner: this.#ownerAt(write) }))
      .filter(({ by, owner }) => owner !== by);
  }

  /** The foreign writes of keys that the owner at that version had written before: what must never happen. */
  get late(): readonly Write[] {
    const last = new Map<string, Write>();
    return this.#judged.filter((write) => {
      const before = last.get(write.key);
      last.set(write.key, write);
      return before !== undefined && before.by !== write.by && this.#ownerAt(write) !== write.by;
    });
  }
}
