/** The scope '' of an informer, which means all namespaces. */
import {
  addEventHandler,
  createClient,
  createListWatch,
  createSharedInformer,
  describeStatus,
  type KubernetesObject,
  type ListerWatcher,
  type ListRequest,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { gated, knowing, replaced, replacing, pod as small } from '../delta/pods.ts';
import { type Pod, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';
import { settle as nextTurn } from './handler-rig.ts';

describe("the namespace ''", () => {
  it('W12, F4, I8: covers all namespaces, so the next list removes objects that were deleted while the informer was stopped', async () => {
    const server = createFakeApiServer();
    const create = (namespace: string, name: string) =>
      server.objects.create(configMaps, { metadata: { namespace, name } });
    create('shop', 'kept');
    create('lab', 'gone');
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const source = createListWatch(client, configMaps, { namespace: '' });
    expect(source.scope).toBeUndefined();
    const informer = createSharedInformer(source);
    const deleted: string[] = [];
    addEventHandler(informer, { onDelete: ({ key }) => deleted.push(key) });
    informer.start();
    await informer.whenSynced();
    await informer.stop();
    server.objects.delete(configMaps, { namespace: 'lab', name: 'gone' });
    informer.start();
    await informer.whenSynced();
    expect(informer.indexer.listKeys()).toEqual(['shop/kept']);
    expect(deleted).toEqual(['lab/gone']);
    await informer.stop();
  });

  it("W12: a custom ListerWatcher may have the scope '', too", async () => {
    const source = scriptedListWatch('');
    const informer = createSharedInformer(source);
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    await informer.whenSynced();
    await informer.stop();
    source.listed(5, pod('b', 1));
    informer.start();
    await informer.whenSynced();
    expect(informer.indexer.listKeys()).toEqual(['shop/b']);
    await informer.stop();
  });

  it('I15: several scopes have one total while they are loading, and no namespace after a stop', async () => {
    const [shop, lab] = [scriptedListWatch('shop'), scriptedListWatch('lab')];
    const sources = [shop, lab].map((source, at) => ({
      ...source,
      list: ({ continue: token }: ListRequest<Pod>) =>
        token
          ? NEVER
          : of({
              items: [pod('a', 1, `u${at}`, source.scope)],
              metadata: {
                resourceVersion: '1',
                continue: 'more',
                remainingItemCount: 99 - 90 * at,
              },
            }),
    }));
    const informer = createSharedInformer(sources);
    informer.start();
    await nextTurn();
    expect(describeStatus(informer.status).text).toBe('Loading: 2 of 110');
    expect(informer.status.namespace).toBeUndefined();
    await informer.stop();
    expect(informer.status.namespace).toBeUndefined();
  });

  it('I15: a change of the given array of ListerWatchers does not change the informer', async () => {
    const sources = [scriptedListWatch('shop')];
    const informer = createSharedInformer(sources);
    sources[0]?.listed(1, pod('a', 1));
    sources.length = 0;
    informer.start();
    await informer.whenSynced();
    expect(informer.indexer.size).toBe(1);
    await informer.stop();
  });

  it('W12, I15: is refused beside another scope, because its list would delete the objects of the other', () => {
    const sources: ListerWatcher<ReturnType<typeof pod>>[] = [
      scriptedListWatch(''),
      scriptedListWatch('shop'),
    ];
    expect(() => createSharedInformer(sources)).toThrow(/needs a scope/);
  });

  it('W12, F9: a list deletes missing keys of every namespace, and flows through only on an empty store', () => {
    const { send, pop } = gated({ known: knowing(small('shop/a', 1), small('node', 1)) });
    send(replacing([small('lab/a', 2)], { scope: '' }), replaced([], 9, { scope: '' }));
    expect(pop()).toEqual(['-shop/a@1? -node@1? [lab/a@2]@9']);
  });

  it('F9: a list of some shards deletes no missing object of others', () => {
    const within = {
      contains: ({ metadata }: KubernetesObject) => metadata?.name === 'a',
      containsRefused: () => true,
    };
    const { send, pop } = gated({ known: knowing(small('shop/a', 1), small('shop/b', 1)) });
    send(replaced([], 9, { within }));
    expect(pop()).toEqual(['-shop/a@1? []@9']);
  });
});
