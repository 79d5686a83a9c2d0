/** Requests a large body, reads nothing of it for a while, and then everything. */
import { createUndiciTransport } from 'rx-informer/node';
import { lastValueFrom, Subject } from 'rxjs';
import { filter, map, scan } from 'rxjs/operators';
import { settings, tell } from './settings.ts';

const { url: baseUrl, control } = settings();
const transport = createUndiciTransport({ baseUrl, tls: { rejectUnauthorized: false } });
const open = new Subject<void>();
let isOpen = false;
const demand = () => (isOpen ? null : open);
const read = lastValueFrom(
  transport.send({ method: 'GET', path: '/', use: 'call', demand }).pipe(
    filter((event) => event.kind === 'chunk'),
    map(({ bytes }) => bytes.length),
    scan((sum, length) => sum + length, 0),
  ),
);
await new Promise((resolve) => setTimeout(resolve, 1_500));
const sent = Number(await (await fetch(`${control}/written`)).text());
isOpen = true;
open.next();
tell({ sent, read: await read });
await transport.close();
