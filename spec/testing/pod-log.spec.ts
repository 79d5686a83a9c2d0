/** Logs of a fake server: written by the test, and read and followed by a client. */
import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pods } from './wire.ts';

const web = { namespace: 'shop', name: 'web' };

function open(...containers: string[]) {
  const scheduler = new VirtualTimeScheduler();
  const server = createFakeApiServer({ scheduler });
  const spec = { containers: containers.map((name) => ({ name, image: 'i' })) };
  server.objects.create(pods, { metadata: web, spec } as { metadata: typeof web });
  const ask = (query = '', init: RequestInit = {}) =>
    server.fetch(`http://fake/api/v1/namespaces/shop/pods/web/log${query}`, init);
  const text = async (query = '') => (await ask(query)).text();
  return { scheduler, server, ask, text };
}

async function following(response: Response) {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('no body');
  return async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
}

describe('logs of a fake server', () => {
  it('are read per container, from the first line or from the last lines', async () => {
    const { server, text, ask } = open('c', 'd');
    server.logs.append(web, 'one\ntwo\n');
    server.logs.append(web, 'three');
    server.logs.append(web, 'other', 'd');
    expect(await text('?container=c')).toBe('one\ntwo\nthree\n');
    expect(await text('?container=c&tailLines=2')).toBe('two\nthree\n');
    expect(await text('?container=c&tailLines=0')).toBe('');
    expect(await text('?container=c&limitBytes=6')).toBe('one\ntw');
    expect(await text('?container=d')).toBe('other\n');
    const answer = await ask('?container=d');
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect((await ask('?container=c&limitBytes=0')).status).toBe(422);
  });

  it('have a timestamp per line', async () => {
    const { scheduler, server, text } = open('c');
    server.logs.append(web, 'early');
    scheduler.frame = 61_500;
    server.logs.append(web, 'late');
    expect(await text('?timestamps=true')).toBe(
      '1970-01-01T00:00:00.000000000Z early\n1970-01-01T00:01:01.500000000Z late\n',
    );
    expect(await text('?sinceSeconds=60')).toBe('late\n');
    expect(await text('?sinceTime=1970-01-01T00:01:01.5Z')).toBe('late\n');
    expect(await text('?sinceTime=1970-01-01T01:00:00%2B01:00')).toBe('early\nlate\n');
    expect(await text('?sinceTime=1970-01-01T00:01:02Z')).toBe('');
  });

  it('A9: can be followed until the container stops', async () => {
    const { server, ask } = open('c');
    server.logs.append(web, 'one');
    server.logs.append(web, 'two');
    const read = await following(await ask('?follow=true&tailLines=1'));
    expect(await read()).toBe('two\n');
    const next = read();
    server.logs.append(web, 'three');
    server.logs.append(web, 'four');
    expect(await next).toBe('three\nfour\n');
    const last = read();
    server.logs.append(web, 'five');
    server.logs.end(web);
    expect(await last).toBe('five\n');
    expect(await read()).toBeUndefined();
    expect(server.logs.followers).toBe(0);
    const bounded = await following(await ask('?follow=true&limitBytes=5'));
    expect([await bounded(), await bounded()]).toEqual(['one\nt', undefined]);
  });

  it('A9: can be followed until the pod is deleted, and are empty for a new pod of the same name', async () => {
    const { server, ask, text } = open('c');
    server.logs.append(web, 'one');
    const read = await following(await ask('?follow=true'));
    expect(await read()).toBe('one\n');
    const last = read();
    server.objects.delete(pods, web);
    expect(await last).toBeUndefined();
    expect(() => server.logs.append(web, 'lost')).toThrow('pods "web" not found');
    server.objects.create(pods, { metadata: web });
    expect(await text()).toBe('');
  });

  it('of deleted pods do not accumulate', () => {
    const { logs, objects } = createFakeApiServer();
    for (let count = 0; count < 5000; count++) {
      const ref = { namespace: 'shop', name: `job-${count}` };
      objects.create(pods, { metadata: ref });
      logs.append(ref, 'done');
      if (count > 10) objects.delete(pods, ref);
    }
    expect(logs.size).toBeLessThan(1001);
    expect(logs.size).toBeGreaterThan(10);
  });

  it('A9: leave nothing behind when the follower unsubscribes', async () => {
    const { server, ask } = open('c');
    const abort = new AbortController();
    const read = await following(await ask('?follow=true', { signal: abort.signal }));
    const next = read();
    expect(server.logs.followers).toBe(1);
    abort.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(server.logs.followers).toBe(0);
  });

  it('A9: is empty after a restart, and the former one is read with `previous`', async () => {
    const { server, ask } = open('c');
    const without = await ask('?previous=true');
    expect([without.status, ((await without.json()) as { message: string }).message]).toEqual([
      400,
      'previous terminated container "c" in pod "web" not found',
    ]);
    server.logs.append(web, 'one');
    const read = await following(await ask('?follow=true'));
    expect(await read()).toBe('one\n');
    server.logs.restart(web);
    expect(await read()).toBeUndefined();
    server.logs.append(web, 'two');
    expect(await (await ask('')).text()).toBe('two\n');
    expect(await (await ask('?previous=true')).text()).toBe('one\n');
    server.logs.restart(web);
    expect(await (await ask('?previous=true')).text()).toBe('two\n');
  });

  it('can be followed over HTTP', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, { metadata: web });
    const { url, close } = await server.serve();
    try {
      const path = `${url}/api/v1/namespaces/shop/pods/web/log?follow=1`;
      const read = await following(await fetch(path));
      const next = read();
      server.logs.append(web, 'one');
      expect(await next).toBe('one\n');
      server.logs.end(web);
      expect(await read()).toBeUndefined();
    } finally {
      await close();
    }
  });
});
