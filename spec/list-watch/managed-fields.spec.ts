/** Requests that ask the server to leave `managedFields` out, and servers that refuse to be asked. */
import {
  createClient,
  createListWatch,
  createMetadataListWatch,
  createSharedInformer,
  createTableListWatch,
  type KubernetesObject,
  type ListerWatcher,
} from 'rx-informer';
import { configMaps, type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { acceptHeader } from '../../lib/list-watch/managed-fields.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

const DROP = 'drop=metadata.managedFields';
const BOTH = `application/json;${DROP}, application/json`;
const projected = (as: string) => `application/json;as=${as};g=meta.k8s.io;v=v1`;
const managedFields = [{ manager: 'kubectl', operation: 'Update', fieldsV1: {} }];
const web = { metadata: { namespace: 'shop', name: 'web', managedFields } };

interface Options {
  /** The status of a response to a request with the parameter. */
  readonly refuses?: 406 | 415;
  readonly scheduler?: VirtualTime;
}

/** A fake server, and clients whose requests are recorded as `LIST`, `WATCH` or `PROBE` and what they accept. */
function recorded({ refuses, scheduler }: Options = {}) {
  const timing = scheduler === undefined ? {} : { scheduler, random: () => 0.5 };
  const server = createFakeApiServer(timing);
  server.objects.create(pods, web);
  server.objects.create(configMaps, web);
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const url = new URL(String(input));
    const accept = new Headers(init?.headers).get('accept') ?? '';
    const isProbe = url.searchParams.get('timeoutSeconds') === '5';
    const verb = url.searchParams.get('watch') === null ? 'LIST' : isProbe ? 'PROBE' : 'WATCH';
    asked.push(`${verb} ${accept}`);
    if (refuses !== undefined && accept.includes('drop=')) {
      return Promise.resolve(new Response('unknown parameter', { status: refuses }));
    }
    return server.fetch(input, init);
  };
  const client = () =>
    createClient({ baseUrl: 'http://fake', fetch, ...(scheduler ? { scheduler } : {}) });
  return { server, asked, client };
}

async function listAndWatch<T extends KubernetesObject>(
  server: FakeApiServer,
  source: ListerWatcher<T>,
): Promise<void> {
  const resourceVersion = server.objects.resourceVersion;
  await lastValueFrom(source.list({ resourceVersion: '' }));
  await firstValueFrom(source.watch({ resourceVersion, timeoutSeconds: 300 }));
}

describe('a request for objects without managedFields', () => {
  it('W70: lists, watches, streaming lists and audits ask for it; a projection is not asked for in another form', async () => {
    const { server, asked, client } = recorded();
    await listAndWatch(server, createListWatch(client(), pods));
    await listAndWatch(server, createMetadataListWatch(client(), pods));
    await listAndWatch(server, createTableListWatch(client(), pods));
    const source = createListWatch(client(), pods);
    if (source.listMetadata === undefined) throw new Error('no listMetadata');
    await lastValueFrom(source.listMetadata({ resourceVersion: '' }));
    expect(asked).toEqual([
      `LIST ${BOTH}`,
      `WATCH ${BOTH}`,
      `LIST ${projected('PartialObjectMetadataList')};${DROP}`,
      `WATCH ${projected('PartialObjectMetadata')};${DROP}`,
      `LIST ${projected('Table')};${DROP}`,
      `WATCH ${projected('Table')};${DROP}`,
      `LIST ${projected('PartialObjectMetadataList')};${DROP}`,
    ]);
    asked.length = 0;
    const informer = createSharedInformer(source, { initialList: 'stream' });
    informer.start();
    await informer.whenSynced({ timeoutMs: 5_000 });
    expect(asked).toEqual([`WATCH ${BOTH}`]);
    expect(informer.indexer.get('shop/web')?.metadata.managedFields).toBeUndefined();
    await informer.stop();
  });

  it('W70: a probe asks for it, too, because its response must be small', async () => {
    const time = new VirtualTime();
    const { asked, client } = recorded({ scheduler: time });
    const source = createListWatch(client(), pods, { scheduler: time });
    const timing = { scheduler: time, random: () => 0.5 };
    const informer = createSharedInformer(source, { ...timing, initialList: 'pages' });
    informer.start();
    await time.advance(60_000);
    const probes = asked.filter((each) => each.startsWith('PROBE'));
    expect(probes).toEqual([
      `PROBE ${projected('PartialObjectMetadata')};${DROP}, application/json`,
    ]);
    await informer.stop();
  });

  it('W70: with `keepManagedFields` a request does not contain the parameter, and the fields arrive', async () => {
    const { server, asked, client } = recorded();
    const options = { keepManagedFields: true };
    await listAndWatch(server, createListWatch(client(), pods, options));
    await listAndWatch(server, createMetadataListWatch(client(), pods, options));
    const source = createListWatch(client(), pods, options);
    if (source.listMetadata === undefined) throw new Error('no listMetadata');
    await lastValueFrom(source.listMetadata({ resourceVersion: '' }));
    expect(asked).toEqual([
      'LIST application/json',
      'WATCH application/json',
      `LIST ${projected('PartialObjectMetadataList')}`,
      `WATCH ${projected('PartialObjectMetadata')}`,
      // An audit has no use for the fields.
      `LIST ${projected('PartialObjectMetadataList')};${DROP}`,
    ]);
    const { items } = await firstValueFrom(source.list({ resourceVersion: '' }));
    expect(items[0]?.metadata?.managedFields).toEqual(managedFields);
  });

  it('W71: each header is shorter than 128 bytes and has no byte for which a page would need a preflight', () => {
    const kinds = [undefined, 'Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
    for (const as of kinds) {
      for (const orComplete of [false, as !== 'PartialObjectMetadataList' && as !== undefined]) {
        for (const keepManagedFields of [false, true]) {
          const header = acceptHeader({ as, orComplete, keepManagedFields }) ?? '';
          expect(header.length).toBeLessThan(128);
          expect(header).toMatch(/^[\w ;=,./-]*$/);
        }
      }
    }
    const of = (as: string, orComplete = false) =>
      acceptHeader({ as, orComplete, keepManagedFields: false })?.length;
    expect(BOTH.length).toBe(62);
    expect([of('PartialObjectMetadataList'), of('PartialObjectMetadata', true)]).toEqual([92, 106]);
  });

  it.each([406, 415] as const)(
    'W72: if a server answers %d, the request is sent again without the parameter, and no later request of the client has it',
    async (refuses) => {
      const { asked, client } = recorded({ refuses });
      const shared = client();
      const start = async <T extends KubernetesObject>(source: ListerWatcher<T>) => {
        asked.length = 0;
        const errors: unknown[] = [];
        const onError = (error: unknown) => {
          errors.push(error);
          return undefined;
        };
        const informer = createSharedInformer(source, { initialList: 'pages', onError });
        informer.start();
        await informer.whenSynced({ timeoutMs: 5_000 });
        expect(informer.indexer.size).toBe(1);
        expect(errors).toEqual([]);
        await informer.stop();
        return [...asked];
      };
      expect(await start(createListWatch(shared, pods))).toEqual([
        `LIST ${BOTH}`,
        'LIST application/json',
        'WATCH application/json',
      ]);
      expect(await start(createListWatch(shared, configMaps))).toEqual([
        'LIST application/json',
        'WATCH application/json',
      ]);
      expect(await start(createMetadataListWatch(client(), pods))).toEqual([
        `LIST ${projected('PartialObjectMetadataList')};${DROP}`,
        `LIST ${projected('PartialObjectMetadataList')}`,
        `WATCH ${projected('PartialObjectMetadata')}`,
      ]);
    },
  );

  it('W72: a watch, too, is sent again, and a response that is refused for another reason is reported', async () => {
    const { server, asked, client } = recorded({ refuses: 406 });
    const source = createListWatch(client(), pods);
    const { resourceVersion } = server.objects;
    const watch = () => firstValueFrom(source.watch({ resourceVersion, timeoutSeconds: 300 }));
    expect(await watch()).toEqual({ kind: 'opened' });
    expect(asked).toEqual([`WATCH ${BOTH}`, 'WATCH application/json']);

    const answering = (answer: () => Promise<Response>) => {
      const sent: string[] = [];
      const fetch: typeof globalThis.fetch = (_, init) => {
        sent.push(new Headers(init?.headers).get('accept') ?? '');
        return answer();
      };
      return { sent, client: createClient({ baseUrl: 'http://fake', fetch }) };
    };
    const list = (source: ListerWatcher<Pod>) =>
      lastValueFrom(source.list({ resourceVersion: '' }));
    const never = answering(() => Promise.resolve(new Response('no', { status: 406 })));
    await expect(list(createListWatch(never.client, pods))).rejects.toMatchObject({ code: 406 });
    expect(never.sent).toEqual([BOTH, 'application/json']);
    const kept = answering(() => Promise.resolve(new Response('no', { status: 406 })));
    const keeping = createListWatch(kept.client, pods, { keepManagedFields: true });
    await expect(list(keeping)).rejects.toMatchObject({ code: 406 });
    expect(kept.sent).toEqual(['application/json']);

    const broken = answering(() => Promise.reject(new Error('broken')));
    const failing = createListWatch(broken.client, pods);
    for (let times = 0; times < 2; times++) {
      await expect(list(failing)).rejects.toMatchObject({ reason: 'Network' });
    }
    expect(broken.sent).toEqual([BOTH, BOTH]);
  });
});

describe('a fake API server', () => {
  it('A13: with `drop=metadata.managedFields` lists and watch events lack the fields, in every representation', async () => {
    const { server } = recorded();
    const { resourceVersion } = server.objects;
    server.objects.update(pods, { ...web, metadata: { ...web.metadata, labels: { app: 'web' } } });
    const text = async (accept: string, query = '') => {
      const headers = { accept };
      const response = await server.fetch(`http://fake/api/v1/pods?${query}`, { headers });
      expect(response.status).toBe(200);
      if (query === '') return response.text();
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      return new TextDecoder().decode(value);
    };
    const watch = `watch=true&resourceVersion=${resourceVersion}`;
    for (const type of ['application/json', projected('Table')]) {
      for (const query of ['', watch]) {
        expect(await text(type, query)).toContain('"managedFields"');
        const dropped = await text(`${type};${DROP}`, query);
        expect(dropped).not.toContain('"managedFields"');
        expect(dropped).toContain('"labels":{"app":"web"}');
        if (query === watch) continue;
        // An unknown parameter is ignored, and an unknown value makes the type unacceptable.
        expect(await text(`${type};other=1`)).toContain('"managedFields"');
        expect(await text(`${type};drop=spec, ${type}`)).toContain('"managedFields"');
      }
    }
    const metadata = projected('PartialObjectMetadata');
    expect(await text(`${metadata};${DROP}`, watch)).not.toContain('"managedFields"');
    const refused = { headers: { accept: 'application/json;drop=spec' } };
    expect((await server.fetch('http://fake/api/v1/pods', refused)).status).toBe(406);
  });
});
