/** Some of the users of the load: sockets that acknowledge as a page does, keep the rows as a page does, and note how late each change arrives. */
import { createInterface } from 'node:readline';
import type { LiveQuery } from 'rx-informer';
import { JoinedParts } from '../../../lib/wire/joined-parts.ts';
import { RemoteRows } from '../../../lib/wire/remote-rows.ts';
import type { RowDifference } from '../../../lib/wire/row-difference.ts';
import { queriesOf } from './load.ts';

const [port = 0, from = 0, to = 0] = process.argv.slice(2).map(Number);
const delays: number[] = [];
let answered = 0;
let bytes = 0;
let messages = 0;
/** From then on delays, messages and bytes are counted. */
let countsFrom = Number.POSITIVE_INFINITY;

type Difference = RowDifference & { readonly id: number };

/** What is shown of a query. */
interface Shown {
  readonly parts: JoinedParts;
  readonly rows: RemoteRows;
}

const shown = new Map<string, Shown>();

function shownOf(user: number, id: number): Shown {
  const key = `${user}/${id}`;
  const known = shown.get(key) ?? { parts: new JoinedParts(), rows: new RemoteRows() };
  shown.set(key, known);
  return known;
}

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
    for (const difference of message.differences as readonly Difference[]) {
      const { id, synced, rows = [] } = difference;
      const own = shownOf(user, id);
      const joined = own.parts.join(difference);
      if (joined !== undefined) own.rows.apply(joined);
      if (synced && !complete.has(id)) {
        complete.add(id);
        answered++;
      }
      for (const [, , row] of rows) {
        const writtenMs = Number((row as { readonly at: string }).at);
        if (writtenMs > countsFrom) delays.push(now - writtenMs);
      }
    }
  };
}

for (let user = from; user < to; user++) connect(user);

/** Whether counting begins, and of which queries the rows are wanted. */
interface Asked {
  readonly counts?: boolean;
  readonly pairs?: readonly (readonly [user: number, at: number])[];
}

// Answers each line of the parent with what has arrived.
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { counts, pairs = [] }: Asked = JSON.parse(line || '{}');
    if (counts) countsFrom = performance.timeOrigin + performance.now();
    const { user, system } = process.cpuUsage();
    const said = {
      answered,
      bytes,
      messages,
      cpuMs: (user + system) / 1_000,
      delays: delays.splice(0),
      // None of those of other processes.
      rows: pairs.map(([user, at]) => {
        const { list = [], synced } = shown.get(`${user}/${at}`)?.rows ?? {};
        return synced ? list.map((row) => Object.values(row as object)) : undefined;
      }),
    };
    process.stdout.write(`${JSON.stringify(said)}\n`);
  })
  .on('close', () => process.exit());
