/** Tests `debug`: one line per event of an informer, in virtual time. */
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { debug } from 'rx-informer/diagnose';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { config } from 'rxjs';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

function setUp() {
  const scheduler = new VirtualTime();
  const server = createFakeApiServer({ scheduler });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const source = createListWatch(client, pods, { scheduler });
  const random = () => 0.5;
  const onWarning = () => undefined;
  const informer = createSharedInformer(source, { name: 'pods', scheduler, random, onWarning });
  const lines: string[] = [];
  const end = debug(informer, (line) => lines.push(line));
  onTestFinished(() => informer.stop());
  /** The lines since the last call, without their times. */
  const taken = () => lines.splice(0).map((line) => line.replace(/^\+[\d.]+ s /, ''));
  return { scheduler, server, client, informer, end, taken, lines };
}

const pod = (name: string) => ({ metadata: { namespace: 'shop', name } });

describe('debug', () => {
  it('I122: says when a run begins, lists, is live, fails and ends', async () => {
    const { scheduler, server, informer, taken } = setUp();
    server.objects.create(pods, pod('web-0'));
    expect(taken()).toEqual([]);
    informer.start();
    await scheduler.advance(100);
    expect(taken()).toEqual([
      'pods: run 1 begins',
      'pods: streaming',
      'pods: list of 1 objects complete after 0 ms: version 2',
      'pods: streaming → watching, live',
    ]);
    server.faults.refuse();
    server.faults.dropWatches();
    await scheduler.advance(10);
    const [failed = ''] = taken();
    expect(failed).toMatch(/^pods: watching → backoff, failures: 1 \(Network\): GET http:\/\/fake/);
    await informer.stop();
    expect(taken().at(-1)).toBe('pods: the run has ended (stopped)');
  });

  it('I122: the objects of a list that failed, or that a stop has ended, are not those of the next one', async () => {
    const { scheduler, server, informer, taken } = setUp();
    for (const name of ['web-0', 'web-1']) server.objects.create(pods, pod(name));
    server.faults.withoutInitialEventsEnd();
    informer.start();
    await scheduler.advance(5_000);
    await informer.stop();
    server.faults.healAll();
    informer.start();
    await scheduler.advance(100);
    await informer.stop();
    server.faults.truncateNext();
    informer.start();
    await scheduler.advance(5_000);
    expect(taken().filter((line) => line.includes('list of'))).toEqual([
      'pods: list of 2 objects complete after 0 ms: version 3',
      'pods: list of 2 objects complete after 1200 ms: version 3',
    ]);
  });

  it('I122: says when the next watch takes over', async () => {
    const { scheduler, informer, taken } = setUp();
    informer.start();
    await scheduler.advance(100);
    taken();
    await scheduler.advance(600_000);
    expect(
      taken().filter((line) => /the next watch was answered after \d+ ms/.test(line)).length,
    ).toBe(1);
  });

  it('I122: says when the server refuses, and when an object is refused', async () => {
    const { scheduler, server, client, informer, taken } = setUp();
    server.faults.failNext(undefined, {
      status: 403,
      reason: 'Forbidden',
      message: 'no',
      times: 9,
    });
    informer.start();
    await scheduler.advance(100);
    expect(taken()).toContain(
      'pods: the server refuses (forbidden) (Forbidden, 403): LIST v1/pods: no',
    );
    const source = createListWatch(client, pods, {
      scheduler,
      transform: () => {
        throw new Error('not this one');
      },
    });
    server.faults.healAll();
    server.objects.create(pods, pod('web-0'));
    const other = createSharedInformer(source, { name: 'other', scheduler });
    onTestFinished(() => other.stop());
    const lines: string[] = [];
    debug(other, (line) => lines.push(line));
    other.start();
    await scheduler.advance(100);
    expect(lines.join('\n')).toMatch(
      /other: 1 objects and 0 items are refused \(Refused\): shop\/web-0: .*not this one/,
    );
  });

  it('I122: says which subscribers are slow', async () => {
    const { scheduler, server, informer, taken } = setUp();
    informer.added$.subscribe(() => scheduler.jump(250));
    server.objects.create(pods, pod('web-0'));
    await scheduler.advance(100);
    const slow = 'pods: subscribers and handlers took 250 ms for 1 deltas';
    expect(taken()).toContain(slow);
  });

  it('I122: an error of the sink is reported, and the informer works; the lines end when they are ended', async () => {
    const { scheduler, informer, end, taken } = setUp();
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const endBad = debug(informer, () => {
      throw new Error('a bad sink');
    });
    informer.start();
    await scheduler.advance(100);
    await allReported();
    expect(informer.status.live).toBe(true);
    expect(String(reported[0])).toContain('a bad sink');
    expect(taken().length).toBe(4);
    end();
    endBad();
    await informer.stop();
    expect(taken()).toEqual([]);
    expect(() => debug({} as typeof informer, () => undefined)).toThrow(
      'debug: the first argument',
    );
  });
});
