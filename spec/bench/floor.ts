/**
 * The contestant `floor`: the minimum that every informer in JavaScript must do. It reads a streaming LIST over
 * undici, splits it at newlines, calls `JSON.parse` and `Map.set`, then reads the events of the same watch. It does
 * not recover from failures and remembers no version.
 */
import { Writable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { contend, type SeenPod } from './contestant.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: SeenPod & {
    readonly metadata: { readonly namespace?: string; readonly name?: string };
  };
}

const store = new Map<string, unknown>();
const path =
  '/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

await contend({
  size: () => store.size,
  start: (url, onUpdate) =>
    new Promise((resolve, reject) => {
      const stream = eachLine((line) => {
        const { type, object }: WatchEvent = JSON.parse(line);
        if (type === 'BOOKMARK') {
          if (object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true') resolve();
          return;
        }
        store.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
        if (type === 'MODIFIED') onUpdate(object);
      });
      const request: Dispatcher.RequestOptions = { path, method: 'GET' };
      new Client(url, { bodyTimeout: 0 }).stream(request, () => stream).catch(reject);
    }),
});

/** A writable stream that calls back for each line. */
function eachLine(onLine: (line: string) => void): Writable {
  let rest: Buffer | undefined;
  return new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _encoding, done) {
      const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        onLine(bytes.toString('utf8', from, end));
        from = end + 1;
      }
      rest = from < bytes.length ? bytes.subarray(from) : undefined;
      done();
    },
  });
}
