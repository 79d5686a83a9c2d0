/** The contestant `floor-socket`: the minimum over a bare socket, with a parser of chunked bodies of its own. */
import { connect } from 'node:net';
import { contend, type Seen } from './contestant.ts';
import { FloorStore, streamingListPath } from './floor-store.ts';

let held = (): Iterable<Seen> => [];

await contend({
  held: () => held(),
  start: (url, corpus, onEvent) =>
    new Promise((resolve, reject) => {
      const store = new FloorStore(resolve, onEvent);
      held = () => store.objects.values();
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      socket.write(
        `GET ${streamingListPath(corpus)} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: application/json\r\n\r\n`,
      );
      socket.on('error', reject);
      socket.on(
        'data',
        bodyOf((bytes) => store.receive(bytes)),
      );
    }),
});

/** Removes the head of the response and the sizes of its chunks. */
function bodyOf(onBody: (bytes: Buffer) => void): (bytes: Buffer) => void {
  let inHead = true;
  let rest: Buffer = Buffer.alloc(0);
  /** Bytes of the current chunk that are still to come, with the line end after them. */
  let left = 0;
  return (received) => {
    let bytes = rest.length > 0 ? Buffer.concat([rest, received]) : received;
    rest = Buffer.alloc(0);
    if (inHead) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) {
        rest = bytes;
        return;
      }
      inHead = false;
      bytes = bytes.subarray(end + 4);
    }
    while (bytes.length > 0) {
      if (left > 2) {
        const some = bytes.subarray(0, Math.min(bytes.length, left - 2));
        onBody(some);
        left -= some.length;
        bytes = bytes.subarray(some.length);
      } else if (left > 0) {
        const some = Math.min(bytes.length, left);
        left -= some;
        bytes = bytes.subarray(some);
      } else {
        const end = bytes.indexOf('\r\n');
        if (end < 0) {
          rest = bytes;
          return;
        }
        left = Number.parseInt(bytes.toString('latin1', 0, end), 16) + 2;
        bytes = bytes.subarray(end + 2);
      }
    }
  };
}
