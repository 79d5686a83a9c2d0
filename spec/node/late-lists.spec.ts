/** Lists over undici whose answer begins late. The dispatcher runs in virtual time. */
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { createUndiciTransport, type UndiciTransportOptions } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { timer } from 'rxjs';
import { expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const baseUrl = 'http://api.test';

/** The part of undici's options and handlers that the dispatcher needs. */
interface Dispatched {
  readonly path: string;
  readonly headersTimeout: number;
}
interface Handler {
  onRequestStart(controller: object): void;
  onResponseStart(controller: object, status: number, headers: object): void;
  onResponseData(controller: object, bytes: Buffer): void;
  onResponseEnd(controller: object): void;
  onResponseError(controller: object, error: Error): void;
}

/** A server that begins its answer to a list after `lateMs`, and answers no watch; with undici's limit for a head. */
function lateServer(time: VirtualTime, lateMs: number) {
  const limits: number[] = [];
  const list = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}';
  const dispatch: NonNullable<UndiciTransportOptions['dispatcher']>['dispatch'] = (
    given,
    taken,
  ) => {
    const [options, handler] = [given as Dispatched, taken as Handler];
    const isWatch = new URL(options.path, baseUrl).searchParams.has('watch');
    // A ping of an open watch is no list.
    const isPing = options.path.includes('fieldSelector');
    if (!isWatch && !isPing) limits.push(options.headersTimeout);
    const controller = { abort: () => ends.unsubscribe(), pause: () => {}, resume: () => {} };
    const isLate = !isPing && options.headersTimeout !== 0 && options.headersTimeout < lateMs;
    const waitMs = isLate ? options.headersTimeout : lateMs;
    const ends = timer(isWatch || isPing ? 10 : waitMs, time).subscribe(() => {
      if (isWatch) return handler.onResponseStart(controller, 200, {});
      if (isLate) {
        const error = Object.assign(new Error('late'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
        return handler.onResponseError(controller, error);
      }
      handler.onResponseStart(controller, 200, { 'content-type': 'application/json' });
      handler.onResponseData(controller, Buffer.from(list));
      handler.onResponseEnd(controller);
    });
    handler.onRequestStart(controller);
    return true;
  };
  return { limits, dispatcher: { dispatch } };
}

it.each([
  [undefined, 35_000, [30_000, 60_000]],
  [undefined, 100_000, [30_000, 60_000, 120_000]],
  [20_000, 35_000, [20_000, 40_000]],
  [Number.POSITIVE_INFINITY, 35_000, [0, 0]],
])(
  'R15, R35: with headersTimeoutMs %s a list whose answer begins after %d ms comes',
  async (headersTimeoutMs, lateMs, expected) => {
    const time = new VirtualTime();
    const { limits, dispatcher } = lateServer(time, lateMs);
    const transport = createUndiciTransport({ baseUrl, dispatcher, headersTimeoutMs });
    const client = createClient({ baseUrl, transport, scheduler: time });
    const source = createListWatch(client, pods, { scheduler: time });
    const informer = createSharedInformer(source, {
      scheduler: time,
      initialList: 'pages',
      random: () => 0,
    });
    informer.start();
    for (let at = 0; at < 400 && !informer.status.synced; at++) await time.advance(1_000);
    expect(limits).toEqual(expected);
    expect(informer.status.synced).toBe(true);
    await informer.stop();
    await client.close();
  },
);
