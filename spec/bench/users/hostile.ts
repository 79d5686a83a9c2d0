/**
 * Hostile users of the load, at all limits: each has 20 connections, which open and close queries that nobody else asks, with 400 messages
 * a second in all and their acknowledgements, and connect again when they are ended.
 */
import { pods } from 'rx-informer/resources';

const [port = 0, users = 0] = process.argv.slice(2).map(Number);
const CONNECTIONS = 20;
/** How often a connection opens a query and closes one. */
const EACH_MS = 100;
let asked = 0;
let refused = 0;
let ended = 0;
let isOver = false;

function connect(user: number, at: number): void {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const send = (message: object) => {
    if (socket.readyState === 1) socket.send(JSON.stringify(message));
  };
  let session: object | undefined;
  let id = 0;
  socket.onopen = () =>
    send({
      ...{ type: 'hello', protocol: 2, identity: 'x', isHidden: false, hasCredentials: false },
      credentials: { user },
    });
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.type === 'welcome') {
      session = { incarnation: message.incarnation, epoch: message.epoch };
    }
    if (message.type === 'rows') send({ type: 'ack', set: message.set, ...session });
    if (message.type === 'refused') refused++;
  };
  const timer = setInterval(() => {
    if (session === undefined) return;
    const own = ++id;
    const where = { path: 'metadata.name', contains: `${own % 10}`, ignoreCase: true };
    const query = {
      ...{ from: pods, where, select: { name: 'metadata.name' } },
      ...{ orderBy: { path: `metadata.labels.l${own}-${at}-${user}` }, limit: 50 },
    };
    asked++;
    send({ type: 'open', id: own, query, ...session });
    if (own > 50) send({ type: 'close', id: own - 50, ...session });
  }, EACH_MS);
  socket.onclose = () => {
    clearInterval(timer);
    ended++;
    if (!isOver) setTimeout(() => connect(user, at), 1_000);
  };
  socket.onerror = () => undefined;
}

// Their names are none of the other users, and even in tenths see all namespaces.
for (let user = 0; user < users; user++) {
  for (let at = 0; at < CONNECTIONS; at++) connect(100_000 + user * 10, at);
}

// Answers each line of the parent with what was tried.
process.stdin.on('data', () => {
  process.stdout.write(`${JSON.stringify({ asked, refused, ended })}\n`);
});
process.stdin.on('end', () => {
  isOver = true;
  process.exit();
});
