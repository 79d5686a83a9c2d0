/** Tests the answer of `useObject`, without React. */
import { createClient, createInformerFactory, liveQuery } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createProvided } from '../../lib/react/provided.ts';
import { sourceOfQuery } from '../../lib/react/query-sources.ts';
import { objectOf, objectQuery } from '../../lib/react/use-object.ts';
import { eventually } from '../support/patience.ts';

// In a worker the query has a limit.
it.each([{}, { limit: 1 }])(
  'V6: objects of one name in several namespaces are an error: %o',
  async (more) => {
    const server = createFakeApiServer();
    const create = (namespace: string) =>
      server.objects.create(configMaps, { metadata: { namespace, name: 'x' } });
    create('a');
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const factory = createInformerFactory(client);
    const query = liveQuery({ ...objectQuery(configMaps, { name: 'x' }), ...more } as never);
    const source = sourceOfQuery(createProvided({ client, factory }), query);
    const leave = source.subscribe(() => undefined);
    onTestFinished(async () => {
      leave();
      await factory.stop();
    });
    const shown = () => {
      const { object, error } = objectOf(source.getSnapshot());
      return error?.message ?? object?.metadata.namespace;
    };
    await eventually(() => expect(shown()).toBe('a'));
    create('b');
    await eventually(() =>
      expect(shown()).toBe(
        'useObject: 2 objects of several namespaces have this name; give the namespace',
      ),
    );
    expect(objectOf(source.getSnapshot()).object).toBeUndefined();
    server.objects.delete(configMaps, { namespace: 'a', name: 'x' });
    await eventually(() => expect(shown()).toBe('b'));
  },
);
