/** The contestant `floor`: the minimum over undici. */
import { Writable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { contend, type Seen } from './contestant.ts';
import { FloorStore, streamingListPath } from './floor-store.ts';

let held = (): Iterable<Seen> => [];

await contend({
  held: () => held(),
  start: (url, corpus, onEvent) =>
    new Promise((resolve, reject) => {
      const store = new FloorStore(resolve, onEvent);
      held = () => store.objects.values();
      const stream = new Writable({
        highWaterMark: 1 << 20,
        write(chunk: Buffer, _encoding, done) {
          store.receive(chunk);
          done();
        },
      });
      const request: Dispatcher.RequestOptions = { path: streamingListPath(corpus), method: 'GET' };
      new Client(url, { bodyTimeout: 0 }).stream(request, () => stream).catch(reject);
    }),
});
