/**
 * Measures a server of users: its CPU and memory, and the time from a write to the row in a page. Then it compares: at random times writes
 * pause, and what random users are shown of random queries must become what is computed of the objects that they may read.
 *
 *   npm run bench -- users [USERS=50] [PODS=2000] [CHANGES=20] [SECONDS=10] [KIND=shared] [HOSTILE=0] [COMPARED=2000] [SEED=1]
 *
 * With hostile users, who do what they may as often as they may, it measures twice, without them and with them, and again in turns.
 *
 * The API server, the server of users (one factory for all users, or with `each` one for each) and the sockets have processes of their
 * own. Each user asks five of 200 queries; 40 % see all namespaces, 40 % are in 20 teams, and 20 % have namespaces of their own. With `each`
 * every user has an informer, as if the user's page or program had it, and sees all namespaces.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { seededRandom } from 'rx-informer/testing';
import { ASKED } from './load.ts';

const numbers = process.argv.slice(3, 7).map(Number);
const [count = 50, objects = 2_000, changesPerSecond = 20, seconds = 10] = numbers;
const kind = process.argv[7] ?? 'shared';
const hostile = Number(process.argv[8] ?? 0);
const compared = Number(process.argv[9] ?? 2_000);
const seed = Number(process.argv[10] ?? 1);
/** How many sockets one process has. */
const SOCKETS = 250;

/** A process that answers each line. */
class Answering {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string, ...args: readonly (string | number)[]) {
    const script = fileURLToPath(new URL(file, import.meta.url));
    const flags = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=8000'];
    this.#child = spawn(process.execPath, [...flags, script, ...args.map(String)], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const input = this.#child.stdout as NodeJS.ReadableStream;
    this.#lines = createInterface({ input })[Symbol.asyncIterator]();
  }

  async next<T>(): Promise<T> {
    return JSON.parse((await this.#lines.next()).value as string) as T;
  }

  async ask<T>(question: object = {}): Promise<T> {
    this.#child.stdin?.write(`${JSON.stringify(question)}\n`);
    return await this.next<T>();
  }

  end(): void {
    this.#child.stdin?.end();
  }
}

interface Used {
  readonly cpuMs: number;
  readonly rss: number;
  readonly gapMs: number;
  readonly sliceMs: number;
  readonly users: number;
}

interface Arrived {
  readonly answered: number;
  readonly bytes: number;
  readonly messages: number;
  readonly cpuMs: number;
  readonly delays: readonly number[];
  readonly rows: readonly unknown[];
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const api = new Answering('api.ts', objects, changesPerSecond);
const { url } = await api.next<{ readonly url: string }>();
const server = new Answering('server.ts', url, kind);
const { port } = await server.next<{ readonly port: number }>();
const before = await server.ask<Used>();
const beganMs = performance.now();
const clients = Array.from({ length: Math.ceil(count / SOCKETS) }, (_, at) => {
  const from = at * SOCKETS;
  return new Answering('clients.ts', port, from, Math.min(count, from + SOCKETS));
});
const all = async (question?: object) =>
  await Promise.all(clients.map((each) => each.ask<Arrived>(question)));
const sum = (arrived: readonly Arrived[], of: 'answered' | 'bytes' | 'messages' | 'cpuMs') =>
  arrived.reduce((total, each) => total + each[of], 0);
while (sum(await all(), 'answered') < count * ASKED) await sleep(100);
const firstMs = performance.now() - beganMs;
await sleep(1_000);
const first = await server.ask<Used>();
const gapOf = ({ gapMs, sliceMs }: Used) =>
  `longest gap ${gapMs.toFixed(0)} ms, of CPU ${sliceMs.toFixed(0)} ms`;
const cores = (ms: number, passed: number) => (ms / passed).toFixed(2);
process.stdout.write(
  [
    `${count} users (${kind}) with 5 queries each over ${objects} Pods, ${changesPerSecond} changes a second`,
    `first answers: ${firstMs.toFixed(0)} ms, ${(first.cpuMs - before.cpuMs).toFixed(0)} ms of CPU, ${gapOf(first)}`,
    '',
  ].join('\n'),
);

/** Measures what the users are sent for a while. */
async function measure(what: string): Promise<void> {
  const idle = await server.ask<Used>();
  const began = await all({ counts: true });
  const countedMs = performance.now();
  await sleep(seconds * 1_000);
  const last = await server.ask<Used>();
  const arrived = await all();
  const passed = performance.now() - countedMs;
  const delays = arrived.flatMap((each) => each.delays).sort((one, other) => one - other);
  const at = (share: number) => delays[Math.floor(delays.length * share)]?.toFixed(1) ?? 'none';
  const aSecond = (of: 'bytes' | 'messages') =>
    (sum(arrived, of) - sum(began, of)) / (passed / 1_000) / count;
  const busiest = Math.max(...arrived.map(({ cpuMs }, each) => cpuMs - (began[each]?.cpuMs ?? 0)));
  process.stdout.write(
    [
      `${what}server: ${cores(last.cpuMs - idle.cpuMs, passed)} cores, ${(last.rss / 2 ** 20).toFixed(0)} MiB, ${gapOf(last)}`,
      `for each user: ${((last.rss - before.rss) / count / 2 ** 20).toFixed(2)} MiB, ${((last.cpuMs - idle.cpuMs) / passed / count).toFixed(4)} cores, ${((first.cpuMs - before.cpuMs) / count).toFixed(0)} ms of CPU at the beginning`,
      `busiest process of sockets: ${cores(busiest, passed)} cores (void above 0.9)`,
      `from a write to the row: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${delays.length}`,
      `${aSecond('messages').toFixed(1)} messages and ${aSecond('bytes').toFixed(0)} bytes a second and user`,
      '',
    ].join('\n'),
  );
}

await measure('');
for (let round = 0; round < (hostile > 0 ? 2 : 0); round++) {
  const attack = new Answering('hostile.ts', port, hostile);
  await sleep(2_000);
  await measure(`with ${hostile} hostile users: `);
  const tried = await attack.ask<{ asked: number; refused: number; ended: number }>();
  process.stdout.write(
    `they asked ${tried.asked} queries, of which ${tried.refused} were refused, and ${tried.ended} connections ended\n`,
  );
  attack.end();
  // Until what they have asked is forgotten.
  await sleep(35_000);
  await measure('without them: ');
}

/** How many are compared in one pause, and how long it takes at most until they are equal, in milliseconds. */
const AT_ONCE = 20;
const PAUSE_MS = 10_000;
/** After so many that are not, the others are not compared. */
const MOST_WRONG = 10;

/** Compares what random users are shown at random times. */
async function compare(): Promise<void> {
  const random = seededRandom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const wrong: string[] = [];
  let longestMs = 0;
  let done = 0;
  while (done < compared && wrong.length < MOST_WRONG) {
    await sleep(random() * 500);
    const pairs = Array.from({ length: Math.min(AT_ONCE, compared - done) }, () => [
      below(count),
      below(ASKED),
    ]);
    const asked = { isPaused: true, pairs, seesAll: kind === 'each' };
    const { rows: should } = await api.ask<Pick<Arrived, 'rows'>>(asked);
    const pausedMs = performance.now();
    let open = pairs.map((_, at) => at);
    while (performance.now() - pausedMs < PAUSE_MS) {
      const told = await all({ pairs });
      open = open.filter((at) => {
        const [user = 0] = pairs[at] as number[];
        const shown = told[Math.floor(user / SOCKETS)]?.rows[at];
        return JSON.stringify(shown) !== JSON.stringify(should[at]);
      });
      if (open.length === 0) break;
      await sleep(20);
    }
    done += pairs.length;
    longestMs = Math.max(longestMs, performance.now() - pausedMs);
    wrong.push(...open.map((at) => `user ${pairs[at]?.join(', query ')}`));
    await api.ask({ isPaused: false });
  }
  process.stdout.write(
    `${done} compared, ${done - wrong.length} equal, after ${longestMs.toFixed(0)} ms at most (seed ${seed})\n`,
  );
  if (wrong.length === 0) return;
  process.stdout.write(`WRONG: ${wrong.join('; ')}\n`);
  process.exitCode = 1;
}

await compare();
const requests = await api.ask<{ readonly lists: number; readonly watches: number }>();
process.stdout.write(
  `at the API server: ${requests.lists} lists and ${requests.watches} watches of Pods\n`,
);
for (const each of [...clients, server, api]) each.end();
