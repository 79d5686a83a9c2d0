/**
 * Measures a server of users: its CPU and memory, and the time from a write to the row in a page.
 *
 *   npm run bench -- users [USERS=50] [PODS=2000] [SECONDS=10]
 *
 * Each user has five queries of ten windows and sorts, over a socket of its own in this process, which acknowledges as a page does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';

const [count = 50, objects = 2_000, seconds = 10] = process.argv.slice(3).map(Number);
const changesPerSecond = 20;

interface Used {
  readonly cpuMs: number;
  readonly rss: number;
  readonly users: number;
}

const script = fileURLToPath(new URL('server.ts', import.meta.url));
const flags = ['--disable-warning=ExperimentalWarning'];
const child = spawn(process.execPath, [...flags, script, `${objects}`, `${changesPerSecond}`], {
  env: { ...process.env, NODE_ENV: 'production' },
  stdio: ['pipe', 'pipe', 'inherit'],
});
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const next = async <T>() => JSON.parse((await lines.next()).value as string) as T;
const used = async () => {
  child.stdin.write('\n');
  return await next<Used>();
};

const { port } = await next<{ readonly port: number }>();
const select = { name: 'metadata.name', phase: 'status.phase', at: 'metadata.labels.at' } as const;
const queries = Array.from({ length: 10 }, (_, at) =>
  liveQuery({
    ...{ from: pods, select, offset: (at % 5) * 10, limit: 50 },
    orderBy: [{ path: at < 5 ? 'metadata.name' : 'spec.nodeName' }, { path: 'metadata.name' }],
  }),
);

const delays: number[] = [];
let answered = 0;
let bytes = 0;
/** From then on delays are counted. */
let countsFrom = Number.POSITIVE_INFINITY;

function connect(user: number): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const send = (message: object) => socket.send(JSON.stringify(message));
  let session = {};
  const complete = new Set<number>();
  socket.onopen = () =>
    send({
      ...{ type: 'hello', protocol: 2, identity: 'x', isHidden: false, hasCredentials: false },
      credentials: { user: `user-${user}` },
    });
  socket.onmessage = ({ data }) => {
    bytes += String(data).length;
    const message = JSON.parse(String(data));
    if (message.type === 'welcome') {
      session = { incarnation: message.incarnation, epoch: message.epoch };
      for (let id = 0; id < 5; id++) {
        const query = JSON.parse(JSON.stringify(queries[(user + id * 3) % queries.length]));
        send({ type: 'open', id, query, ...session });
      }
    }
    if (message.type !== 'rows') return;
    send({ type: 'ack', set: message.set, ...session });
    const now = performance.timeOrigin + performance.now();
    for (const { id, synced, rows = [] } of message.differences) {
      if (synced && !complete.has(id)) {
        complete.add(id);
        answered++;
      }
      for (const [, , row] of rows) {
        const at = Number(row.at);
        if (at > countsFrom) delays.push(now - at);
      }
    }
  };
  return socket;
}

const before = await used();
const beganMs = performance.now();
const sockets = Array.from({ length: count }, (_, user) => connect(user));
while (answered < count * 5) await new Promise((resolve) => setTimeout(resolve, 20));
const firstMs = performance.now() - beganMs;
const first = await used();
bytes = 0;
countsFrom = performance.timeOrigin + performance.now();
const own = process.cpuUsage();
await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
const last = await used();
const ownUsed = process.cpuUsage(own);
delays.sort((one, other) => one - other);
const at = (share: number) => delays[Math.floor(delays.length * share)]?.toFixed(1) ?? 'none';
const cores = (ms: number) => (ms / seconds / 1_000).toFixed(2);
process.stdout.write(
  [
    `${last.users} users with 5 queries each over ${objects} Pods, ${changesPerSecond} changes a second`,
    `first answers: ${firstMs.toFixed(0)} ms, ${(first.cpuMs - before.cpuMs).toFixed(0)} ms of CPU`,
    `server: ${cores(last.cpuMs - first.cpuMs)} cores, ${(last.rss / 2 ** 20).toFixed(0)} MiB`,
    `clients: ${cores((ownUsed.user + ownUsed.system) / 1_000)} cores (void above 0.9)`,
    `from a write to the row: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${delays.length}`,
    `${(bytes / seconds / count).toFixed(0)} bytes a second and user`,
    '',
  ].join('\n'),
);
for (const socket of sockets) socket.close();
child.stdin.end();
await once(child, 'exit');
process.exit();
