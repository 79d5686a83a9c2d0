/** Some of the users of the load: sockets that acknowledge as a page does, keep the rows, and note how late each change arrives. */
import type { LiveQuery } from 'rx-informer';
import { queriesOf } from './load.ts';

const [port = 0, from = 0, to = 0] = process.argv.slice(2).map(Number);
const delays: number[] = [];
let answered = 0;
let bytes = 0;
let messages = 0;
/** From then on delays, messages and bytes are counted. */
let countsFrom = Number.POSITIVE_INFINITY;

type Row = { readonly at: string };
type Difference = {
  readonly id: number;
  readonly synced?: boolean;
  readonly rows?: readonly (readonly [string, number, Row])[];
};

function connect(user: number): void {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const send = (message: object) => socket.send(JSON.stringify(message));
  let session = {};
  const complete = new Set<number>();
  socket.onopen = () =>
    send({
      ...{ type: 'hello', protocol: 2, identity: 'x', isHidden: false, hasCredentials: false },
      credentials: { user },
    });
  socket.onmessage = ({ data }) => {
    if (countsFrom < Number.POSITIVE_INFINITY) {
      messages++;
      bytes += String(data).length;
    }
    const message = JSON.parse(String(data));
    if (message.type === 'welcome') {
      session = { incarnation: message.incarnation, epoch: message.epoch };
      for (const [id, query] of queriesOf(user).entries()) {
        const carried = JSON.parse(JSON.stringify(query)) as LiveQuery;
        send({ type: 'open', id, query: carried, ...session });
      }
    }
    if (message.type !== 'rows') return;
    send({ type: 'ack', set: message.set, ...session });
    const now = performance.timeOrigin + performance.now();
    for (const { id, synced, rows = [] } of message.differences as readonly Difference[]) {
      if (synced && !complete.has(id)) {
        complete.add(id);
        answered++;
      }
      for (const [, , { at }] of rows) {
        const writtenMs = Number(at);
        if (writtenMs > countsFrom) delays.push(now - writtenMs);
      }
    }
  };
}

for (let user = from; user < to; user++) connect(user);

// Answers each line of the parent with what has arrived.
process.stdin.on('data', (line) => {
  if (String(line).includes('count')) countsFrom = performance.timeOrigin + performance.now();
  const { user, system } = process.cpuUsage();
  const said = {
    answered,
    bytes,
    messages,
    cpuMs: (user + system) / 1_000,
    delays: delays.splice(0),
  };
  process.stdout.write(`${JSON.stringify(said)}\n`);
});
process.stdin.on('end', () => process.exit());
